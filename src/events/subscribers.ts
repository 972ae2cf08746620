/**
 * All who listen to one context, and how far each has been told. What is fleeting is gathered, and told to all of them at
 * once when it is time; what is numbered is told as it comes, behind what was gathered before it.
 */
import type { FleetingEvent, NumberedEvent } from '../core/stream-event.ts';
import type { Subscriber } from './subscriber.ts';
import type { Pace } from './pace.ts';

export class Subscribers {
  readonly #pace: Pace;
  readonly #positions = new Map<Subscriber, number>();
  /** Those that read further than the tail: nothing fleeting is told to them before the tail is there, too. */
  readonly #ahead = new Set<Subscriber>();
  #gathered: FleetingEvent[] = [];
  /** Those who came meanwhile: how much of it happened before, and is not for them. */
  readonly #late = new Map<Subscriber, number>();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  get isEmpty(): boolean {
    return this.#positions.size === 0;
  }

  /** One that was told all up to `position`. Whether the tail is there, too. */
  add(subscriber: Subscriber, position: number, tail: number): boolean {
    this.#positions.set(subscriber, position);
    if (position > tail) this.#ahead.add(subscriber);
    if (this.#gathered.length > 0) this.#late.set(subscriber, this.#gathered.length);
    return position <= tail;
  }

  delete(subscriber: Subscriber): void {
    this.#positions.delete(subscriber);
    this.#ahead.delete(subscriber);
    this.#late.delete(subscriber);
  }

  /** What has no number: it is told to those who know what came before it, and no more. */
  broadcast(events: readonly FleetingEvent[]): void {
    if (events.length === 0 || this.isEmpty) return;
    this.#gathered.push(...events);
    this.#pace.soon(this);
  }

  /** What was gathered. All who were there from the beginning are told the same list: whoever writes it down does so once. */
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

  /** Entries up to the tail, told to each from where it is. Gives those that were ahead of the tail and are no longer. */
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
