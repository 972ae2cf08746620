/**
 * A context in memory with the semantics of the one in PostgreSQL: a lease with an epoch, guarded counters, a queue. The
 * agent loop writes to it through the same port; `apply` gives the state after an append.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Journal, JournalOutcome } from '../../agent/run.ts';
import { NOTHING_COMPACTED, withCompaction, type NewCompaction } from '../../core/compaction/compacted.ts';
import type { Message } from '../../core/conversation/message.ts';
import { decide } from '../../core/decide.ts';
import { LeaseLost } from '../../core/errors.ts';
import type { JobId, ToolCallId } from '../../core/ids.ts';
import type { ModelCall } from '../../core/model/model-call.ts';
import type { Append, Committed } from '../../core/run/append.ts';
import { apply } from '../../core/run/apply.ts';
import type { ActiveJob, JobOutcome, QueuedJob } from '../../core/run/job.ts';
import type { Lease, Snapshot } from '../../core/run/snapshot.ts';
import type { Millis } from '../../core/time.ts';
import type { OpenCall } from '../../core/tools/tool-call.ts';
import { open } from '../../core/transitions/open.ts';
import { CallRecords } from './call-records.ts';

/** A job that has ended. */
export type EndedJob = { job: ActiveJob; outcome: JobOutcome };

export class MemoryContext {
  /** The stored rows; `next` is in `queue`. */
  current: Snapshot;
  /** Whether a run holds the lease, work is due without a run, or no work is due. */
  status: 'idle' | 'runnable' | 'running' | 'waiting' = 'idle';
  /** When a waiting context is due without a wake-up. */
  until: Millis = 0;
  readonly queue: QueuedJob[] = [];
  readonly ended = new Map<JobId, EndedJob>();
  /** The reports of model calls, in appends that were committed. */
  readonly modelCalls: ModelCall[] = [];
  readonly calls = new CallRecords();
  /**
   * All visible messages, including those that a summary replaces; all compactions, and after which number each job
   * began.
   */
  #messages: Message[] = [];
  #compactions: { made: NewCompaction; seq: number }[] = [];
  readonly #begins = new Map<JobId, number>();
  #headSeq = 0;
  /** When it was claimed: the time of its entries. */
  #at: Millis = 0;

  readonly #committed: (transition: Append) => void;

  /** `first`: an idle context. `committed`: learns of each append, which may concern other contexts. */
  constructor(first: Snapshot, committed: (transition: Append) => void = () => undefined) {
    this.current = first;
    this.#committed = committed;
  }

  isDue(now: Millis): boolean {
    return this.status === 'runnable' || (this.status === 'waiting' && this.until <= now);
  }

  /** A client queues a job. */
  enqueue(job: QueuedJob): void {
    this.queue.push(job);
    this.current = { ...this.current, wakeSeq: this.current.wakeSeq + 1, queued: this.queue.length };
    if (this.status === 'idle') this.status = 'runnable';
  }

  /** A queued job does not begin. */
  withdraw(id: JobId): void {
    const at = this.queue.findIndex((job) => job.id === id);
    if (at === -1) return;
    this.queue.splice(at, 1);
    this.current = { ...this.current, queued: this.queue.length };
  }

  /** A job has ended for which this call waits, if it is a call of this context. */
  countDown(id: ToolCallId): void {
    const { calls, wakeSeq } = this.current;
    const call = calls.find((one) => one.id === id);
    if (call?.wait?.for !== 'workers' || call.wait.needs === null) return;
    const wait = { ...call.wait, needs: call.wait.needs - 1 };
    this.current = { ...this.current, calls: calls.map((one) => (one.id === id ? { ...one, wait } : one)) };
    if (wait.needs > 0) return;
    this.current = { ...this.current, wakeSeq: wakeSeq + 1 };
    if (this.status === 'waiting') this.status = 'runnable';
  }

  /** A client writes to a call, as the API does with an answer or an approval decision. */
  writeCall(id: ToolCallId, change: (call: OpenCall) => OpenCall): void {
    this.current = {
      ...this.current,
      controlSeq: this.current.controlSeq + 1,
      wakeSeq: this.current.wakeSeq + 1,
      calls: this.current.calls.map((call) => (call.id === id ? change(call) : call)),
    };
    if (this.status === 'waiting') this.status = 'runnable';
  }

  /** Takes the lease from its owner, and writes what a claim writes. Null: no work is due. */
  claim(now: Millis): Snapshot | null {
    if (this.status === 'idle' || (this.status === 'waiting' && !this.isDue(now))) return null;
    this.#at = now;
    const { failedClaims } = this.current;
    this.raiseEpoch();
    this.current = { ...this.current, failedClaims: failedClaims + 1 };
    this.status = 'running';
    const first = { ...this.#read(), failedClaims };
    const transition = open(first, decide(first, now));
    if (transition === null) return first;
    const outcome = this.#commit(transition);
    return outcome.kind === 'committed' ? apply(first, transition, outcome) : null;
  }

  readonly journal: Journal = {
    added: async ({ job }) => structuredClone(this.#messages.filter(({ jobId }) => jobId === job?.id)),
    append: async (transition) => this.#commit(structuredClone(transition)),
    reload: async (known) => {
      if (known.lease.epoch !== this.current.lease.epoch) throw new LeaseLost();
      const { history, compacted } = this.#read();
      if (!isDeepStrictEqual({ history, compacted }, { history: known.history, compacted: known.compacted }))
        throw new Error('A run remembers a state other than the stored one.');
      return this.#read();
    },
    recover: async (lease: Lease) => {
      if (lease.epoch !== this.current.lease.epoch || this.status !== 'running') throw new LeaseLost();
      this.raiseEpoch();
      return this.#read();
    },
  };

  /** All visible messages. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** In the order of creation, without the void ones. */
  get compactions(): readonly NewCompaction[] {
    return this.#compactions.map(({ made }) => made);
  }

  protected raiseEpoch(): void {
    const { lease } = this.current;
    this.current = { ...this.current, lease: { ...lease, epoch: lease.epoch + 1 } };
  }

  #read(): Snapshot {
    const { failedClaims } = this.current;
    const stored = {
      ...this.current,
      next: this.queue[0] ?? null,
      failedClaims: Math.max(0, failedClaims - 1),
    };
    return structuredClone(stored);
  }

  #commit(transition: Append): JournalOutcome & { kind: 'committed' | 'stale' } {
    const { lease, guard, park } = transition;
    const { current } = this;
    if (lease.epoch !== current.lease.epoch) return { kind: 'stale' };
    if (guard.controlSeq !== null && guard.controlSeq !== current.controlSeq) return { kind: 'stale' };
    if (guard.wakeSeq !== null && guard.wakeSeq !== current.wakeSeq) return { kind: 'stale' };
    const firstSeq = this.#headSeq + 1;
    this.#headSeq += transition.entries.length;
    const { wakeSeq, controlSeq } = current;
    const headSeq = this.#headSeq;
    const outcome: Committed = {
      kind: 'committed',
      firstSeq,
      headSeq,
      wakeSeq,
      controlSeq,
      met: [],
      followUp: false,
      at: this.#at,
    };
    // Others write the stop request of a job: an append leaves it unchanged.
    const stopRequest = current.job?.stopRequest ?? null;
    const whole = { ...current, next: this.queue[0] ?? null, history: this.#messages };
    const after = this.#remember(apply(whole, { ...transition, compaction: null }, outcome), transition, firstSeq);
    const failedClaims = Math.max(0, after.failedClaims - (transition.progress === 'returned' ? 1 : 0));
    this.calls.add(transition, current.calls);
    this.current = { ...after, failedClaims, job: after.job === null ? null : { ...after.job, stopRequest } };
    if (transition.modelCall !== null) this.modelCalls.push(transition.modelCall);
    if (transition.job?.kind === 'admit') this.queue.shift();
    if (transition.job?.kind === 'settle') this.#settle(transition.job);
    if (park !== null) this.status = park.status;
    if (park?.status === 'waiting') this.until = park.until;
    this.#committed(transition);
    return outcome;
  }

  /**
   * As the stored history is read: the last valid compaction of each kind, and the messages that no summary replaces.
   */
  #remember(after: Snapshot, { job, entries, compaction, takenBack }: Append, firstSeq: number): Snapshot {
    this.#messages = after.history;
    if (job?.kind === 'admit') this.#begins.set(job.job.id, firstSeq - 1);
    if (compaction !== null) {
      const place = entries.findIndex(({ kind }) => kind === 'event');
      this.#compactions.push({ made: compaction, seq: firstSeq + place });
    }
    if (takenBack !== null && job !== null) {
      const begin = this.#begins.get(job.job.id) ?? 0;
      this.#compactions = this.#compactions.filter(({ made }) => made.jobId !== job.job.id || made.uptoSeq <= begin);
    }
    const compacted = this.#compactions.reduce(
      (before, { made, seq }) => withCompaction(before, made, seq),
      NOTHING_COMPACTED,
    );
    const from = compacted.summary?.uptoSeq ?? 0;
    return { ...after, compacted, history: after.history.filter(({ seq }) => seq >= from) };
  }

  #settle({ job, outcome }: EndedJob): void {
    if (this.ended.has(job.id)) throw new Error('A job ended twice.');
    this.ended.set(job.id, { job, outcome });
  }
}
