/**
 * The workers of a run in memory: the one that the test runs, and those below it. They share a clock and run one after the
 * other: a worker runs until it waits or has ended, so no other one changes anything meanwhile.
 */
import { MAIN } from '../../core/conversation/branch.ts';
import type { ContextId, JobId, MessageId, ToolCallId, WorkerId } from '../../core/ids.ts';
import { isFinished, type QueuedJob } from '../../core/run/job.ts';
import type { Append } from '../../core/run/append.ts';
import { reportMessage } from '../../core/workers/peer-messages.ts';
import type { Serving, WorkerConfig } from '../../core/workers/settings.ts';
import type { AwaitedJob, Spawn } from '../../core/workers/spawn.ts';
import { ids } from '../../platform/ids.ts';
import type { VirtualClock } from './clock.ts';
import type { MemoryContext } from './context.ts';
import type { MemoryDurable } from './durable.ts';
import { outcomeOf } from './outcome.ts';
import type { Reports } from './reports.ts';
import { bringToRest } from './rest.ts';
import type { MemoryWorker } from './worker.ts';

/** `parent` null: the worker that the test runs. */
export type MemberOf = {
  workerId: WorkerId;
  contextId: ContextId;
  name: string;
  role: string | null;
  config: WorkerConfig;
  depth: number;
  parent: WorkerId | null;
};

export type Member = MemberOf & {
  context: MemoryContext;
  worker: MemoryWorker;
  reports: Reports;
  durable: MemoryDurable;
};

/** What a member consists of. `context` takes what it commits. */
export type MakeMember = (of: MemberOf, serving: Serving, tree: MemoryTree) => Member;

/** The end of a job of which the worker that asked for it learns by an input. */
type Notice = { to: WorkerId; of: Member; spawn: Spawn; isDue: boolean };

export class MemoryTree {
  readonly clock: VirtualClock;
  readonly #make: MakeMember;
  readonly #serve: (of: MemberOf) => Serving;
  readonly #members = new Map<WorkerId, Member>();
  readonly #awaited = new Map<ToolCallId, AwaitedJob[]>();
  /** How often a job was passed on between workers; jobs of the test: 0. */
  readonly #hops = new Map<JobId, number>();
  readonly #notices = new Map<JobId, Notice>();
  /** Notices that are queued, by the job that they are about. */
  readonly #queued = new Map<JobId, JobId>();

  constructor(clock: VirtualClock, make: MakeMember, serve: (of: MemberOf) => Serving) {
    this.clock = clock;
    this.#make = make;
    this.#serve = serve;
  }

  /** In the order in which they were created. */
  get members(): readonly Member[] {
    return [...this.#members.values()];
  }

  member(id: WorkerId): Member | undefined {
    return this.#members.get(id);
  }

  awaited(call: ToolCallId): readonly AwaitedJob[] {
    return this.#awaited.get(call) ?? [];
  }

  hops(job: JobId): number {
    return this.#hops.get(job) ?? 0;
  }

  add(of: MemberOf, serving: Serving = this.#serve(of)): Member {
    const member = this.#make(of, serving, this);
    this.#members.set(of.workerId, member);
    return member;
  }

  /** What an append of a worker means for the others. */
  committed({ workerId }: MemberOf, { spawns, awaits, job }: Append): void {
    for (const spawn of spawns) this.#spawn(workerId, spawn);
    for (const one of awaits) this.#awaited.set(one.callId, [...this.awaited(one.callId), one]);
    if (job?.kind === 'settle') this.#ended(job.job.id);
  }

  /** The end of these jobs is in a result of this worker, so no input tells it. */
  withoutNotice({ context, workerId }: Member, jobs: readonly JobId[]): void {
    for (const job of jobs) {
      const queued = this.#queued.get(job);
      if (queued !== undefined) context.withdraw(queued);
      if (this.#notices.get(job)?.to === workerId) this.#notices.delete(job);
    }
  }

  /** Runs all workers until nothing is left to do, or only waits without an end are left. */
  async bringToRest(): Promise<void> {
    const workers = (): MemoryWorker[] => this.members.map(({ worker }) => worker);
    await bringToRest(this.clock, workers, () => this.#tell());
  }

  #spawn(parent: WorkerId, spawn: Spawn): void {
    const { workerId, contextId, jobId, name, role, config, depth, hops, awaited } = spawn;
    const of = this.add({ workerId, contextId, name, role: role?.name ?? null, config, depth, parent });
    this.#hops.set(jobId, hops);
    if (!awaited) this.#notices.set(jobId, { to: parent, of, spawn, isDue: false });
    of.context.enqueue(jobOf(spawn));
  }

  #ended(ended: JobId): void {
    const notice = this.#notices.get(ended);
    if (notice !== undefined) this.#notices.set(ended, { ...notice, isDue: true });
    const calls = [...this.#awaited].filter(([, jobs]) => jobs.some(({ jobId }) => jobId === ended));
    for (const { context } of this.members) for (const [call] of calls) context.countDown(call);
  }

  /** Queues the notices that are due, unless a call waits for the job. */
  #tell(): void {
    for (const [jobId, { to, of, spawn, isDue }] of this.#notices) {
      const receiver = this.#members.get(to);
      if (!isDue || receiver === undefined || this.#isAwaited(receiver, jobId)) continue;
      const { status, output, error } = outcomeOf(of, jobId);
      if (status === null || !isFinished(status)) continue;
      this.#notices.delete(jobId);
      const ended = { jobId, status, output: output ?? [], error, reason: null };
      const content = reportMessage({ id: of.workerId, name: of.name }, ended);
      const notice = {
        ...jobOf(spawn),
        id: ids.next<JobId>(),
        messageId: ids.next<MessageId>(),
        content,
        deadline: null,
      };
      this.#hops.set(notice.id, spawn.hops + 1);
      this.#queued.set(jobId, notice.id);
      receiver.context.enqueue({ ...notice, traceParent: null });
    }
  }

  #isAwaited({ context }: Member, job: JobId): boolean {
    return context.current.calls.some(({ id }) => this.awaited(id).some(({ jobId }) => jobId === job));
  }
}

function jobOf({ jobId: id, messageId, input, deadline, jobUser, traceParent }: Spawn): QueuedJob & { kind: 'input' } {
  return {
    kind: 'input',
    id,
    messageId,
    content: [{ type: 'text', text: input }],
    branch: MAIN,
    maxSteps: null,
    outputSchema: null,
    deadline,
    stopRequest: null,
    metadata: {},
    user: jobUser,
    traceParent,
  };
}
