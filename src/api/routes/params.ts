/** Ids in paths. A malformed id is answered with 404. */
import { Type } from 'typebox';
import {
  parseId,
  type ContextId,
  type JobId,
  type MessageId,
  type ProcessId,
  type ScheduleId,
  type ToolCallId,
  type WorkerId,
} from '../../core/ids.ts';
import { noProcess } from '../../commands/processes/request-status.ts';
import { orNotFound, refused } from '../response/problem.ts';
import { Uuid } from '../schemas/common.ts';
import { strict } from '../../schema/build.ts';

export const IdParams = strict({ id: Uuid });
export const MessageParams = strict({ id: Uuid, message_id: Uuid });
export const GrantParams = strict({ id: Uuid, tool: Type.String({ maxLength: 200 }) });
export const ToolCallParams = strict({ id: Uuid, tool_call_id: Uuid });

export function workerId(text: string): WorkerId {
  return orNotFound(parseId<WorkerId>(text), noWorker(text));
}

export function contextId(text: string): ContextId {
  return orNotFound(parseId<ContextId>(text), noContext(text));
}

export function messageId(text: string): MessageId {
  return orNotFound(parseId<MessageId>(text), `No message has the id ${text}.`);
}

export function toolCallId(text: string): ToolCallId {
  return orNotFound(parseId<ToolCallId>(text), `No tool call has the id ${text}.`);
}

/** Tools of MCP servers are named `server__tool`. */
export function toolName(text: string): string {
  return orNotFound(/^[a-zA-Z0-9_-]{1,200}$/.test(text) ? text : null, `No tool has the name ${text}.`);
}

export function jobId(text: string): JobId {
  return orNotFound(parseId<JobId>(text), noJob(text));
}

export function processId(text: string): ProcessId {
  return orNotFound(parseId<ProcessId>(text), noProcess(text));
}

export function scheduleId(text: string): ScheduleId {
  return orNotFound(parseId<ScheduleId>(text), `No schedule has the id ${text}.`);
}

/** The id of the parent worker; null where none was given. */
export function parentId(text: string | null | undefined): WorkerId | null {
  if (text === null || text === undefined) return null;
  const id = parseId<WorkerId>(text);
  if (id === null) throw refused('not_found', noWorker(text), 'parent_worker_id');
  return id;
}

export function noWorker(id: string): string {
  return `No worker has the id ${id}.`;
}

export function noContext(id: string): string {
  return `No context has the id ${id}.`;
}

export function noJob(id: string): string {
  return `No job has the id ${id}.`;
}
