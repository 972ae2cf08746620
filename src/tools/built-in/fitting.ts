/** Shortens results to the limit of a tool result before they become JSON text, so that the JSON stays valid. */
import { headOf } from '../run/truncate.ts';

/** Shortens the text `member` of `result` so that the JSON text has at most `limit` UTF-16 units. */
export function fitting<Result extends object, Member extends keyof Result>(
  result: Result,
  member: Member & (Result[Member] extends string ? unknown : never),
  limit: number,
): { result: Result; cut: boolean } {
  const text = String(result[member]);
  // Removing one unit of the text shortens the JSON by one or more.
  const over = JSON.stringify(result).length - limit;
  if (over <= 0) return { result, cut: false };
  return { result: { ...result, [member]: headOf(text, Math.max(0, text.length - over)) }, cut: true };
}
