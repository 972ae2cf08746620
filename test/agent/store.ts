// A context in memory with the semantics of the one in Postgres: a lease with an epoch, guarded counters, a queue.
import { isDeepStrictEqual } from 'node:util';
import type { Journal, JournalOutcome } from '../../src/agent/run.ts';
import type { Append } from '../../src/core/run/append.ts';
import { apply } from '../../src/core/run/apply.ts';
import { NOTHING_COMPACTED, withCompaction, type NewCompaction } from '../../src/core/compaction/compacted.ts';
import type { AskedCompaction } from '../../src/core/compaction/settings.ts';
import { decide } from '../../src/core/decide.ts';
import { LeaseLost } from '../../src/core/errors.ts';
import type { Resolution } from '../../src/core/run/execution.ts';
import type { JobId, MessageId } from '../../src/core/ids.ts';
import type { InterruptMode, QueuedJob, JobOutcome } from '../../src/core/run/job.ts';
import type { Message } from '../../src/core/conversation/message.ts';
import type { ModelCall } from '../../src/core/model/model-call.ts';
import { open } from '../../src/core/transitions/open.ts';
import type { ApprovalRule } from '../../src/core/run/policy.ts';
import type { Settings } from '../../src/core/workers/settings.ts';
import type { Lease, Snapshot } from '../../src/core/run/snapshot.ts';
import type { Millis } from '../../src/core/time.ts';
import type { OpenCall } from '../../src/core/tools/tool-call.ts';
import { cancelRequest, id, interruptRequest, queuedInput, snapshot } from '../core/builders.ts';

export class Store {
  /** The stored rows; `next` is in `queue`. */
  current: Snapshot;
  /** Whether a run holds the lease, work is due without a run, or no work is due. */
  status: 'idle' | 'runnable' | 'running' | 'waiting' = 'idle';
  until: Millis = 0;
  readonly queue: QueuedJob[] = [];
  readonly outcomes = new Map<JobId, JobOutcome>();
  /** The reports of model calls, in appends that were committed. */
  readonly modelCalls: ModelCall[] = [];
  /**
   * All visible messages, including those that a summary replaces; all compactions, and after which number each job
   * began.
   */
  #messages: Message[] = [];
  #compactions: { made: NewCompaction; seq: number }[] = [];
  readonly #begins = new Map<JobId, number>();
  #headSeq = 0;
  #count = 0;

  constructor(settings: Settings) {
    this.current = snapshot({ serving: { kind: 'served', settings } });
  }

  submit(words: string): JobId {
    this.#count += 1;
    const jobId = id<JobId>(10_000 + this.#count);
    const messageId = id<MessageId>(20_000 + this.#count);
    this.queue.push(queuedInput({ id: jobId, messageId, content: [{ type: 'text', text: words }] }));
    this.current = { ...this.current, wakeSeq: this.current.wakeSeq + 1, queued: this.queue.length };
    if (this.status === 'idle') this.status = 'runnable';
    return jobId;
  }

  /** As a client requests a compaction. */
  compact(asked: AskedCompaction): JobId {
    this.#count += 1;
    const jobId = id<JobId>(10_000 + this.#count);
    const job = {
      id: jobId,
      branch: 'main',
      maxSteps: null,
      outputSchema: null,
      traceParent: null,
      deadline: null,
      stopRequest: null,
      metadata: {},
      user: null,
    };
    this.queue.push({ ...job, kind: 'compact', asked });
    this.current = { ...this.current, wakeSeq: this.current.wakeSeq + 1, queued: this.queue.length };
    if (this.status === 'idle') this.status = 'runnable';
    return jobId;
  }

  /** As a client changes the rules of the worker. */
  rule(rules: readonly ApprovalRule[]): void {
    const { serving, controlSeq } = this.current;
    if (serving.kind !== 'served') return;
    const { settings } = serving;
    const ruled = { ...settings, asking: { ...settings.asking, rules } };
    this.current = {
      ...this.current,
      controlSeq: controlSeq + 1,
      serving: { kind: 'served', settings: ruled },
    };
  }

  /** The stop request, as `interrupt` writes it on an admitted job. */
  interrupt(mode: InterruptMode): void {
    const { job } = this.current;
    if (job === null) return;
    this.current = {
      ...this.current,
      controlSeq: this.current.controlSeq + 1,
      job: { ...job, stopRequest: job.stopRequest ?? interruptRequest(mode) },
    };
  }

  /** The stop request, as `cancel` writes it on an admitted job. */
  cancel(): void {
    const { job } = this.current;
    this.current = {
      ...this.current,
      controlSeq: this.current.controlSeq + 1,
      job: job === null ? null : { ...job, stopRequest: job.stopRequest ?? cancelRequest() },
    };
  }

  /** Decides on the first call that waits for approval, as a person does. False: none waits. */
  judge(decision: 'approve' | 'deny'): boolean {
    const { calls } = this.current;
    const first = calls.find(({ wait, approval }) => wait?.for === 'approval' && approval === null);
    if (first === undefined) return false;
    const approval = { decision, reason: null, input: null };
    const judged =
      decision === 'approve' ? { ...first, status: 'pending' as const, wait: null, approval } : { ...first, approval };
    this.current = {
      ...this.current,
      controlSeq: this.current.controlSeq + 1,
      wakeSeq: this.current.wakeSeq + 1,
      calls: calls.map((call) => (call === first ? judged : call)),
    };
    if (this.status === 'waiting') this.status = 'runnable';
    return true;
  }

  /** Reports the outcome of the first call whose outcome is unknown. False: none waits for that. */
  resolve(outcomeOf: (call: OpenCall) => Resolution): boolean {
    const { calls } = this.current;
    const first = calls.find(
      ({ status, reply, wait }) => status === 'waiting' && reply === null && wait?.for === 'outcome',
    );
    if (first === undefined) return false;
    const resolution = outcomeOf(first);
    const reported: OpenCall =
      resolution === 'did_not_happen'
        ? { ...first, status: 'pending', wait: null }
        : {
            ...first,
            reply: { content: `${first.name} ${resolution}`, isError: resolution === 'tell' },
          };
    this.current = {
      ...this.current,
      controlSeq: this.current.controlSeq + 1,
      wakeSeq: this.current.wakeSeq + 1,
      calls: calls.map((call) => (call === first ? reported : call)),
    };
    if (this.status === 'waiting') this.status = 'runnable';
    return true;
  }

  /** Answers the first waiting call, as a client does. False: none waits. */
  answer(words: string): boolean {
    const { calls } = this.current;
    const first = calls.find(
      ({ status, reply, wait }) => status === 'waiting' && reply === null && wait?.for === 'answer',
    );
    if (first === undefined) return false;
    const reply = { content: words, isError: false };
    this.current = {
      ...this.current,
      controlSeq: this.current.controlSeq + 1,
      wakeSeq: this.current.wakeSeq + 1,
      calls: calls.map((call) => (call === first ? { ...call, reply } : call)),
    };
    if (this.status === 'waiting') this.status = 'runnable';
    return true;
  }

  /** Takes the lease from its owner, and writes what a claim writes. Null: no work is due. */
  claim(now: Millis): Snapshot | null {
    if (this.status === 'idle' || (this.status === 'waiting' && this.until > now)) return null;
    const { failedClaims } = this.current;
    this.#raiseEpoch();
    this.current = { ...this.current, failedClaims: failedClaims + 1 };
    this.status = 'running';
    const first = { ...this.#read(), failedClaims };
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
    added: async ({ job }) => structuredClone(this.#messages.filter(({ jobId }) => jobId === job?.id)),
    append: async (move) => this.#commit(structuredClone(move)),
    reload: async (known) => {
      if (known.lease.epoch !== this.current.lease.epoch) throw new LeaseLost();
      const { history, compacted } = this.#read();
      if (!isDeepStrictEqual({ history, compacted }, { history: known.history, compacted: known.compacted }))
        throw new Error('a runner remembers a state other than the stored one');
      return this.#read();
    },
    recover: async (lease: Lease) => {
      if (lease.epoch !== this.current.lease.epoch || this.status !== 'running') throw new LeaseLost();
      this.#raiseEpoch();
      return this.#read();
    },
  };

  #raiseEpoch(): void {
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

  #commit(move: Append): JournalOutcome & { kind: 'committed' | 'stale' } {
    const { lease, guard, park } = move;
    const { current } = this;
    if (lease.epoch !== current.lease.epoch) return { kind: 'stale' };
    if (guard.controlSeq !== null && guard.controlSeq !== current.controlSeq) return { kind: 'stale' };
    if (guard.wakeSeq !== null && guard.wakeSeq !== current.wakeSeq) return { kind: 'stale' };
    const firstSeq = this.#headSeq + 1;
    this.#headSeq += move.entries.length;
    const { wakeSeq, controlSeq } = current;
    const headSeq = this.#headSeq;
    const outcome = {
      kind: 'committed' as const,
      firstSeq,
      headSeq,
      wakeSeq,
      controlSeq,
      met: [],
      followUp: false,
    };
    // Others write the stop request of a job: an append leaves it unchanged.
    const stopRequest = current.job?.stopRequest ?? null;
    const whole = { ...current, next: this.queue[0] ?? null, history: this.#messages };
    const after = this.#remember(apply(whole, { ...move, compaction: null }, outcome), move, firstSeq);
    const failedClaims = Math.max(0, after.failedClaims - (move.progress === 'returned' ? 1 : 0));
    this.current = { ...after, failedClaims, job: after.job === null ? null : { ...after.job, stopRequest } };
    if (move.modelCall !== null) this.modelCalls.push(move.modelCall);
    if (move.job?.kind === 'admit') this.queue.shift();
    if (move.job?.kind === 'settle') this.#settle(move.job.job.id, move.job.outcome);
    if (park !== null) this.status = park.status;
    if (park?.status === 'waiting') this.until = park.until;
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
    if (takenBack !== null) {
      const begin = this.#begins.get(job?.job.id ?? id(0)) ?? 0;
      this.#compactions = this.#compactions.filter(({ made }) => made.jobId !== job?.job.id || made.uptoSeq <= begin);
    }
    const compacted = this.#compactions.reduce(
      (before, { made, seq }) => withCompaction(before, made, seq),
      NOTHING_COMPACTED,
    );
    const from = compacted.summary?.uptoSeq ?? 0;
    return { ...after, compacted, history: after.history.filter(({ seq }) => seq >= from) };
  }

  /** All visible messages. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** In the order of creation, without the void ones. */
  get compactions(): readonly NewCompaction[] {
    return this.#compactions.map(({ made }) => made);
  }

  #settle(jobId: JobId, outcome: JobOutcome): void {
    if (this.outcomes.has(jobId)) throw new Error('a job ended twice');
    this.outcomes.set(jobId, outcome);
  }

  /** History, one line for each entry. */
  transcript(): string[] {
    return this.#messages.map(({ turn, role, content }) => {
      const outcomeOf = content.map((block) => {
        if (block.type === 'tool_use') return `→${block.name}`;
        if (block.type === 'tool_result') return `←${typeof block.content === 'string' ? block.content : ''}`;
        return block.type === 'text' ? block.text : block.type;
      });
      return `${turn} ${role}: ${outcomeOf.join(' ')}`;
    });
  }
}
