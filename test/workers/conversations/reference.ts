// The reference of a conversation: each branch a plain list of its visible entries, a queue, one job at a time. Nothing
// is shared and nothing is optimised, so that it is easy to verify.
import type { JobId, MessageId } from '../../../src/core/ids.ts';
import { MAIN } from '../../../src/core/conversation/branch.ts';
import type { FinishedStatus, InterruptMode } from '../../../src/core/run/job.ts';
import type { Operation, Plan, Round } from './operations.ts';
import type { Call, Entry, Standing } from './entries.ts';

export type Branch = {
  name: string;
  parent: string | null;
  /** The last message that it shares with its parent. */
  fork: Entry | null;
  list: Entry[];
  /** The branches whose own messages it shows, or may show. */
  reads: readonly Branch[];
  /** How many compactions existed before it. */
  before: number;
  /** Added by the jobs that ended on it. */
  messages: number;
  requests: number;
};

export type OpenCall = {
  call: Call;
  status: 'pending' | 'started' | 'waiting';
  reply: { id: MessageId; words: string } | null;
};

/** The next answer of the model. */
export type Answer = { how: Round['how']; words: string; calls: Call[] };

export type Compaction = Extract<Operation, { kind: 'compact' }>;

export type Input = { id: MessageId; words: string };

export type Job = {
  id: JobId;
  branch: string;
  /** Null: the job runs on the existing history, or compacts it. */
  input: Input | null;
  compaction: Compaction | null;
  priority: number;
  place: number;
  plan: Plan;
  maxSteps: number | null;
  status: 'queued' | 'running' | 'waiting' | FinishedStatus;
  turn: number;
  steps: number;
  summaries: number;
  open: OpenCall[];
  /** Whether its running tools are paused until the test releases them. */
  pausesTools: boolean;
  steers: Input[];
  stopRequest: { kind: 'cancel' } | { kind: 'interrupt'; mode: InterruptMode } | null;
};

export class Reference {
  branches: Branch[] = [];
  active = MAIN;
  readonly jobs: Job[] = [];
  /** All entries that ever existed. */
  readonly entries: Entry[] = [];
  /** Whether there is work to do, and whether a run does it. */
  status: 'idle' | 'runnable' | 'running' | 'waiting' = 'idle';
  /** The point at which the run is paused. */
  pausedAt:
    | { kind: 'model'; round: Round; answer: Answer }
    | { kind: 'summary'; upto: Entry; answer: Answer }
    | { kind: 'tools' }
    | null = null;
  /** In the order of creation; `words` null: results of tools are shortened. */
  readonly compactions: { branch: string; words: string | null; upto: Entry }[] = [];
  readonly #owners = new Map<Entry, Branch>();
  /** Since the last clear. */
  requests = 0;
  #numbers = 0;

  constructor() {
    this.leave(null, MAIN, []);
  }

  number(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  branch(name: string): Branch | null {
    return this.branches.find((branch) => branch.name === name) ?? null;
  }

  branchOf(name: string): Branch {
    const branch = this.branch(name);
    if (branch === null) throw new Error(`The reference has no branch ${name}.`);
    return branch;
  }

  /** The job that has begun and not ended. */
  get job(): Job | null {
    return this.jobs.find(({ status }) => status === 'running' || status === 'waiting') ?? null;
  }

  /** In the order in which they will begin. */
  get queue(): Job[] {
    return this.jobs
      .filter(({ status }) => status === 'queued')
      .sort((a, b) => a.priority - b.priority || a.place - b.place);
  }

  /** The visible entries, on any branch or on none. */
  get visible(): number {
    return this.entries.filter(({ status }) => status === 'stands').length;
  }

  /** The inputs that wait to enter a branch, in order. */
  queuedOn(name: string): Input[] {
    const joining = this.job?.branch === name ? this.job.steers : [];
    return [
      ...joining,
      ...this.queue.flatMap(({ branch, input }) => (branch === name && input !== null ? [input] : [])),
    ];
  }

  add(branch: Branch, entry: Omit<Entry, 'branch' | 'status'>): void {
    const whole: Entry = { ...entry, branch: branch.name, status: 'stands' };
    branch.list.push(whole);
    this.entries.push(whole);
    this.#owners.set(whole, branch);
  }

  /** A branch begins with the part that it shares with its parent. */
  leave(parent: string | null, name: string, list: Entry[]): void {
    const fork = list.at(-1) ?? null;
    const owner = fork === null ? undefined : this.#owners.get(fork);
    const reads = owner === undefined ? [] : [...owner.reads, owner];
    const before = this.compactions.length;
    this.branches.push({ name, parent, fork, list, reads, before, messages: 0, requests: 0 });
  }

  /**
   * The compactions of a branch, the last of each kind: on one of its name or of those that it reads, since that was
   * made, as far as the branch shows the replaced messages.
   */
  standsFor(branch: Branch): Standing {
    const valid = this.compactions.filter(
      (made, place) =>
        branch.list.includes(made.upto) &&
        [...branch.reads, branch].some(({ name, before }) => name === made.branch && before <= place),
    );
    const summary = valid.findLast(({ words }) => words !== null);
    return {
      summary: summary === undefined ? null : { words: summary.words ?? '', upto: summary.upto },
      shortened: valid.findLast(({ words }) => words === null)?.upto ?? null,
    };
  }
}

/** The turn of the last entry; notes belong to no turn. */
export function lastTurnOf(list: readonly Entry[]): number {
  return list
    .filter(({ role }) => role !== 'system')
    .reduce((last, { turn }) => Math.max(last, Number(turn.slice(1))), 0);
}
