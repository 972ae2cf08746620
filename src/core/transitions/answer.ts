/** The model answered: its message, and a row for each call it asks for. */
import type { Append, CallChange, Entry } from '../append.ts';
import { isToolUse, markThought } from '../blocks.ts';
import type { ToolUseBlock } from '../blocks.ts';
import type { JobId, MessageId } from '../ids.ts';
import type { ActiveJob } from '../job.ts';
import type { MessageType, NewMessage } from '../message.ts';
import type { ModelAnswer } from '../model.ts';
import { ruleOn } from '../policy.ts';
import type { Asking } from '../policy.ts';
import { parseQuestion } from '../question.ts';
import type { Question } from '../question.ts';
import { sleepFrom } from '../sleep.ts';
import type { Settings } from '../settings.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Millis } from '../time.ts';
import type { Wait } from '../tool-call.ts';
import { answerTurn } from '../turn.ts';
import { addUsage } from '../usage.ts';
import { blank, event, stateChange } from './base.ts';
import { stateOf } from './tools.ts';

/**
 * `now`: when calls begin to wait, for answers from outside or for a moment. Guarded by nothing but the epoch: an answer that
 * was paid for is kept, even where a stop is on its way.
 */
export function answer(
  snapshot: Snapshot,
  job: ActiveJob,
  settings: Settings,
  id: MessageId,
  given: ModelAnswer,
  now: Millis,
): Append {
  const uses = given.content.filter(isToolUse);
  const { answerMs } = settings.asking;
  const wait: Wait = { for: 'answer', until: answerMs === null ? null : now + answerMs, needs: null };
  const asked = uses.map((use) => requestOf(settings, use));
  const waits = uses.map((use, at) => (asked[at] ? wait : timerOf(settings, use, now)));
  const calls = uses.map((use, at) => requestedCall(job, settings, id, use, at, waits[at] ?? null));
  const to = stateOf(calls.map(({ wait }) => ({ status: wait === null ? 'pending' : 'waiting', wait })));
  return {
    ...blank(snapshot),
    entries: [
      { kind: 'message', message: answerMessage(job, settings, id, given) },
      ...uses.flatMap((use, at) => {
        const request = asked[at];
        return request ? [requestEntry(use, request, job.id)] : [];
      }),
      ...stateChange(snapshot.state, to, job.id),
    ],
    calls,
    job: { kind: 'progress', job: answered(job, given) },
    state: to,
  };
}

/** The job after an answer: one step more, failures forgotten. */
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

export function answerMessage(
  job: ActiveJob,
  settings: Settings,
  id: MessageId,
  given: ModelAnswer,
): NewMessage {
  return {
    id,
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

/** What somebody outside is to answer. `question` null: a client is to run the call. */
type Asked = { question: Question | null };

/**
 * Null: the call is taken up here, as is one that was to ask a person and holds no question, which its tool says; and one
 * that rules hold back before anybody outside is asked.
 */
function requestOf({ tools, asking }: Settings, { name, input }: ToolUseBlock): Asked | null {
  if (isThrottled(asking, name)) return null;
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

/** Null: it waits for no moment; so does one whose arguments name none, which its tool says. */
function timerOf({ tools, asking }: Settings, { name, input }: ToolUseBlock, now: Millis): Wait | null {
  if (isThrottled(asking, name)) return null;
  if (tools.find((tool) => tool.name === name)?.answered_by !== 'timer') return null;
  return sleepFrom(input, now);
}

/** Rules say that it is judged before anything else becomes of it. */
function isThrottled({ rules }: Asking, name: string): boolean {
  return (ruleOn(rules, name) ?? 'never') !== 'never';
}

function requestEntry({ id, name, input }: ToolUseBlock, { question }: Asked, jobId: JobId): Entry {
  return event({
    name: 'InputRequested',
    data: {
      tool_call_id: id,
      name,
      job_id: jobId,
      question: question?.question ?? null,
      choices: question?.choices ?? null,
      input: question === null ? input : null,
    },
  });
}

function requestedCall(
  job: ActiveJob,
  { tools }: Settings,
  messageId: MessageId,
  { id, name }: ToolUseBlock,
  ordinal: number,
  wait: Wait | null,
): Extract<CallChange, { kind: 'request' }> {
  const tool = tools.find((known) => known.name === name);
  const call = {
    id,
    messageId,
    jobId: job.id,
    ordinal,
    name,
    // A tool that is not there cannot do anything: its error result may be made twice.
    effect: tool?.effect ?? 'none',
    onUnknown: tool?.on_unknown ?? 'tell',
  };
  return { kind: 'request', call, wait };
}
