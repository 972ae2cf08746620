/**
 * All subscribers of one context, with the position of each. Fleeting events are collected and sent to all of them
 * together. Numbered events are sent as they arrive, after the fleeting events that were collected before them.
 */
import type { FleetingEvent, NumberedEvent } from '../core/stream/stream-event.ts';
import type { Subscriber } from './subscriber.ts';
import type { Pace } from './pace.ts';

export class Subscribers {
  readonly #pace: Pace;
  readonly #positions = new Map<Subscriber, number>();
  /** Subscribers beyond the tail: they get no fleeting events until the tail has reached them. */
  readonly #ahead = new Set<Subscriber>();
  #gathered: FleetingEvent[] = [];
  /** Subscribers that joined while events were collected, and how many of these events came before them. */
  readonly #late = new Map<Subscriber, number>();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  get isEmpty(): boolean {
    return this.#positions.size === 0;
  }

  /** Adds a subscriber that has everything up to `position`. */
  add(subscriber: Subscriber, position: number, tail: number): void {
    this.#positions.set(subscriber, position);
    if (position > tail) this.#ahead.add(subscriber);
    if (this.#gathered.length > 0) this.#late.set(subscriber, this.#gathered.length);
  }

  delete(subscriber: Subscriber): void {
    this.#positions.delete(subscriber);
    this.#ahead.delete(subscriber);
    this.#late.delete(subscriber);
  }

  /** Fleeting events, only for subscribers that have everything before them. */
  broadcast(events: readonly FleetingEvent[]): void {
    if (events.length === 0 || this.isEmpty) return;
    this.#gathered.push(...events);
    this.#pace.soon(this);
  }

  /**
   * Sends the collected events. All subscribers that were there from the beginning get the same array, so that it is
   * serialized once.
   */
  send(): void {
    const gathered = this.#gathered;
    if (gathered.length === 0) return;
    this.#gathered = [];
    for (const subscriber of this.#positions.keys()) {
      if (this.#ahead.has(subscriber)) continue;
      const before = this.#late.get(subscriber) ?? 0;
      subscriber.send(before === 0 ? gathered : gathered.slice(before));
    }
    this.#late.clear();
  }

  /**
   * Sends entries up to the tail to each subscriber, from its position on. Returns the subscribers that the tail has
   * now reached.
   */
  deliver(entries: readonly NumberedEvent[], tail: number): Subscriber[] {
    this.send();
    const first = entries[0]?.seq ?? 0;
    for (const [subscriber, position] of this.#positions) {
      const news = position < first ? entries : entries.filter(({ seq }) => seq > position);
      const last = news.at(-1);
      if (last === undefined) continue;
      this.#positions.set(subscriber, last.seq);
      subscriber.send(news);
    }
    const level = [...this.#ahead].filter((subscriber) => (this.#positions.get(subscriber) ?? 0) <= tail);
    for (const subscriber of level) this.#ahead.delete(subscriber);
    return level;
  }

  end(): void {
    this.send();
    for (const subscriber of this.#positions.keys()) subscriber.end();
    this.#positions.clear();
    this.#ahead.clear();
  }
}
