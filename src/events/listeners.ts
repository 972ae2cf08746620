/**
 * All who listen to one context, and how far each has been told. What is fleeting is gathered, and told to all of them at
 * once when it is time; what is numbered is told as it comes, behind what was gathered before it.
 */
import type { FleetingEvent, NumberedEvent } from '../core/told.ts';
import type { Listener } from './listener.ts';
import type { Pace } from './pace.ts';

export class Listeners {
  readonly #pace: Pace;
  readonly #positions = new Map<Listener, number>();
  /** Those that read further than the tail: nothing fleeting is told to them before the tail is there, too. */
  readonly #ahead = new Set<Listener>();
  #gathered: FleetingEvent[] = [];
  /** Those who came meanwhile: how much of it happened before, and is not for them. */
  readonly #late = new Map<Listener, number>();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  get isEmpty(): boolean {
    return this.#positions.size === 0;
  }

  /** One that was told all up to `position`. Whether the tail is there, too. */
  add(listener: Listener, position: number, tail: number): boolean {
    this.#positions.set(listener, position);
    if (position > tail) this.#ahead.add(listener);
    if (this.#gathered.length > 0) this.#late.set(listener, this.#gathered.length);
    return position <= tail;
  }

  delete(listener: Listener): void {
    this.#positions.delete(listener);
    this.#ahead.delete(listener);
    this.#late.delete(listener);
  }

  /** What has no number: it is told to those who know what came before it, and no more. */
  whisper(events: readonly FleetingEvent[]): void {
    if (events.length === 0 || this.isEmpty) return;
    this.#gathered.push(...events);
    this.#pace.soon(this);
  }

  /** What was gathered. All who were there from the beginning are told the same list: whoever writes it down does so once. */
  tell(): void {
    const gathered = this.#gathered;
    if (gathered.length === 0) return;
    this.#gathered = [];
    for (const listener of this.#positions.keys()) {
      if (this.#ahead.has(listener)) continue;
      const before = this.#late.get(listener) ?? 0;
      listener.tell(before === 0 ? gathered : gathered.slice(before));
    }
    this.#late.clear();
  }

  /** Entries up to the tail, told to each from where it is. Gives those that were ahead of the tail and are no longer. */
  hand(entries: readonly NumberedEvent[], tail: number): Listener[] {
    this.tell();
    const first = entries[0]?.seq ?? 0;
    for (const [listener, position] of this.#positions) {
      const news = position < first ? entries : entries.filter(({ seq }) => seq > position);
      const last = news.at(-1);
      if (last === undefined) continue;
      this.#positions.set(listener, last.seq);
      listener.tell(news);
    }
    const level = [...this.#ahead].filter((listener) => (this.#positions.get(listener) ?? 0) <= tail);
    for (const listener of level) this.#ahead.delete(listener);
    return level;
  }

  end(): void {
    this.tell();
    for (const listener of this.#positions.keys()) listener.end();
    this.#positions.clear();
    this.#ahead.clear();
  }
}
