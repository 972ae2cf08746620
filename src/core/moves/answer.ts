/** The model answered: its message, and a row for each call it asks for. */
import type { Append, CallChange } from '../append.ts';
import { isToolUse } from '../blocks.ts';
import type { MessageId } from '../ids.ts';
import type { ActiveJob } from '../job.ts';
import type { NewMessage } from '../message.ts';
import type { ModelAnswer } from '../model.ts';
import type { Settings } from '../settings.ts';
import type { Snapshot } from '../snapshot.ts';
import type { ToolCall } from '../tool-call.ts';
import { answerTurn } from '../turn.ts';
import { addUsage } from '../usage.ts';
import { blank, stateChange } from './base.ts';

/** Guarded by nothing but the epoch: an answer that was paid for is kept, even where a stop is on its way. */
export function answer(
  snapshot: Snapshot,
  job: ActiveJob,
  settings: Settings,
  id: MessageId,
  given: ModelAnswer,
): Append {
  const calls = requestedCalls(job, settings, id, given);
  const to = calls.length > 0 ? 'ExecutingTools' : 'AwaitingLLMResponse';
  return {
    ...blank(snapshot),
    entries: [
      { kind: 'message', message: answerMessage(job, settings, id, given) },
      ...stateChange(snapshot.state, to, job.id),
    ],
    calls: calls.map((call): CallChange => ({ kind: 'request', call })),
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
    type: given.content.some(isToolUse) ? 'tool_call' : 'text',
    turn: answerTurn(job.turn),
    content: given.content,
    jobId: job.id,
    model: {
      modelId: given.modelId,
      providerId: settings.model.provider,
      usage: given.usage,
      finishReason: given.finishReason,
    },
  };
}

function requestedCalls(
  job: ActiveJob,
  settings: Settings,
  messageId: MessageId,
  given: ModelAnswer,
): ToolCall[] {
  return given.content.filter(isToolUse).map((use, ordinal) => {
    const tool = settings.tools.find((known) => known.name === use.name);
    return {
      id: use.id,
      messageId,
      jobId: job.id,
      ordinal,
      name: use.name,
      // A tool that is not there cannot do anything: its error result may be made twice.
      effect: tool?.effect ?? 'none',
      onUnknown: tool?.on_unknown ?? 'tell',
    };
  });
}
