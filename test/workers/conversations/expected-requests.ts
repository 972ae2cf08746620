// Requests of clients to a conversation, by the reference: the target of each operation, whether it is refused, and its
// effect.
import { MAIN, nameBeside } from '../../../src/core/conversation/branch.ts';
import type { Code } from '../../../src/core/errors.ts';
import type { MessageId } from '../../../src/core/ids.ts';
import type { Reference, Branch, Job } from './reference.ts';
import type { Operation } from './operations.ts';
import type { Entry } from './entries.ts';
import type { ClientCommands, Outcome } from './client-commands.ts';
import { begin, end } from './expected-run.ts';

/** An operation with its target. `isDone`: whether the reference shows its effect. */
export type ExpectedRequest = {
  words: string;
  refused: Code | null;
  perform(commands: ClientCommands): Promise<Outcome>;
  isDone(outcome: Extract<Outcome, { kind: 'done' }>): void;
};

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>;

/** An id that no row has. */
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000' as MessageId;

/** Null: there is no target. */
export function ask(reference: Reference, operation: Exclude<Operation, { kind: 'go' }>): ExpectedRequest | null {
  switch (operation.kind) {
    case 'post':
    case 'retry':
      return submit(reference, operation);
    case 'edit':
    case 'regenerate':
      return revise(reference, operation);
    case 'answer':
      return answer(reference, operation);
    case 'interrupt':
      return interrupt(reference, operation);
    case 'cancel':
      return cancel(reference, operation);
    case 'branch':
      return createBranch(reference, operation);
    case 'switch':
      return switchTo(reference, branchName(reference, operation.branch));
    case 'delete':
      return deleteBranch(reference, branchName(reference, operation.branch));
    case 'clear':
      return clear(reference);
    case 'compact':
      return compact(reference, operation);
  }
}

function submit(reference: Reference, operation: Of<'post' | 'retry'>): ExpectedRequest {
  const branch = operation.branch === null ? null : branchName(reference, operation.branch);
  const delivery = operation.kind === 'post' ? operation.delivery : 'queue';
  const words = operation.kind === 'post' ? `in ${reference.number()}` : null;
  const target = branch ?? reference.active;
  const isMissing = branch !== null && reference.branch(branch) === null;
  const isRefused = delivery === 'reject' && (reference.status !== 'idle' || reference.queue.length > 0);
  return {
    words: `${operation.kind} ${words} on ${branch ?? 'the active branch'} (${delivery})`,
    refused: isMissing ? 'not_found' : isRefused ? 'context_busy' : null,
    perform: (commands) => commands.submit({ words, branch, delivery, maxSteps: operation.maxSteps }),
    isDone: (outcome) => accept(reference, operation, delivery, { words, target }, outcome),
  };
}

type Posted = { words: string | null; target: string };

function accept(
  reference: Reference,
  { plan, maxSteps }: Pick<Of<'post'>, 'plan' | 'maxSteps'>,
  delivery: Of<'post'>['delivery'],
  { words, target }: Posted,
  { jobId, messageId }: Extract<Outcome, { kind: 'done' }>,
): void {
  const { job } = reference;
  const input = words === null || messageId === null ? null : { id: messageId, words };
  const question = job?.open.find(({ call, reply }) => call.tool === 'ask_user' && reply === null);
  if (delivery === 'queue' && input !== null && question !== undefined && job?.branch === target) {
    question.reply = input;
    if (reference.status === 'waiting') reference.status = 'runnable';
    return;
  }
  if (delivery === 'steer' && input !== null && job !== null && canJoin(job, target)) {
    job.steers.push(input);
    return;
  }
  if (jobId === null) throw new Error('An input was accepted without a job.');
  const priority = delivery === 'interrupt' ? 0 : 5;
  queue(reference, {
    id: jobId,
    branch: target,
    input,
    priority,
    plan: [...plan],
    maxSteps,
    compaction: null,
  });
  if (delivery === 'interrupt' && job !== null) stopRequest(reference, job, { kind: 'interrupt', mode: 'discard' });
}

/** A compaction has no input. */
function canJoin({ branch, compaction }: Job, target: string): boolean {
  return branch === target && compaction === null;
}

function queue(
  reference: Reference,
  job: Pick<Job, 'id' | 'branch' | 'input' | 'priority' | 'plan' | 'maxSteps' | 'compaction'>,
): void {
  const fresh = {
    status: 'queued',
    turn: 0,
    steps: 0,
    summaries: 0,
    pausesTools: false,
    stopRequest: null,
  } as const;
  reference.jobs.push({ ...job, ...fresh, place: reference.number(), open: [], steers: [] });
  if (reference.status === 'idle') reference.status = 'runnable';
}

/** Without a run it ends at once: an input that no run took enters history for that. */
function stopRequest(reference: Reference, job: Job, request: NonNullable<Job['stopRequest']>): void {
  job.stopRequest = request;
  if (reference.pausedAt !== null) return;
  if (job.status === 'queued') begin(reference, job);
  end(reference, job, request.kind === 'cancel' ? 'cancelled' : 'interrupted');
  reference.status = reference.queue.length > 0 ? 'runnable' : 'idle';
}

function revise(reference: Reference, operation: Of<'edit' | 'regenerate'>): ExpectedRequest {
  const id = messageAt(reference, operation.message);
  const point = operation.kind === 'edit' ? pointBefore(reference, id) : pointOfAnswer(reference, id);
  const words = operation.kind === 'edit' ? `in ${reference.number()}` : null;
  const { name, delivery, maxSteps } = operation;
  const taken = new Set(reference.branches.map((branch) => branch.name));
  const given = name ?? (typeof point === 'string' ? '' : nameBeside(point.from.name, taken));
  const isBusy = delivery === 'reject' && (reference.status !== 'idle' || reference.queue.length > 0);
  return {
    words: `${operation.kind} ${id} on ${given} (${delivery}) ${words ?? ''}`,
    refused: typeof point === 'string' ? point : taken.has(given) ? 'branch_exists' : isBusy ? 'context_busy' : null,
    perform: (commands) => commands.revise({ id, words, name, delivery, maxSteps }),
    isDone: (outcome) => {
      if (typeof point === 'string') return;
      leave(reference, point, given, true);
      accept(reference, operation, delivery, { words, target: given }, outcome);
    },
  };
}

function answer(reference: Reference, { call }: Of<'answer'>): ExpectedRequest | null {
  const asked = (reference.job?.open ?? []).filter(({ status }) => status === 'waiting');
  const open = asked[call % asked.length];
  if (open === undefined) return null;
  const words = `reply ${reference.number()}`;
  return {
    words: `answer ${open.call.tool} ${open.call.number}: ${words}`,
    refused: open.reply === null ? null : 'not_waiting',
    perform: (commands) => commands.answer(open.call.id, words),
    isDone: ({ messageId }) => {
      if (messageId === null) throw new Error('An answer was accepted that is no message.');
      open.reply = { id: messageId, words };
      if (reference.status === 'waiting') reference.status = 'runnable';
    },
  };
}

function interrupt(reference: Reference, { mode }: Of<'interrupt'>): ExpectedRequest {
  const current = reference.job ?? reference.queue[0] ?? null;
  return {
    words: `interrupt (${mode})`,
    refused: null,
    perform: (commands) => commands.interrupt(mode),
    isDone: ({ jobId }) => {
      if (jobId !== (current?.id ?? null)) throw new Error(`The interrupt was aimed at ${jobId}.`);
      if (current !== null) stopRequest(reference, current, { kind: 'interrupt', mode });
    },
  };
}

function cancel(reference: Reference, operation: Of<'cancel'>): ExpectedRequest | null {
  const job = reference.jobs[operation.job % reference.jobs.length];
  if (job === undefined) return null;
  return {
    words: `cancel ${job.id}`,
    refused: null,
    perform: (commands) => commands.cancel(job.id),
    isDone: () => {
      if (job.status === 'running' || job.status === 'waiting') stopRequest(reference, job, { kind: 'cancel' });
      if (job.status !== 'queued') return;
      job.status = 'cancelled';
      if (reference.status === 'runnable' && reference.job === null && reference.queue.length === 0)
        reference.status = 'idle';
    },
  };
}

function createBranch(reference: Reference, { name, from, message, activate }: Of<'branch'>): ExpectedRequest {
  const parent = from === null ? null : branchName(reference, from);
  const id = message === null ? null : messageAt(reference, message);
  const point = forkPoint(reference, parent ?? reference.active, id);
  const isTaken = reference.branch(name) !== null;
  return {
    words: `branch ${name} from ${parent ?? 'the active one'}, ${id ?? 'its end'}${activate ? ', active' : ''}`,
    refused: typeof point === 'string' ? point : isTaken ? 'branch_exists' : null,
    perform: (commands) => commands.createBranch({ name, fromBranch: parent, fromMessageId: id, activate }),
    isDone: () => {
      if (typeof point !== 'string') leave(reference, point, name, activate);
    },
  };
}

function switchTo(reference: Reference, name: string): ExpectedRequest {
  return {
    words: `switch to ${name}`,
    refused: reference.branch(name) === null ? 'not_found' : null,
    perform: (commands) => commands.switchBranch(name),
    isDone: () => {
      reference.active = name;
    },
  };
}

function deleteBranch(reference: Reference, name: string): ExpectedRequest {
  const isBusy = reference.job?.branch === name || reference.queue.some(({ branch }) => branch === name);
  return {
    words: `delete ${name}`,
    refused:
      reference.branch(name) === null
        ? 'not_found'
        : name === MAIN || name === reference.active || isBusy
          ? 'context_busy'
          : null,
    perform: (commands) => commands.deleteBranch(name),
    isDone: () => {
      reference.branches = reference.branches.filter((branch) => branch.name !== name);
    },
  };
}

function clear(reference: Reference): ExpectedRequest {
  return {
    words: 'clear',
    refused: reference.job !== null || reference.queue.length > 0 ? 'context_busy' : null,
    perform: (commands) => commands.clear(),
    isDone: () => {
      for (const entry of reference.entries) if (entry.status === 'stands') entry.status = 'cleared';
      reference.branches = [];
      reference.leave(null, MAIN, []);
      reference.active = MAIN;
      reference.requests = 0;
    },
  };
}

function compact(reference: Reference, compaction: Of<'compact'>): ExpectedRequest {
  const { type, keepTurns, isPaused } = compaction;
  return {
    words: `compact (${type}, keeping ${keepTurns}${isPaused ? ', paused' : ''})`,
    refused: null,
    perform: (commands) => commands.compact({ type, keep_turns: keepTurns }),
    isDone: ({ jobId }) => {
      if (jobId === null) throw new Error('A compaction was accepted without a job.');
      const branch = reference.active;
      queue(reference, { id: jobId, branch, input: null, priority: 5, plan: [], maxSteps: null, compaction });
    },
  };
}

/** Where a branch is left: its shared part. */
type Point = { from: Branch; shared: Entry[] };

function leave(reference: Reference, { from, shared }: Point, name: string, activate: boolean): void {
  reference.leave(from.name, name, shared);
  if (activate) reference.active = name;
}

function forkPoint(reference: Reference, name: string, id: MessageId | null): Point | Code {
  const from = reference.branch(name);
  if (from === null) return 'not_found';
  if (id === null) return { from, shared: from.list.filter((entry) => !isUnfinished(reference, entry)) };
  const entry = standing(reference, id);
  if (typeof entry === 'string') return entry;
  return from.list.includes(entry) ? behind(reference, from, entry) : 'invalid_request';
}

function pointBefore(reference: Reference, id: MessageId): Point | Code {
  const entry = standing(reference, id);
  if (typeof entry === 'string') return entry;
  if (entry.role !== 'user') return 'invalid_request';
  const from = showing(reference, entry);
  if (from === null) return 'not_found';
  const shared = from.list.slice(0, from.list.indexOf(entry));
  return shared.some((before) => isUnfinished(reference, before)) ? 'context_busy' : { from, shared };
}

function pointOfAnswer(reference: Reference, id: MessageId): Point | Code {
  const entry = standing(reference, id);
  if (typeof entry === 'string') return entry;
  const from = showing(reference, entry);
  if (from === null) return 'not_found';
  const input = from.list.slice(0, from.list.indexOf(entry) + 1).findLast(({ role }) => role === 'user');
  return input === undefined ? 'invalid_request' : behind(reference, from, input);
}

/** With its results and notes. */
function behind(reference: Reference, from: Branch, entry: Entry): Point | Code {
  if (isUnfinished(reference, entry)) return 'context_busy';
  const place = from.list.indexOf(entry) + 1;
  const next = from.list.slice(place).findIndex(({ role }) => role === 'user' || role === 'assistant');
  return { from, shared: from.list.slice(0, next < 0 ? undefined : place + next) };
}

/** An unfinished job added it: it may still be retracted. */
function isUnfinished({ job }: Reference, entry: Entry): boolean {
  return job !== null && entry.jobId === job.id;
}

function standing(reference: Reference, id: MessageId): Entry | Code {
  const entry = reference.entries.find((one) => one.id === id);
  if (entry !== undefined) return entry.status === 'retracted' ? 'invalid_request' : entry;
  const isQueued = reference.branches.some(({ name }) => reference.queuedOn(name).some((input) => input.id === id));
  return isQueued ? 'invalid_request' : 'not_found';
}

/** The active branch, else its own, else the oldest one that shows it. */
function showing(reference: Reference, entry: Entry): Branch | null {
  const shows = reference.branches.filter(({ list }) => list.includes(entry));
  const named = (name: string) => shows.find((branch) => branch.name === name);
  return named(reference.active) ?? named(entry.branch) ?? shows[0] ?? null;
}

/** Usually an existing one. */
function branchName(reference: Reference, number: number): string {
  if (number % 10 === 9) return 'nowhere';
  return reference.branches[number % reference.branches.length]?.name ?? MAIN;
}

/** Usually one of the active branch, else any that ever existed, or is queued. */
function messageAt(reference: Reference, number: number): MessageId {
  const shown = reference.branchOf(reference.active).list.flatMap(({ id }) => id ?? []);
  const known = reference.entries.flatMap(({ id }) => id ?? []);
  const queued = reference.branches.flatMap(({ name }) => reference.queuedOn(name).map(({ id }) => id));
  const from = number % 3 === 0 ? [...known, ...queued, UNKNOWN_ID] : shown;
  return from[Math.floor(number / 3) % from.length] ?? UNKNOWN_ID;
}
