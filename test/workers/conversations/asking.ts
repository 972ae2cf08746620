// Requests of clients to a conversation, by the reference: the target of each operation, whether it is refused, and its
// effect.
import { MAIN, nameBeside } from '../../../src/core/conversation/branch.ts';
import type { Code } from '../../../src/core/errors.ts';
import type { MessageId } from '../../../src/core/ids.ts';
import type { Book, Branch, Job } from './book.ts';
import type { Operation } from './dice.ts';
import type { Entry } from './entries.ts';
import type { Hand, Outcome } from './hand.ts';
import { begin, end } from './running.ts';

/** An operation with its target. `isDone`: whether the reference shows its effect. */
export type Asked = {
  words: string;
  refused: Code | null;
  perform(hand: Hand): Promise<Outcome>;
  isDone(outcome: Extract<Outcome, { kind: 'done' }>): void;
};

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>;

/** An id that no row has. */
const NOBODY = '01900000-0000-7000-8000-000000000000' as MessageId;

/** Null: there is no target. */
export function ask(book: Book, operation: Exclude<Operation, { kind: 'go' }>): Asked | null {
  switch (operation.kind) {
    case 'post':
    case 'retry':
      return submit(book, operation);
    case 'edit':
    case 'regenerate':
      return answerAnew(book, operation);
    case 'answer':
      return answer(book, operation);
    case 'interrupt':
      return interrupt(book, operation);
    case 'cancel':
      return cancel(book, operation);
    case 'branch':
      return createBranch(book, operation);
    case 'switch':
      return switchTo(book, branchName(book, operation.branch));
    case 'delete':
      return deleteBranch(book, branchName(book, operation.branch));
    case 'clear':
      return clear(book);
    case 'compact':
      return compact(book, operation);
  }
}

function submit(book: Book, operation: Of<'post' | 'retry'>): Asked {
  const branch = operation.branch === null ? null : branchName(book, operation.branch);
  const delivery = operation.kind === 'post' ? operation.delivery : 'queue';
  const words = operation.kind === 'post' ? `in ${book.number()}` : null;
  const target = branch ?? book.active;
  const isMissing = branch !== null && book.branch(branch) === null;
  const isRefused = delivery === 'reject' && (book.status !== 'idle' || book.queue.length > 0);
  return {
    words: `${operation.kind} ${words} on ${branch ?? 'the active branch'} (${delivery})`,
    refused: isMissing ? 'not_found' : isRefused ? 'context_busy' : null,
    perform: (hand) => hand.submit({ words, branch, delivery, maxSteps: operation.maxSteps }),
    isDone: (outcome) => accept(book, operation, delivery, { words, target }, outcome),
  };
}

type Posted = { words: string | null; target: string };

function accept(
  book: Book,
  { plan, maxSteps }: Pick<Of<'post'>, 'plan' | 'maxSteps'>,
  delivery: Of<'post'>['delivery'],
  { words, target }: Posted,
  { jobId, messageId }: Extract<Outcome, { kind: 'done' }>,
): void {
  const { job } = book;
  const input = words === null || messageId === null ? null : { id: messageId, words };
  const question = job?.open.find(({ call, reply }) => call.tool === 'ask_user' && reply === null);
  if (delivery === 'queue' && input !== null && question !== undefined && job?.branch === target) {
    question.reply = input;
    if (book.status === 'waiting') book.status = 'runnable';
    return;
  }
  if (delivery === 'steer' && input !== null && job !== null && canJoin(job, target)) {
    job.steers.push(input);
    return;
  }
  if (jobId === null) throw new Error('An input was accepted without a job.');
  const priority = delivery === 'interrupt' ? 0 : 5;
  queue(book, { id: jobId, branch: target, input, priority, plan: [...plan], maxSteps, compaction: null });
  if (delivery === 'interrupt' && job !== null)
    stopRequest(book, job, { kind: 'interrupt', mode: 'discard' });
}

/** A compaction has no input. */
function canJoin({ branch, compaction }: Job, target: string): boolean {
  return branch === target && compaction === null;
}

function queue(
  book: Book,
  job: Pick<Job, 'id' | 'branch' | 'input' | 'priority' | 'plan' | 'maxSteps' | 'compaction'>,
): void {
  const fresh = {
    status: 'queued',
    turn: 0,
    steps: 0,
    summaries: 0,
    holdsTools: false,
    stopRequest: null,
  } as const;
  book.jobs.push({ ...job, ...fresh, place: book.number(), open: [], steers: [] });
  if (book.status === 'idle') book.status = 'runnable';
}

/** Without a run it ends at once: an input that no run took enters history for that. */
function stopRequest(book: Book, job: Job, wished: NonNullable<Job['stopRequest']>): void {
  job.stopRequest = wished;
  if (book.held !== null) return;
  if (job.status === 'queued') begin(book, job);
  end(book, job, wished.kind === 'cancel' ? 'cancelled' : 'interrupted');
  book.status = book.queue.length > 0 ? 'runnable' : 'idle';
}

function answerAnew(book: Book, operation: Of<'edit' | 'regenerate'>): Asked {
  const id = messageAt(book, operation.message);
  const point = operation.kind === 'edit' ? pointBefore(book, id) : pointOfAnswer(book, id);
  const words = operation.kind === 'edit' ? `in ${book.number()}` : null;
  const { name, delivery, maxSteps } = operation;
  const taken = new Set(book.branches.map((branch) => branch.name));
  const given = name ?? (typeof point === 'string' ? '' : nameBeside(point.from.name, taken));
  const isBusy = delivery === 'reject' && (book.status !== 'idle' || book.queue.length > 0);
  return {
    words: `${operation.kind} ${id} on ${given} (${delivery}) ${words ?? ''}`,
    refused:
      typeof point === 'string' ? point : taken.has(given) ? 'branch_exists' : isBusy ? 'context_busy' : null,
    perform: (hand) => hand.answerAnew({ id, words, name, delivery, maxSteps }),
    isDone: (outcome) => {
      if (typeof point === 'string') return;
      leave(book, point, given, true);
      accept(book, operation, delivery, { words, target: given }, outcome);
    },
  };
}

function answer(book: Book, { call }: Of<'answer'>): Asked | null {
  const asked = (book.job?.open ?? []).filter(({ status }) => status === 'waiting');
  const open = asked[call % asked.length];
  if (open === undefined) return null;
  const words = `reply ${book.number()}`;
  return {
    words: `answer ${open.call.tool} ${open.call.number}: ${words}`,
    refused: open.reply === null ? null : 'not_waiting',
    perform: (hand) => hand.answer(open.call.id, words),
    isDone: ({ messageId }) => {
      if (messageId === null) throw new Error('An answer was accepted that is no message.');
      open.reply = { id: messageId, words };
      if (book.status === 'waiting') book.status = 'runnable';
    },
  };
}

function interrupt(book: Book, { mode }: Of<'interrupt'>): Asked {
  const current = book.job ?? book.queue[0] ?? null;
  return {
    words: `interrupt (${mode})`,
    refused: null,
    perform: (hand) => hand.interrupt(mode),
    isDone: ({ jobId }) => {
      if (jobId !== (current?.id ?? null)) throw new Error(`The interrupt was aimed at ${jobId}.`);
      if (current !== null) stopRequest(book, current, { kind: 'interrupt', mode });
    },
  };
}

function cancel(book: Book, operation: Of<'cancel'>): Asked | null {
  const job = book.jobs[operation.job % book.jobs.length];
  if (job === undefined) return null;
  return {
    words: `cancel ${job.id}`,
    refused: null,
    perform: (hand) => hand.cancel(job.id),
    isDone: () => {
      if (job.status === 'running' || job.status === 'waiting') stopRequest(book, job, { kind: 'cancel' });
      if (job.status !== 'queued') return;
      job.status = 'cancelled';
      if (book.status === 'runnable' && book.job === null && book.queue.length === 0) book.status = 'idle';
    },
  };
}

function createBranch(book: Book, { name, from, message, activate }: Of<'branch'>): Asked {
  const parent = from === null ? null : branchName(book, from);
  const id = message === null ? null : messageAt(book, message);
  const point = forkPoint(book, parent ?? book.active, id);
  const isTaken = book.branch(name) !== null;
  return {
    words: `branch ${name} from ${parent ?? 'the active one'}, ${id ?? 'its end'}${activate ? ', active' : ''}`,
    refused: typeof point === 'string' ? point : isTaken ? 'branch_exists' : null,
    perform: (hand) => hand.createBranch({ name, fromBranch: parent, fromMessageId: id, activate }),
    isDone: () => {
      if (typeof point !== 'string') leave(book, point, name, activate);
    },
  };
}

function switchTo(book: Book, name: string): Asked {
  return {
    words: `switch to ${name}`,
    refused: book.branch(name) === null ? 'not_found' : null,
    perform: (hand) => hand.switchBranch(name),
    isDone: () => {
      book.active = name;
    },
  };
}

function deleteBranch(book: Book, name: string): Asked {
  const isBusy = book.job?.branch === name || book.queue.some(({ branch }) => branch === name);
  return {
    words: `delete ${name}`,
    refused:
      book.branch(name) === null
        ? 'not_found'
        : name === MAIN || name === book.active || isBusy
          ? 'context_busy'
          : null,
    perform: (hand) => hand.deleteBranch(name),
    isDone: () => {
      book.branches = book.branches.filter((branch) => branch.name !== name);
    },
  };
}

function clear(book: Book): Asked {
  return {
    words: 'clear',
    refused: book.job !== null || book.queue.length > 0 ? 'context_busy' : null,
    perform: (hand) => hand.clear(),
    isDone: () => {
      for (const entry of book.entries) if (entry.status === 'stands') entry.status = 'cleared';
      book.branches = [];
      book.leave(null, MAIN, []);
      book.active = MAIN;
      book.requests = 0;
    },
  };
}

function compact(book: Book, compaction: Of<'compact'>): Asked {
  const { type, keepTurns, isHeld } = compaction;
  return {
    words: `compact (${type}, keeping ${keepTurns}${isHeld ? ', held' : ''})`,
    refused: null,
    perform: (hand) => hand.compact({ type, keep_turns: keepTurns }),
    isDone: ({ jobId }) => {
      if (jobId === null) throw new Error('A compaction was accepted without a job.');
      const branch = book.active;
      queue(book, { id: jobId, branch, input: null, priority: 5, plan: [], maxSteps: null, compaction });
    },
  };
}

/** Where a branch is left: its shared part. */
type Point = { from: Branch; shared: Entry[] };

function leave(book: Book, { from, shared }: Point, name: string, activate: boolean): void {
  book.leave(from.name, name, shared);
  if (activate) book.active = name;
}

function forkPoint(book: Book, name: string, id: MessageId | null): Point | Code {
  const from = book.branch(name);
  if (from === null) return 'not_found';
  if (id === null) return { from, shared: from.list.filter((entry) => !isUnfinished(book, entry)) };
  const entry = standing(book, id);
  if (typeof entry === 'string') return entry;
  return from.list.includes(entry) ? behind(book, from, entry) : 'invalid_request';
}

function pointBefore(book: Book, id: MessageId): Point | Code {
  const entry = standing(book, id);
  if (typeof entry === 'string') return entry;
  if (entry.role !== 'user') return 'invalid_request';
  const from = showing(book, entry);
  if (from === null) return 'not_found';
  const shared = from.list.slice(0, from.list.indexOf(entry));
  return shared.some((before) => isUnfinished(book, before)) ? 'context_busy' : { from, shared };
}

function pointOfAnswer(book: Book, id: MessageId): Point | Code {
  const entry = standing(book, id);
  if (typeof entry === 'string') return entry;
  const from = showing(book, entry);
  if (from === null) return 'not_found';
  const input = from.list.slice(0, from.list.indexOf(entry) + 1).findLast(({ role }) => role === 'user');
  return input === undefined ? 'invalid_request' : behind(book, from, input);
}

/** With its results and notes. */
function behind(book: Book, from: Branch, entry: Entry): Point | Code {
  if (isUnfinished(book, entry)) return 'context_busy';
  const place = from.list.indexOf(entry) + 1;
  const next = from.list.slice(place).findIndex(({ role }) => role === 'user' || role === 'assistant');
  return { from, shared: from.list.slice(0, next < 0 ? undefined : place + next) };
}

/** An unfinished job added it: it may still be retracted. */
function isUnfinished({ job }: Book, entry: Entry): boolean {
  return job !== null && entry.jobId === job.id;
}

function standing(book: Book, id: MessageId): Entry | Code {
  const entry = book.entries.find((one) => one.id === id);
  if (entry !== undefined) return entry.status === 'retracted' ? 'invalid_request' : entry;
  const isQueued = book.branches.some(({ name }) => book.queuedOn(name).some((input) => input.id === id));
  return isQueued ? 'invalid_request' : 'not_found';
}

/** The active branch, else its own, else the oldest one that shows it. */
function showing(book: Book, entry: Entry): Branch | null {
  const shows = book.branches.filter(({ list }) => list.includes(entry));
  const named = (name: string) => shows.find((branch) => branch.name === name);
  return named(book.active) ?? named(entry.branch) ?? shows[0] ?? null;
}

/** Usually an existing one. */
function branchName(book: Book, number: number): string {
  if (number % 10 === 9) return 'nowhere';
  return book.branches[number % book.branches.length]?.name ?? MAIN;
}

/** Usually one of the active branch, else any that ever existed, or is queued. */
function messageAt(book: Book, number: number): MessageId {
  const shown = book.branchOf(book.active).list.flatMap(({ id }) => id ?? []);
  const known = book.entries.flatMap(({ id }) => id ?? []);
  const queued = book.branches.flatMap(({ name }) => book.queuedOn(name).map(({ id }) => id));
  const from = number % 3 === 0 ? [...known, ...queued, NOBODY] : shown;
  return from[Math.floor(number / 3) % from.length] ?? NOBODY;
}
