/**
 * Ids are UUIDv7 strings made in the application, branded so that one kind cannot stand for another.
 * Core never makes one by itself: an `Ids` port is handed in.
 */
import type { Millis } from './time.ts';

declare const kind: unique symbol;
type Id<Kind extends string> = string & { readonly [kind]: Kind };

export type TenantId = Id<'tenant'>;
export type WorkerId = Id<'worker'>;
export type ContextId = Id<'context'>;
export type JobId = Id<'job'>;
export type MessageId = Id<'message'>;
export type ToolCallId = Id<'tool_call'>;
export type CompactionId = Id<'compaction'>;
export type ProcessId = Id<'process'>;

/** Makes ids: UUIDv7 in production, a counter in tests. */
export type Ids = { next<T extends Id<string>>(): T };

/** Makes ids for runs: that of an answer is known before the model is called, and is the same at every attempt. */
export type RunIds = Ids & { answer(jobId: JobId, step: number): MessageId };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether `text` is a UUID; anything else names nothing that exists. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The parser of ids at an edge: a lower-case UUID of the wanted kind, or null. */
export function parseId<T extends Id<string>>(text: string): T | null {
  return isUuid(text) ? (text.toLowerCase() as T) : null;
}

/** When an id was made, by the clock of the process that made it: the first 48 bits of a UUIDv7 say so. */
export function madeAt(id: Id<string>): Millis {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The tenant of an API without keys. */
export const DEFAULT_TENANT = 'default' as TenantId;
