// Each question is answered once, by the request of one client that got a 202; every other request got an error.
import { isToolResult } from '../../../src/core/conversation/blocks.ts';
import { expectedOf } from '../world/expected-jobs.ts';
import { groupBy, type Check, type Violation, type World } from '../world/world.ts';
import type { StoredCall, StoredJob, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('questions');

/** The answers that got a 202. `callId` null: a plain input, whose question is not known. */
type Given = {
  tag: string;
  contextId: string;
  jobId: string;
  messageId: string | null;
  callId: string | null;
  content: string;
};

export const questions: Check = {
  name: 'questions',
  find(world) {
    const calls = world.calls.filter(({ asked }) => asked);
    const given = givenIn(world);
    const byMessage = groupBy(given, ({ messageId }) => messageId);
    const messages = new Map(world.messages.map((message) => [message.id, message]));
    const jobs = new Map(world.jobs.map((job) => [job.id, job]));
    return [
      ...world.replies
        .filter(({ outcome }) => outcome.kind === 'pending')
        .map(({ contextId, key, callId }) => violation('an answer never got through', contextId, key, callId)),
      ...given.flatMap((one) => lostFaults(one, calls)),
      ...calls.flatMap((call) => [
        ...callFaults(call, jobs.get(call.job_id)),
        ...(call.reply === null ? [] : replyFaults(call, byMessage.get(call.id) ?? [], messages)),
      ]),
    ];
  },
};

function givenIn(world: World): Given[] {
  const byEndpoint = world.replies.flatMap(({ key, contextId, callId, content, outcome }): Given[] =>
    outcome.kind === 'accepted'
      ? [{ tag: key, contextId, jobId: outcome.jobId, messageId: outcome.messageId, callId, content }]
      : [],
  );
  const byInput = expectedOf(world)
    .filter(({ as }) => as === 'reply')
    .map(({ input, jobId, messageId }): Given => {
      const { tag, contextId, script } = input;
      return { tag, contextId, jobId, messageId, callId: null, content: script.text };
    });
  return [...byEndpoint, ...byInput];
}

/** The accepted answer is that of this call, in this job. */
function lostFaults(one: Given, calls: readonly StoredCall[]): Violation[] {
  const call = calls.find(({ id, reply }) => id === one.messageId && reply !== null);
  const ids = [one.tag, one.callId, one.messageId];
  if (call === undefined) return [violation('an accepted answer is lost', one.contextId, ...ids)];
  if (one.callId !== null && call.id !== one.callId)
    return [violation('an answer was given to another call', one.contextId, call.id, ...ids)];
  return call.job_id === one.jobId
    ? []
    : [violation('an answer names another job', one.contextId, call.job_id, ...ids)];
}

/** An answer that came in time counts, however the job ended. */
function callFaults(call: StoredCall, job: StoredJob | undefined): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, call.context_id, call.id, call.job_id));
  const answered = call.status === 'completed' || call.status === 'failed';
  if (answered && call.reply === null) note('a question was answered by no client');
  if (call.reply !== null && !answered) note(`a question was answered, and is ${call.status}`);
  if (call.status === 'cancelled' && job?.stop_kind === null && job.status === 'completed')
    note('a question was given up without a stop request');
  return faults;
}

function replyFaults(
  call: StoredCall,
  given: readonly Given[],
  messages: ReadonlyMap<string, StoredMessage>,
): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string, ...ids: (string | null)[]): void =>
    void faults.push(violation(what, call.context_id, call.id, ...ids));
  const [one] = given;
  if (one === undefined)
    return [violation('a question was answered by an answer that no client posted', call.context_id, call.id)];
  if (given.length > 1) note(`a question was answered ${given.length} times`, ...given.map(({ tag }) => tag));
  const message = messages.get(call.id);
  if (message === undefined) {
    // A job that was withdrawn before it read the answer leaves none in history.
    if (messages.get(call.message_id)?.status !== 'retracted') note('its answer never became history', one.tag);
    return faults;
  }
  const results = message.content.filter(isToolResult);
  const result = results.find(({ tool_use_id: id }) => (id as string) === call.id);
  if (message.role !== 'tool' || result === undefined) note('its answer is not its result', message.id);
  else if (result.content !== one.content) note('its answer is not what was posted', message.id, one.tag);
  return faults;
}
