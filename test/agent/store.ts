// The context in memory of the test kit, and what other processes and clients do to it.
import { MemoryContext } from '../../src/testing/memory/context.ts';
import { isUnanswered, isUndecided, writeDecision, writeReply } from '../../src/testing/memory/replies.ts';
import type { AskedCompaction } from '../../src/core/compaction/settings.ts';
import type { Resolution } from '../../src/core/run/execution.ts';
import type { JobId, MessageId } from '../../src/core/ids.ts';
import type { InterruptMode, JobOutcome, StopRequest } from '../../src/core/run/job.ts';
import type { ApprovalRule } from '../../src/core/run/policy.ts';
import type { Settings } from '../../src/core/workers/settings.ts';
import type { OpenCall } from '../../src/core/tools/tool-call.ts';
import { cancelRequest, id, interruptRequest, queuedInput, snapshot } from '../core/builders.ts';

export class Store extends MemoryContext {
  #count = 0;

  constructor(settings: Settings) {
    super(snapshot({ serving: { kind: 'served', settings } }));
  }

  get outcomes(): ReadonlyMap<JobId, JobOutcome> {
    return new Map([...this.ended].map(([jobId, { outcome }]) => [jobId, outcome]));
  }

  submit(words: string): JobId {
    const jobId = this.#nextJob();
    const messageId = id<MessageId>(20_000 + this.#count);
    this.enqueue(queuedInput({ id: jobId, messageId, content: [{ type: 'text', text: words }] }));
    return jobId;
  }

  /** As a client requests a compaction. */
  compact(asked: AskedCompaction): JobId {
    const jobId = this.#nextJob();
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
    this.enqueue({ ...job, kind: 'compact', asked });
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
    if (this.current.job !== null) this.#stop(interruptRequest(mode));
  }

  /** The stop request, as `cancel` writes it on an admitted job. */
  cancel(): void {
    this.#stop(cancelRequest());
  }

  #stop(request: StopRequest): void {
    const { job, controlSeq } = this.current;
    this.current = {
      ...this.current,
      controlSeq: controlSeq + 1,
      job: job === null ? null : { ...job, stopRequest: job.stopRequest ?? request },
    };
  }

  /** Decides on the first call that waits for approval, as a person does. False: none waits. */
  judge(decision: 'approve' | 'deny'): boolean {
    const first = this.current.calls.find(isUndecided);
    if (first !== undefined) writeDecision(this, first, { decision, reason: null, input: null });
    return first !== undefined;
  }

  /** Reports the outcome of the first call whose outcome is unknown. False: none waits for that. */
  resolve(outcomeOf: (call: OpenCall) => Resolution): boolean {
    const first = this.current.calls.find(
      ({ status, reply, wait }) => status === 'waiting' && reply === null && wait?.for === 'outcome',
    );
    if (first === undefined) return false;
    const resolution = outcomeOf(first);
    if (resolution === 'did_not_happen')
      this.writeCall(first.id, (call) => ({ ...call, status: 'pending', wait: null }));
    else writeReply(this, first, { content: `${first.name} ${resolution}`, isError: resolution === 'tell' });
    return true;
  }

  /** Answers the first waiting call, as a client does. False: none waits. */
  answer(words: string): boolean {
    const first = this.current.calls.find(isUnanswered);
    if (first !== undefined) writeReply(this, first, { content: words, isError: false });
    return first !== undefined;
  }

  /** A sweep takes the lease from a dead owner. */
  revoke(): void {
    if (this.status !== 'running') return;
    this.raiseEpoch();
    this.status = 'runnable';
  }

  /** History, one line for each entry. */
  transcript(): string[] {
    return this.messages.map(({ turn, role, content }) => {
      const outcomeOf = content.map((block) => {
        if (block.type === 'tool_use') return `→${block.name}`;
        if (block.type === 'tool_result') return `←${typeof block.content === 'string' ? block.content : ''}`;
        return block.type === 'text' ? block.text : block.type;
      });
      return `${turn} ${role}: ${outcomeOf.join(' ')}`;
    });
  }

  #nextJob(): JobId {
    this.#count += 1;
    return id<JobId>(10_000 + this.#count);
  }
}
