/**
 * What this process found that it cannot serve, so that its sweeps leave it to others, longer each time. Another process
 * finds it as before; and whatever is new about it (a ring, a wish, a change of its settings) makes it worth a look again.
 */
import type { ContextId } from '../core/ids.ts';
import type { Millis } from '../core/time.ts';

/** The counters of a context that rise with everything new about it. */
export type Seen = { contextId: ContextId; wakeSeq: number; controlSeq: number };

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** The oldest is forgotten, and looked at once more. */
const MOST = 1_000;

type Entry = Seen & { waitMs: number; until: Millis };

export class Unsupported {
  readonly #entries = new Map<ContextId, Entry>();

  /** Whether it was found to be so, as far as one knows. */
  has(contextId: ContextId): boolean {
    return this.#entries.has(contextId);
  }

  /** Found once more. `deadline`: of its job, which ends without being served. */
  add({ contextId, wakeSeq, controlSeq }: Seen, now: Millis, deadline: Millis | null): void {
    const before = this.#entries.get(contextId);
    const isSame = before?.wakeSeq === wakeSeq && before.controlSeq === controlSeq;
    const waitMs = isSame ? Math.min(before.waitMs * 2, LONGEST_MS) : FIRST_MS;
    const until = Math.min(now + waitMs, deadline ?? Infinity);
    this.#entries.delete(contextId);
    this.#entries.set(contextId, { contextId, wakeSeq, controlSeq, waitMs, until });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MOST && oldest !== undefined) this.#entries.delete(oldest);
  }

  /** It is served after all. */
  delete(contextId: ContextId): void {
    this.#entries.delete(contextId);
  }

  /** What this process can serve has grown. */
  clear(): void {
    this.#entries.clear();
  }

  /** What a sweep passes by, unless it has changed. */
  passedBy(now: Millis): Seen[] {
    return [...this.#entries.values()]
      .filter(({ until }) => until > now)
      .map(({ contextId, wakeSeq, controlSeq }) => ({ contextId, wakeSeq, controlSeq }));
  }
}
