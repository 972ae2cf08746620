// The progress of the reference's jobs: by the documented rules, one job after the other, up to the next pause or wait.
import type { MessageId, ToolCallId } from '../../../src/core/ids.ts';
import { v7 } from 'uuid';
import { ids } from '../../../src/platform/ids.ts';
import type { FinishedStatus } from '../../../src/core/run/job.ts';
import { answerTurn, inputTurn } from '../../../src/core/conversation/turn.ts';
import { lastTurnOf } from './book.ts';
import { planCompaction } from './compacting.ts';
import type { Answer, Book, Branch, Compaction, Input, Job, OpenCall } from './book.ts';
import type { Round } from './dice.ts';
import { BY_RULE, expectedPrompt, noteOf } from './entries.ts';
import type { Call, Entry } from './entries.ts';

/** The calls that a run is expected to make, in order. */
export type Expected =
  | { kind: 'model'; prompt: string[]; branch: string; answer: Answer; isHeld: boolean }
  /** `told`: the texts that it receives. */
  | { kind: 'summary'; told: string[]; branch: string; answer: Answer; isHeld: boolean }
  | { kind: 'tools'; calls: readonly Call[]; isHeld: boolean };

const LAST: Round = { calls: [], how: 'say', hold: null };

/** A run begins, or a paused one is released or stopped. Returns the calls that the run makes until its next pause. */
export function goOn(book: Book): Expected[] {
  const asked: Expected[] = [];
  book.status = 'running';
  resume(book);
  while (step(book, asked));
  return asked;
}

/** A call that a stop request ended meanwhile has no result. */
function resume(book: Book): void {
  const { held, job } = book;
  book.held = null;
  if (held === null || job === null || job.stopRequest !== null) return;
  if (held.kind === 'tools') takeResults(book, job);
  else if (held.kind === 'summary') takeSummary(book, job, held.upto, held.answer);
  else take(book, job, held.round, held.answer);
}

/** False: nothing is runnable. */
function step(book: Book, asked: Expected[]): boolean {
  const { job } = book;
  if (job === null) return admitNext(book);
  if (job.stopRequest !== null)
    return end(book, job, job.stopRequest.kind === 'cancel' ? 'cancelled' : 'interrupted');
  if (job.compaction !== null) return compact(book, job, job.compaction, asked);
  const unanswered = job.open.filter(({ status, reply }) => status === 'waiting' && reply === null);
  if (job.open.length > 0 && unanswered.length === job.open.length) return wait(book, job);
  const replied = job.open.filter(({ reply }) => reply !== null);
  if (replied.length > 0) return close(book, job, replied);
  if (job.open.length > 0) return callTools(book, job, asked);
  if (job.steers.length > 0) return join(book, job);
  const last = book.branchOf(job.branch).list.findLast(({ role }) => role !== 'system');
  if (last === undefined) return end(book, job, 'failed');
  if (last.role === 'assistant' && !last.isPause)
    return end(book, job, last.jobId === job.id ? 'completed' : 'failed');
  if (job.maxSteps !== null && job.steps >= job.maxSteps) return end(book, job, 'incomplete');
  return callModel(book, job, asked);
}

function admitNext(book: Book): boolean {
  const [next] = book.queue;
  if (next === undefined) {
    book.status = 'idle';
    return false;
  }
  begin(book, next);
  return true;
}

/** The input takes the next turn; a run without an input answers the last one again. */
export function begin(book: Book, job: Job): void {
  const branch = book.branchOf(job.branch);
  const last = lastTurnOf(branch.list);
  job.status = 'running';
  job.turn = job.input === null ? last : last + 1;
  if (job.input !== null) enter(book, branch, job, job.input, job.turn);
}

function enter(book: Book, branch: Branch, job: Job, { id, words }: Input, turn: number): void {
  const fresh = { calls: [], isPause: false, of: null, jobId: job.id };
  book.add(branch, { ...fresh, id, words, role: 'user', type: 'text', turn: inputTurn(turn) });
}

function join(book: Book, job: Job): true {
  for (const input of job.steers.splice(0)) {
    job.turn += 1;
    enter(book, book.branchOf(job.branch), job, input, job.turn);
  }
  return true;
}

function wait(book: Book, job: Job): false {
  job.status = 'waiting';
  book.status = 'waiting';
  return false;
}

function callTools(book: Book, job: Job, asked: Expected[]): boolean {
  const here = job.open.filter(({ status }) => status === 'pending');
  asked.push({ kind: 'tools', calls: here.map(({ call }) => call), isHeld: job.holdsTools });
  for (const open of here) if (open.call.tool === 'mail') open.status = 'started';
  if (!job.holdsTools) return takeResults(book, job);
  book.held = { kind: 'tools' };
  return false;
}

/** Calls that may be repeated are started, and end, first. */
function takeResults(book: Book, job: Job): true {
  const here = job.open.filter(({ status }) => status !== 'waiting');
  const first = here.filter(({ call }) => call.tool !== 'mail');
  return close(book, job, [...first, ...here.filter((open) => !first.includes(open))]);
}

function close(book: Book, job: Job, closed: readonly OpenCall[], isByRule = false): true {
  for (const { call, reply } of closed) {
    const words = reply?.words ?? (isByRule ? BY_RULE : `${call.tool} ${call.number}`);
    book.add(book.branchOf(job.branch), {
      id: reply?.id ?? null,
      role: 'tool',
      type: 'tool_result',
      turn: answerTurn(job.turn),
      words,
      calls: [],
      isPause: false,
      of: call.id,
      jobId: job.id,
    });
  }
  job.open = job.open.filter((open) => !closed.includes(open));
  job.status = 'running';
  return true;
}

function callModel(book: Book, job: Job, asked: Expected[]): boolean {
  const round = job.plan.shift() ?? LAST;
  const answer = answerTo(book, round);
  const isHeld = round.hold === 'model';
  const branch = book.branchOf(job.branch);
  const prompt = expectedPrompt(branch.list, book.standsFor(branch));
  asked.push({ kind: 'model', prompt, branch: job.branch, answer, isHeld });
  if (!isHeld) return take(book, job, round, answer);
  book.held = { kind: 'model', round, answer };
  return false;
}

function answerTo(book: Book, { how, calls }: Round): Answer {
  return {
    how,
    words: `said ${book.number()}`,
    calls: calls.map((tool) => ({ id: v7() as ToolCallId, tool, number: book.number() })),
  };
}

function take(book: Book, job: Job, round: Round, { how, words, calls }: Answer): true {
  if (how === 'fail') return end(book, job, 'failed');
  const isQuestion = calls.some(({ tool }) => tool === 'ask_user');
  book.add(book.branchOf(job.branch), {
    id: ids.answer(job.id, job.steps),
    role: 'assistant',
    type: isQuestion ? 'question' : calls.length > 0 ? 'tool_call' : 'text',
    turn: answerTurn(job.turn),
    words,
    calls,
    isPause: how === 'pause',
    of: null,
    jobId: job.id,
  });
  job.steps += 1;
  book.requests += 1;
  job.holdsTools = round.hold === 'tools';
  job.open = calls.map((call) => ({
    call,
    status: call.tool === 'ask_user' || call.tool === 'locate' ? 'waiting' : 'pending',
    reply: null,
  }));
  return true;
}

/** The round is over once all runnable calls have ended. */
function compact(book: Book, job: Job, compaction: Compaction, asked: Expected[]): boolean {
  const branch = book.branchOf(job.branch);
  const plan = planCompaction(book, branch, compaction);
  if (plan === null) return end(book, job, 'completed');
  if (compaction.type === 'threshold') {
    book.compactions.push({ branch: job.branch, words: null, upto: plan.upto });
    return true;
  }
  const { isHeld, how } = compaction;
  const answer: Answer = { how, words: `sum ${book.number()}`, calls: [] };
  asked.push({ kind: 'summary', told: plan.told, branch: job.branch, answer, isHeld });
  if (!isHeld) return takeSummary(book, job, plan.upto, answer);
  book.held = { kind: 'summary', upto: plan.upto, answer };
  return false;
}

function takeSummary(book: Book, job: Job, upto: Entry, { how, words }: Answer): true {
  if (how === 'fail') return end(book, job, 'failed');
  book.compactions.push({ branch: job.branch, words, upto });
  job.summaries += 1;
  book.requests += 1;
  return true;
}

/**
 * A job ends: open calls get results by rule; inputs that were to join it enter, or are retracted with all it added.
 */
export function end(book: Book, job: Job, status: FinishedStatus): true {
  const branch = book.branchOf(job.branch);
  const mode = job.stopRequest?.kind === 'interrupt' ? job.stopRequest.mode : 'keep';
  if (mode === 'keep') close(book, job, job.open, true);
  else takeBack(book, branch, job, mode);
  join(book, job);
  job.status = status;
  branch.messages += branch.list.filter(({ jobId }) => jobId === job.id).length;
  branch.requests += job.steps + job.summaries;
  return true;
}

function takeBack(book: Book, branch: Branch, job: Job, mode: 'discard' | 'rollback'): void {
  const added = branch.list.filter(({ jobId }) => jobId === job.id);
  const idle = job.open.filter((open) => !hasBegun(open)).map(({ call }) => call.id);
  const begun = added.flatMap(({ calls }) => calls).filter(({ id }) => !idle.includes(id));
  const gone = added.filter(({ role }) => mode === 'rollback' || role !== 'user');
  for (const entry of gone) entry.status = 'retracted';
  branch.list = branch.list.filter(({ status }) => status === 'stands');
  if (mode === 'rollback') job.steers = [];
  job.open = [];
  if (begun.length === 0) return;
  // It comes after the last turn, with those that are about to join.
  const turn = answerTurn(Math.max(1, lastTurnOf(branch.list) + job.steers.length));
  const note = { role: 'system' as const, type: 'text' as const, turn, words: noteOf(begun) };
  book.add(branch, {
    ...note,
    id: null as MessageId | null,
    calls: [],
    isPause: false,
    of: null,
    jobId: job.id,
  });
}

/** A question without an answer had no effect. */
function hasBegun({ call, status, reply }: OpenCall): boolean {
  if (call.tool === 'ask_user') return reply !== null;
  return call.tool === 'look' || call.tool === 'locate' || status === 'started';
}
