// A context in memory with the semantics of the one in Postgres: a lease with an epoch, counters that guard, a queue.
import type { Journal, JournalOutcome } from '../../src/agent/run.ts';
import type { Append } from '../../src/core/append.ts';
import { apply } from '../../src/core/apply.ts';
import { decide } from '../../src/core/decide.ts';
import { LeaseLost } from '../../src/core/errors.ts';
import type { JobId, MessageId } from '../../src/core/ids.ts';
import type { QueuedJob, Verdict } from '../../src/core/job.ts';
import type { ModelCall } from '../../src/core/model-call.ts';
import { open } from '../../src/core/moves/open.ts';
import type { Settings } from '../../src/core/settings.ts';
import type { Lease, Snapshot } from '../../src/core/snapshot.ts';
import type { Millis } from '../../src/core/time.ts';
import { cancelWish, id, queuedInput, snapshot } from '../core/builders.ts';

export class Store {
  /** What is stored; `next` is kept in `queue`. */
  truth: Snapshot;
  /** Whether a run holds the lease, nobody does though something is to be done, or nothing is. */
  status: 'idle' | 'runnable' | 'running' | 'waiting' = 'idle';
  until: Millis = 0;
  readonly queue: QueuedJob[] = [];
  readonly verdicts = new Map<JobId, Verdict>();
  /** What was told of model calls, in commits that took. */
  readonly modelCalls: ModelCall[] = [];
  #headSeq = 0;
  #count = 0;

  constructor(settings: Settings) {
    this.truth = snapshot({ serving: { kind: 'served', settings } });
  }

  submit(words: string): JobId {
    this.#count += 1;
    const jobId = id<JobId>(10_000 + this.#count);
    const messageId = id<MessageId>(20_000 + this.#count);
    this.queue.push(queuedInput({ id: jobId, messageId, content: [{ type: 'text', text: words }] }));
    this.truth = { ...this.truth, wakeSeq: this.truth.wakeSeq + 1, queued: this.queue.length };
    if (this.status === 'idle') this.status = 'runnable';
    return jobId;
  }

  /** The wish, as `cancel` writes it on a job that was admitted. */
  cancel(): void {
    const { job } = this.truth;
    this.truth = {
      ...this.truth,
      controlSeq: this.truth.controlSeq + 1,
      job: job === null ? null : { ...job, wish: job.wish ?? cancelWish() },
    };
  }

  /** Takes the lease from whoever has it, and writes what a claim writes. Null: there is nothing to do. */
  claim(now: Millis): Snapshot | null {
    if (this.status === 'idle' || (this.status === 'waiting' && this.until > now)) return null;
    const { barrenClaims } = this.truth;
    this.#raiseEpoch();
    this.truth = { ...this.truth, barrenClaims: barrenClaims + 1 };
    this.status = 'running';
    const first = { ...this.#read(), barrenClaims };
    const move = open(first, decide(first, now));
    if (move === null) return first;
    const outcome = this.#commit(move);
    return outcome.kind === 'committed' ? apply(first, move, outcome) : null;
  }

  /** A sweep takes the lease from a dead owner. */
  revoke(): void {
    if (this.status !== 'running') return;
    this.#raiseEpoch();
    this.status = 'runnable';
  }

  readonly journal: Journal = {
    append: async (move) => this.#commit(structuredClone(move)),
    reload: async (known) => {
      if (known.lease.epoch !== this.truth.lease.epoch) throw new LeaseLost();
      return { ...this.#read(), history: known.history };
    },
    recover: async (lease: Lease) => {
      if (lease.epoch !== this.truth.lease.epoch || this.status !== 'running') throw new LeaseLost();
      this.#raiseEpoch();
      return this.#read();
    },
  };

  #raiseEpoch(): void {
    const { lease } = this.truth;
    this.truth = { ...this.truth, lease: { ...lease, epoch: lease.epoch + 1 } };
  }

  #read(): Snapshot {
    const { barrenClaims } = this.truth;
    const stored = {
      ...this.truth,
      next: this.queue[0] ?? null,
      barrenClaims: Math.max(0, barrenClaims - 1),
    };
    return structuredClone(stored);
  }

  #commit(move: Append): JournalOutcome & { kind: 'committed' | 'stale' } {
    const { lease, guard, park } = move;
    const { truth } = this;
    if (lease.epoch !== truth.lease.epoch) return { kind: 'stale' };
    if (guard.controlSeq !== null && guard.controlSeq !== truth.controlSeq) return { kind: 'stale' };
    if (guard.wakeSeq !== null && guard.wakeSeq !== truth.wakeSeq) return { kind: 'stale' };
    const firstSeq = this.#headSeq + 1;
    this.#headSeq += move.entries.length;
    const { wakeSeq, controlSeq } = truth;
    const outcome = { kind: 'committed', firstSeq, headSeq: this.#headSeq, wakeSeq, controlSeq } as const;
    // What a job carries of its wish is written by others: an append leaves it.
    const wish = truth.job?.wish ?? null;
    const after = apply({ ...truth, next: this.queue[0] ?? null }, move, outcome);
    const barrenClaims = Math.max(0, after.barrenClaims - (move.progress === 'returned' ? 1 : 0));
    this.truth = { ...after, barrenClaims, job: after.job === null ? null : { ...after.job, wish } };
    if (move.modelCall !== null) this.modelCalls.push(move.modelCall);
    if (move.job?.kind === 'admit') this.queue.shift();
    if (move.job?.kind === 'settle') this.#settle(move.job.job.id, move.job.verdict);
    if (park !== null) this.status = park.status;
    if (park?.status === 'waiting') this.until = park.until;
    return outcome;
  }

  #settle(jobId: JobId, verdict: Verdict): void {
    if (this.verdicts.has(jobId)) throw new Error('a job ended twice');
    this.verdicts.set(jobId, verdict);
  }

  /** History in one line an entry. */
  transcript(): string[] {
    return this.truth.history.map(({ turn, role, content }) => {
      const said = content.map((block) => {
        if (block.type === 'tool_use') return `→${block.name}`;
        if (block.type === 'tool_result') return `←${typeof block.content === 'string' ? block.content : ''}`;
        return block.type === 'text' ? block.text : block.type;
      });
      return `${turn} ${role}: ${said.join(' ')}`;
    });
  }
}
