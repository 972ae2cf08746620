// The progress of the reference's jobs: by the documented rules, one job after the other, up to the next pause or wait.
import type { MessageId, ToolCallId } from '../../../src/core/ids.ts';
import { v7 } from 'uuid';
import { ids } from '../../../src/platform/ids.ts';
import type { FinishedStatus } from '../../../src/core/run/job.ts';
import { answerTurn, inputTurn } from '../../../src/core/conversation/turn.ts';
import {
  lastTurnOf,
  type Answer,
  type Reference,
  type Branch,
  type Compaction,
  type Input,
  type Job,
  type OpenCall,
} from './reference.ts';
import { planCompaction } from './expected-compaction.ts';
import type { Round } from './operations.ts';
import { BY_RULE, expectedPrompt, noteOf, type Call, type Entry } from './entries.ts';

/** The calls that a run is expected to make, in order. */
export type Expected =
  | { kind: 'model'; prompt: string[]; branch: string; answer: Answer; isPaused: boolean }
  /** `texts`: those that it receives. */
  | { kind: 'summary'; texts: string[]; branch: string; answer: Answer; isPaused: boolean }
  | { kind: 'tools'; calls: readonly Call[]; isPaused: boolean };

const LAST: Round = { calls: [], how: 'say', pause: null };

/** A run begins, or a paused one is released or stopped. Returns the calls that the run makes until its next pause. */
export function goOn(reference: Reference): Expected[] {
  const asked: Expected[] = [];
  reference.status = 'running';
  resume(reference);
  while (step(reference, asked));
  return asked;
}

/** A call that a stop request ended meanwhile has no result. */
function resume(reference: Reference): void {
  const { pausedAt, job } = reference;
  reference.pausedAt = null;
  if (pausedAt === null || job === null || job.stopRequest !== null) return;
  if (pausedAt.kind === 'tools') takeResults(reference, job);
  else if (pausedAt.kind === 'summary') takeSummary(reference, job, pausedAt.upto, pausedAt.answer);
  else take(reference, job, pausedAt.round, pausedAt.answer);
}

/** False: nothing is runnable. */
function step(reference: Reference, asked: Expected[]): boolean {
  const { job } = reference;
  if (job === null) return admitNext(reference);
  if (job.stopRequest !== null)
    return end(reference, job, job.stopRequest.kind === 'cancel' ? 'cancelled' : 'interrupted');
  if (job.compaction !== null) return compact(reference, job, job.compaction, asked);
  const unanswered = job.open.filter(({ status, reply }) => status === 'waiting' && reply === null);
  if (job.open.length > 0 && unanswered.length === job.open.length) return wait(reference, job);
  const replied = job.open.filter(({ reply }) => reply !== null);
  if (replied.length > 0) return close(reference, job, replied);
  if (job.open.length > 0) return callTools(reference, job, asked);
  if (job.steers.length > 0) return join(reference, job);
  const last = reference.branchOf(job.branch).list.findLast(({ role }) => role !== 'system');
  if (last === undefined) return end(reference, job, 'failed');
  if (last.role === 'assistant' && !last.isPause)
    return end(reference, job, last.jobId === job.id ? 'completed' : 'failed');
  if (job.maxSteps !== null && job.steps >= job.maxSteps) return end(reference, job, 'incomplete');
  return callModel(reference, job, asked);
}

function admitNext(reference: Reference): boolean {
  const [next] = reference.queue;
  if (next === undefined) {
    reference.status = 'idle';
    return false;
  }
  begin(reference, next);
  return true;
}

/** The input takes the next turn; a run without an input answers the last one again. */
export function begin(reference: Reference, job: Job): void {
  const branch = reference.branchOf(job.branch);
  const last = lastTurnOf(branch.list);
  job.status = 'running';
  job.turn = job.input === null ? last : last + 1;
  if (job.input !== null) enter(reference, branch, job, job.input, job.turn);
}

function enter(reference: Reference, branch: Branch, job: Job, { id, words }: Input, turn: number): void {
  const fresh = { calls: [], isPause: false, of: null, jobId: job.id };
  reference.add(branch, { ...fresh, id, words, role: 'user', type: 'text', turn: inputTurn(turn) });
}

function join(reference: Reference, job: Job): true {
  for (const input of job.steers.splice(0)) {
    job.turn += 1;
    enter(reference, reference.branchOf(job.branch), job, input, job.turn);
  }
  return true;
}

function wait(reference: Reference, job: Job): false {
  job.status = 'waiting';
  reference.status = 'waiting';
  return false;
}

function callTools(reference: Reference, job: Job, asked: Expected[]): boolean {
  const here = job.open.filter(({ status }) => status === 'pending');
  asked.push({ kind: 'tools', calls: here.map(({ call }) => call), isPaused: job.pausesTools });
  for (const open of here) if (open.call.tool === 'mail') open.status = 'started';
  if (!job.pausesTools) return takeResults(reference, job);
  reference.pausedAt = { kind: 'tools' };
  return false;
}

/** Calls that may be repeated are started, and end, first. */
function takeResults(reference: Reference, job: Job): true {
  const here = job.open.filter(({ status }) => status !== 'waiting');
  const first = here.filter(({ call }) => call.tool !== 'mail');
  return close(reference, job, [...first, ...here.filter((open) => !first.includes(open))]);
}

function close(reference: Reference, job: Job, closed: readonly OpenCall[], isByRule = false): true {
  for (const { call, reply } of closed) {
    const words = reply?.words ?? (isByRule ? BY_RULE : `${call.tool} ${call.number}`);
    reference.add(reference.branchOf(job.branch), {
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

function callModel(reference: Reference, job: Job, asked: Expected[]): boolean {
  const round = job.plan.shift() ?? LAST;
  const answer = answerTo(reference, round);
  const isPaused = round.pause === 'model';
  const branch = reference.branchOf(job.branch);
  const prompt = expectedPrompt(branch.list, reference.standsFor(branch));
  asked.push({ kind: 'model', prompt, branch: job.branch, answer, isPaused });
  if (!isPaused) return take(reference, job, round, answer);
  reference.pausedAt = { kind: 'model', round, answer };
  return false;
}

function answerTo(reference: Reference, { how, calls }: Round): Answer {
  return {
    how,
    words: `said ${reference.number()}`,
    calls: calls.map((tool) => ({ id: v7() as ToolCallId, tool, number: reference.number() })),
  };
}

function take(reference: Reference, job: Job, round: Round, { how, words, calls }: Answer): true {
  if (how === 'fail') return end(reference, job, 'failed');
  const isQuestion = calls.some(({ tool }) => tool === 'ask_user');
  reference.add(reference.branchOf(job.branch), {
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
  reference.requests += 1;
  job.pausesTools = round.pause === 'tools';
  job.open = calls.map((call) => ({
    call,
    status: call.tool === 'ask_user' || call.tool === 'locate' ? 'waiting' : 'pending',
    reply: null,
  }));
  return true;
}

/** The round is over once all runnable calls have ended. */
function compact(reference: Reference, job: Job, compaction: Compaction, asked: Expected[]): boolean {
  const branch = reference.branchOf(job.branch);
  const plan = planCompaction(reference, branch, compaction);
  if (plan === null) return end(reference, job, 'completed');
  if (compaction.type === 'threshold') {
    reference.compactions.push({ branch: job.branch, words: null, upto: plan.upto });
    return true;
  }
  const { isPaused, how } = compaction;
  const answer: Answer = { how, words: `sum ${reference.number()}`, calls: [] };
  asked.push({ kind: 'summary', texts: plan.texts, branch: job.branch, answer, isPaused });
  if (!isPaused) return takeSummary(reference, job, plan.upto, answer);
  reference.pausedAt = { kind: 'summary', upto: plan.upto, answer };
  return false;
}

function takeSummary(reference: Reference, job: Job, upto: Entry, { how, words }: Answer): true {
  if (how === 'fail') return end(reference, job, 'failed');
  reference.compactions.push({ branch: job.branch, words, upto });
  job.summaries += 1;
  reference.requests += 1;
  return true;
}

/**
 * A job ends: open calls get results by rule; inputs that were to join it enter, or are retracted with all it added.
 */
export function end(reference: Reference, job: Job, status: FinishedStatus): true {
  const branch = reference.branchOf(job.branch);
  const mode = job.stopRequest?.kind === 'interrupt' ? job.stopRequest.mode : 'keep';
  if (mode === 'keep') close(reference, job, job.open, true);
  else takeBack(reference, branch, job, mode);
  join(reference, job);
  job.status = status;
  branch.messages += branch.list.filter(({ jobId }) => jobId === job.id).length;
  branch.requests += job.steps + job.summaries;
  return true;
}

function takeBack(reference: Reference, branch: Branch, job: Job, mode: 'discard' | 'rollback'): void {
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
  reference.add(branch, {
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
