/** The model answered: its message, and a row for each call it requests. */
import type { Append, CallChange, Entry } from '../run/append.ts';
import { isToolUse, markThought, type Block, type ToolUseBlock } from '../conversation/blocks.ts';
import type { MessageId } from '../ids.ts';
import type { ActiveJob, JobOutcome } from '../run/job.ts';
import type { MessageType, NewMessage } from '../conversation/message.ts';
import type { ModelAnswer } from '../model/model.ts';
import { ruleOn, type Asking } from '../run/policy.ts';
import { parseQuestion, type Question } from '../conversation/question.ts';
import { sleepFrom } from '../run/sleep.ts';
import type { Settings } from '../workers/settings.ts';
import type { JudgedOutput } from '../run/output.ts';
import type { Mailbox, ServedJob, Snapshot } from '../run/snapshot.ts';
import type { Millis } from '../time.ts';
import type { ToolCall, Wait } from '../tools/tool-call.ts';
import { askedWait } from '../run/wait.ts';
import { answerTurn } from '../conversation/turn.ts';
import { addUsage } from '../money/usage.ts';
import { blank, inputRequested, stateChange } from './base.ts';
import { settle } from './settle.ts';
import { stateOf } from './tools.ts';

export type NewAnswer = ModelAnswer & { id: MessageId };

/**
 * `now`: when calls start to wait for answers or timers. Guarded only by the epoch: an answer that was paid for is
 * stored even if a stop request is on its way.
 */
export function answer(snapshot: Snapshot, { job, settings }: ServedJob, given: NewAnswer, now: Millis): Append {
  const uses = given.content.filter(isToolUse);
  const wait = askedWait('answer', settings.asking, now);
  const requests = uses.map((use) => requestOf(settings, use));
  const waits = uses.map((use, at) => (requests[at] ? wait : timerOf(settings, use, now)));
  const to = stateOf(waits.map((wait) => ({ status: wait === null ? 'pending' : 'waiting', wait })));
  return {
    ...blank(snapshot),
    entries: [
      { kind: 'message', message: answerMessage(job, settings, given) },
      ...uses.flatMap((use, at) => {
        const request = requests[at];
        return request ? [inputRequested(use, request.question, job.id)] : [];
      }),
      ...stateChange(snapshot.state, to, job.id),
    ],
    calls: uses.map((use, at): CallChange => {
      const call = { ...requestedCall(settings, use), messageId: given.id, jobId: job.id, ordinal: at };
      return { kind: 'request', call, wait: waits[at] ?? null };
    }),
    job: { kind: 'progress', job: answered(job, given) },
    state: to,
  };
}

/** An answer without calls ends the job. Guarded like `settle`. */
export function completed(snapshot: Snapshot, { job, settings }: ServedJob, given: NewAnswer): Append {
  const outcome: JobOutcome = { status: 'completed', outputId: given.id };
  const settled = settle(snapshot, answered(job, given), outcome);
  const message = answerMessage(job, settings, given);
  return { ...settled, entries: [{ kind: 'message', message }, ...settled.entries] };
}

/**
 * The outcome of a stored answer that is final. `noteId`: for the note with its faults, if it has any. Guarded like
 * `settle`: an input that joins meanwhile is answered first.
 */
export function judged(
  mailbox: Mailbox,
  job: ActiveJob,
  { output, answerId, noteId }: { output: JudgedOutput; answerId: MessageId; noteId: MessageId },
): Append {
  switch (output.kind) {
    case 'matches':
      return settle(mailbox, job, { status: 'completed', outputId: answerId, hasData: true });
    case 'failed': {
      const settled = settle(mailbox, job, { status: 'failed', error: output.error, outputId: answerId });
      return { ...settled, entries: [correction(job, noteId, output.note), ...settled.entries] };
    }
    case 'ask_again':
      return {
        ...blank(mailbox),
        guard: { controlSeq: mailbox.controlSeq, wakeSeq: null },
        entries: [correction(job, noteId, output.note), ...stateChange(mailbox.state, 'AwaitingLLMResponse', job.id)],
        job: { kind: 'progress', job: { ...job, status: 'running', corrections: job.corrections + 1 } },
        state: 'AwaitingLLMResponse',
      };
  }
}

/** The same with the answer itself, in one append. */
export function answeredAndJudged(
  snapshot: Snapshot,
  { job, settings }: ServedJob,
  given: NewAnswer,
  { output, noteId }: { output: JudgedOutput; noteId: MessageId },
): Append {
  const append = judged(snapshot, answered(job, given), { output, answerId: given.id, noteId });
  return { ...append, entries: [{ kind: 'message', message: answerMessage(job, settings, given) }, ...append.entries] };
}

function correction(job: ActiveJob, id: MessageId, text: string): Entry {
  const place = { turn: answerTurn(job.turn), jobId: job.id };
  const content: Block[] = [{ type: 'text', text }];
  return { kind: 'message', message: { id, role: 'system', type: 'correction', ...place, content, model: null } };
}

/** The job after an answer: one more step, failures reset. */
export function answered(job: ActiveJob, given: ModelAnswer): ActiveJob {
  return {
    ...job,
    status: 'running',
    steps: job.steps + 1,
    failures: 0,
    retryAt: null,
    lastFailure: null,
    usage: addUsage(job.usage, given.usage),
  };
}

export function answerMessage(job: ActiveJob, settings: Settings, given: NewAnswer): NewMessage {
  return {
    id: given.id,
    role: 'assistant',
    type: typeOf(settings, given),
    turn: answerTurn(job.turn),
    content: given.content.map((block) => markThought(block, settings.model.model)),
    jobId: job.id,
    model: {
      modelId: given.modelId,
      providerId: settings.model.provider,
      usage: given.usage,
      finishReason: given.finishReason,
    },
  };
}

function typeOf(settings: Settings, { content }: ModelAnswer): MessageType {
  const calls = content.filter(isToolUse);
  if (calls.some((use) => requestOf(settings, use)?.question)) return 'question';
  if (calls.length > 0) return 'tool_call';
  return settings.mode === 'plan' ? 'plan' : 'text';
}

/** An answer needed from outside. `question` null: a client must run the call. */
type Asked = { question: Question | null };

/**
 * Null: the call is handled here. That includes a call to ask a person without a valid question, for which the tool
 * returns an error, and a call that rules check before it may leave the platform.
 */
function requestOf({ tools, asking }: Settings, { name, input }: ToolUseBlock): Asked | null {
  if (isRestricted(asking, name)) return null;
  switch (tools.find((tool) => tool.name === name)?.answered_by) {
    case undefined:
    case 'tool':
    case 'timer':
    case 'workers':
      return null;
    case 'client':
      return { question: null };
    case 'person': {
      const question = parseQuestion(input);
      return question === null ? null : { question };
    }
  }
}

/** Null: no timer. That includes arguments without a valid time, for which the tool returns an error. */
function timerOf({ tools, asking }: Settings, { name, input }: ToolUseBlock, now: Millis): Wait | null {
  if (isRestricted(asking, name)) return null;
  if (tools.find((tool) => tool.name === name)?.answered_by !== 'timer') return null;
  return sleepFrom(input, now);
}

/** Whether rules require a check (approval or denial) before the call does anything. */
function isRestricted({ rules }: Asking, name: string): boolean {
  return (ruleOn(rules, name) ?? 'never') !== 'never';
}

function requestedCall(
  { tools }: Settings,
  { id, name }: ToolUseBlock,
): Pick<ToolCall, 'id' | 'name' | 'effect' | 'onUnknown'> {
  const tool = tools.find((known) => known.name === name);
  return {
    id,
    name,
    // An unknown tool has no side effects: its error result may be produced twice.
    effect: tool?.effect ?? 'none',
    onUnknown: tool?.on_unknown ?? 'tell',
  };
}
