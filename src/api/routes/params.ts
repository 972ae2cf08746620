/** Ids in paths. What is malformed names nothing. */
import { refuse } from '../../core/errors.ts';
import { parseId } from '../../core/ids.ts';
import type { ContextId, JobId, MessageId, ToolCallId, WorkerId } from '../../core/ids.ts';
import { RequestRefused, orNotFound } from '../problem.ts';
import { Uuid, strict } from '../schemas/common.ts';

export const IdParams = strict({ id: Uuid });
export const MessageParams = strict({ id: Uuid, message_id: Uuid });
export const ToolCallParams = strict({ id: Uuid, tool_call_id: Uuid });

export function workerId(text: string): WorkerId {
  return orNotFound(parseId<WorkerId>(text), noWorker(text));
}

export function contextId(text: string): ContextId {
  return orNotFound(parseId<ContextId>(text), noContext(text));
}

export function messageId(text: string): MessageId {
  return orNotFound(parseId<MessageId>(text), `There is no message ${text}.`);
}

export function toolCallId(text: string): ToolCallId {
  return orNotFound(parseId<ToolCallId>(text), `There is no tool call ${text}.`);
}

export function jobId(text: string): JobId {
  return orNotFound(parseId<JobId>(text), noJob(text));
}

/** Of the worker that another one is made by; null where none was named. */
export function parentId(text: string | null | undefined): WorkerId | null {
  if (text === null || text === undefined) return null;
  const id = parseId<WorkerId>(text);
  if (id === null) throw new RequestRefused(refuse('not_found', noWorker(text), 'parent_worker_id'));
  return id;
}

export function noWorker(id: string): string {
  return `There is no worker ${id}.`;
}

export function noContext(id: string): string {
  return `There is no context ${id}.`;
}

export function noJob(id: string): string {
  return `There is no job ${id}.`;
}
