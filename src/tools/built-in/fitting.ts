/** Results within the limit of a tool result as JSON text: a text that was cut there would be no JSON any more. */
import { headOf } from '../truncate.ts';

/** `result` with its text `member` shortened so far that the JSON text has at most `limit` units. */
export function fitting<Result extends object, Member extends keyof Result>(
  result: Result,
  member: Member & (Result[Member] extends string ? unknown : never),
  limit: number,
): { result: Result; cut: boolean } {
  const text = String(result[member]);
  // Each unit that goes takes one of JSON with it, or more.
  const over = JSON.stringify(result).length - limit;
  if (over <= 0) return { result, cut: false };
  return { result: { ...result, [member]: headOf(text, Math.max(0, text.length - over)) }, cut: true };
}
