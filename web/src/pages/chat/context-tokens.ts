/** How many tokens the next prompt of a branch begins with. Pure. */
import type { ContextCompaction, Message } from 'nightshift/client';

type Answer = Pick<Message, 'seq' | 'status' | 'usage'>;
type Compaction = Pick<ContextCompaction, 'branch' | 'seq' | 'tokens_after'>;

/**
 * Of the last model call with its answer, or of the prompt after a later compaction of this branch: that of another one,
 * which it may share, measured the prompt of that branch. Null: neither is known.
 */
export function tokensOf(
  branch: string,
  messages: readonly Answer[],
  compactions: readonly Compaction[],
): number | null {
  const last = messages.findLast(({ usage, status }) => usage !== null && status === 'completed');
  const own = compactions.filter((one) => one.branch === branch);
  const newest = own.toSorted((one, other) => one.seq - other.seq).at(-1);
  if (newest !== undefined && newest.seq > (last?.seq ?? 0)) return newest.tokens_after;
  if (last?.usage == null) return null;
  const { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = last.usage;
  return input_tokens + cache_read_tokens + cache_write_tokens + output_tokens;
}
