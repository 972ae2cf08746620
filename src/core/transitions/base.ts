/** Shared parts of all transitions: an append without changes, and the events for changes. */
import type { Append, Entry } from '../run/append.ts';
import type { ToolUseBlock } from '../conversation/blocks.ts';
import type { Question } from '../conversation/question.ts';
import type { ContextEvent } from '../stream/event.ts';
import type { JobId } from '../ids.ts';
import type { Mailbox } from '../run/snapshot.ts';
import { mayFollow, type DurableState } from '../run/state.ts';

/** An append under the mailbox's lease that keeps its state and is guarded only by the epoch. */
export function blank(mailbox: Mailbox): Append {
  return {
    lease: mailbox.lease,
    branch: mailbox.activeBranch,
    guard: { controlSeq: null, wakeSeq: null },
    entries: [],
    calls: [],
    spawns: [],
    awaits: [],
    released: [],
    takenBack: null,
    job: null,
    compaction: null,
    modelCall: null,
    state: mailbox.state,
    park: null,
    failure: 'keep',
    progress: 'made',
  };
}

export function event(event: ContextEvent): Entry {
  return { kind: 'event', event };
}

/** The event that asks for an answer from outside. `question` null: a client must run the call. */
export function inputRequested(
  { id, name, input }: Pick<ToolUseBlock, 'id' | 'name' | 'input'>,
  question: Question | null,
  jobId: JobId,
): Entry {
  const asked = { question: question?.question ?? null, choices: question?.choices ?? null };
  const data = { tool_call_id: id, name, job_id: jobId, ...asked, input: question === null ? input : null };
  return event({ name: 'InputRequested', data });
}

/** The event of a state change; none if the state stays the same. A transition not in the table is a bug. */
export function stateChange(from: DurableState, to: DurableState, jobId: JobId | null): Entry[] {
  if (!mayFollow(from, to)) throw new Error(`The state transition from ${from} to ${to} is not allowed.`);
  return from === to ? [] : [event({ name: 'StateChanged', data: { new_state: to, job_id: jobId } })];
}
