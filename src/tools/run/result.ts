/**
 * Converts the return value of a tool to a result for the model: text or blocks within the limits. Values that are
 * neither a reply nor a string become JSON text.
 */
import type { ResultPart } from '../../core/conversation/blocks.ts';
import type { ToolOutcome } from '../../core/tools/tool.ts';
import { AS_IT_IS, type Hide } from '../packages/hide.ts';
import { textOf } from './json-text.ts';
import { boundedParts, hiddenParts, parseParts } from './parts.ts';
import { truncate } from './truncate.ts';

export type ToolResult = Extract<ToolOutcome, { kind: 'result' }>;

/** `limit`: characters of text. `hide`: before texts are cut. Throws if a value cannot be converted to JSON. */
export function resultOf(returned: unknown, limit: number, hide: Hide = AS_IT_IS): ToolResult {
  const reply = replyOf(returned);
  const parts = reply.whole ? null : parseParts(reply.content);
  const content =
    parts === null ? truncate(hide(textOf(reply.content)), limit) : boundedParts(hiddenParts(parts, hide), limit);
  const result: ToolResult = { kind: 'result', content, is_error: reply.isError };
  return reply.summary === undefined ? result : { ...result, compact_summary: truncate(hide(reply.summary), limit) };
}

/** The same for what a tool has returned. Throws `Inexpressible`. */
export function convert(returned: unknown, limit: number, hide: Hide): ToolResult {
  try {
    return resultOf(returned, limit, hide);
  } catch (cause) {
    throw new Inexpressible('The result cannot be converted to text.', { cause });
  }
}

/** `cause`: why the value cannot be converted. */
export class Inexpressible extends Error {
  override name = 'Inexpressible';
}

/** Content from a client; `limit` as above. */
export function boundedContent(content: string | ResultPart[], limit: number): string | ResultPart[] {
  return typeof content === 'string' ? truncate(content, limit) : boundedParts(content, limit);
}

/** An error message for the model. `code`: of an error whose text has none. */
export function errorResult(text: string, code?: string): ToolResult {
  const result: ToolResult = { kind: 'result', content: text, is_error: true };
  return code === undefined ? result : { ...result, code };
}

/** `whole`: the value is not a reply, so all of it is the content. */
type Reply = { whole: boolean; content: unknown; isError: boolean; summary: string | undefined };

const REPLY_MEMBERS = ['content', 'is_error', 'compact_summary'];

/** A reply has no other fields, because the data of a tool may have its own `content`. */
function replyOf(returned: unknown): Reply {
  const whole: Reply = { whole: true, content: returned, isError: false, summary: undefined };
  if (typeof returned !== 'object' || returned === null || !('content' in returned)) return whole;
  if (Object.keys(returned).some((key) => !REPLY_MEMBERS.includes(key))) return whole;
  const isError = 'is_error' in returned ? returned.is_error : undefined;
  const summary = 'compact_summary' in returned ? returned.compact_summary : undefined;
  if (isError !== undefined && typeof isError !== 'boolean') return whole;
  if (summary !== undefined && typeof summary !== 'string') return whole;
  return { whole: false, content: returned.content, isError: isError ?? false, summary };
}
