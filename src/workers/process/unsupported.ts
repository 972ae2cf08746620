/**
 * Contexts that this process cannot serve, for example because it lacks a tool or a provider. It skips such a context
 * for a growing time; other processes still find it. A wake-up, a stop request or a change of settings ends the
 * skipping.
 */
import type { ContextId } from '../../core/ids.ts';
import type { Millis } from '../../core/time.ts';

/** A context with its counters. Every wake-up, stop request and change of settings raises one of them. */
type Seen = { contextId: ContextId; wakeSeq: number; controlSeq: number };

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** Entries at most. Beyond that the oldest is dropped, and its context is tried again. */
const MOST = 1_000;

type Entry = Seen & { waitMs: number; until: Millis };

export class Unsupported {
  readonly #entries = new Map<ContextId, Entry>();

  /** Whether this process has recorded the context as unsupported. */
  has(contextId: ContextId): boolean {
    return this.#entries.has(contextId);
  }

  /**
   * Records that the context is unsupported. `deadline`: of its job. Any process can end the job then, so skipping
   * stops there.
   */
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

  delete(contextId: ContextId): void {
    this.#entries.delete(contextId);
  }

  /** This process can serve more than before, for example because an MCP server came up. */
  clear(): void {
    this.#entries.clear();
  }

  /** Contexts that it skips now, unless their counters have changed. */
  passedBy(now: Millis): Seen[] {
    return [...this.#entries.values()]
      .filter(({ until }) => until > now)
      .map(({ contextId, wakeSeq, controlSeq }) => ({ contextId, wakeSeq, controlSeq }));
  }
}
