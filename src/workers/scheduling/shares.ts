/**
 * How the slots of a process are shared. The next one goes to the sharer that runs the fewest contexts here for its
 * weight; if several do, to the one whose last start is the longest ago. Tenants share the slots of a process, and users
 * those of their tenant (see tenant-shares.ts).
 */

/** How long a count of waiting contexts is used, in milliseconds. */
const NOTED_MS = 1_000;

type Rules<Sharer> = {
  /** 1 is the usual weight. */
  weightOf: (sharer: Sharer) => number;
  /** The most slots; null: no limit. */
  limitOf: (sharer: Sharer) => number | null;
  /** Of how many the last start is remembered. */
  most: number;
  /**
   * Whose last start is not known is before all others: for few sharers. Otherwise it is behind those that wait already,
   * so that ever new ones do not keep others from their turn.
   */
  areNewFirst: boolean;
};

export class Shares<Sharer> {
  readonly #rules: Rules<Sharer>;
  readonly #running = new Map<Sharer, number>();
  /** By the number of the start; the latest one last. */
  readonly #startedAt = new Map<Sharer, number>();
  #starts = 0;
  /** Contexts that waited when it was last noted, without those that were started here, or promised a slot, since. */
  readonly #waiting = new Map<Sharer, number>();
  #notedAt = -Infinity;
  readonly #promised = new Map<Sharer, number>();
  /** Runs that leave their slots for them. */
  readonly #leaving = new Map<Sharer, number>();

  constructor(rules: Rules<Sharer>) {
    this.#rules = rules;
  }

  running(sharer: Sharer): number {
    return this.#running.get(sharer) ?? 0;
  }

  begin(sharer: Sharer): void {
    add(this.#running, sharer, 1);
    if (this.#promised.has(sharer)) add(this.#promised, sharer, -1);
    else if (this.#waiting.has(sharer)) add(this.#waiting, sharer, -1);
    this.#noteStart(sharer);
  }

  /** `isLeaving`: the run was asked to leave. */
  end(sharer: Sharer, isLeaving: boolean): void {
    add(this.#running, sharer, -1);
    if (isLeaving && this.#leaving.has(sharer)) add(this.#leaving, sharer, -1);
  }

  /** The one whose turn it is; null: there are none, or those that there are have their limit here. */
  first(sharers: Iterable<Sharer>): Sharer | null {
    let first: Sharer | null = null;
    for (const sharer of sharers)
      if (!this.#isFull(sharer) && (first === null || this.#isBefore(sharer, first))) first = sharer;
    return first;
  }

  /** How many contexts of each wait for a slot. `at`: when they did, on the monotonic clock. */
  noteWaiting(waiting: ReadonlyMap<Sharer, number>, at = performance.now()): void {
    this.#notedAt = at;
    if (!this.#rules.areNewFirst)
      for (const sharer of waiting.keys()) if (!this.#startedAt.has(sharer)) this.#noteStart(sharer);
    this.#waiting.clear();
    // No run leaves its slot for a context that a limit keeps from it.
    for (const [sharer, count] of waiting) {
      const next = Math.min(count, this.#room(sharer));
      if (next > 0) this.#waiting.set(sharer, next);
    }
    this.#promised.clear();
    this.#leaving.clear();
  }

  /**
   * Whether a run of this one should leave its slot, because a context of another one that runs fewer here, for its
   * weight, waits for one. Each waiting context is promised one slot only.
   */
  yields(sharer: Sharer): boolean {
    if (performance.now() - this.#notedAt > NOTED_MS) return false;
    const own = this.#share(sharer, this.running(sharer) - (this.#leaving.get(sharer) ?? 0));
    for (const other of this.#waiting.keys()) {
      if (other === sharer || this.#share(other, this.running(other) + (this.#promised.get(other) ?? 0)) >= own)
        continue;
      add(this.#waiting, other, -1);
      add(this.#promised, other, 1);
      add(this.#leaving, sharer, 1);
      return true;
    }
    return false;
  }

  #noteStart(sharer: Sharer): void {
    this.#startedAt.delete(sharer);
    this.#startedAt.set(sharer, (this.#starts += 1));
    const oldest = this.#startedAt.keys().next();
    if (this.#startedAt.size > this.#rules.most && oldest.done === false) this.#startedAt.delete(oldest.value);
  }

  /** How many more of its contexts may run, as far as this process alone knows: a claim counts over all. */
  #room(sharer: Sharer): number {
    const limit = this.#rules.limitOf(sharer);
    const running = this.running(sharer) - (this.#leaving.get(sharer) ?? 0);
    return limit === null ? Infinity : limit - running;
  }

  #isFull(sharer: Sharer): boolean {
    return this.#room(sharer) <= 0;
  }

  #share(sharer: Sharer, count: number): number {
    return count / this.#rules.weightOf(sharer);
  }

  #isBefore(one: Sharer, other: Sharer): boolean {
    const difference = this.#share(one, this.running(one)) - this.#share(other, this.running(other));
    if (difference !== 0) return difference < 0;
    return (this.#startedAt.get(one) ?? 0) < (this.#startedAt.get(other) ?? 0);
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  const sum = (counts.get(key) ?? 0) + count;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
