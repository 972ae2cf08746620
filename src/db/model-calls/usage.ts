/** Stored usage: messages, jobs, branches and contexts have the same columns. */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Usage } from '../../core/money/usage.ts';

const COLUMNS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cost_nanos'];

/** The columns of the table or alias `of`, for a select list. */
export function usageColumns(of: string): SQL {
  return sql.raw(COLUMNS.map((name) => `${of}.${name}`).join(', '));
}

/** The same, for a JSON object. */
export function usageMembers(of: string): SQL {
  return sql.raw(COLUMNS.map((name) => `'${name}', ${of}.${name}`).join(', '));
}

/** The SQL form of `addUsage` for costs: an unknown cost adds nothing. */
export function costSum(cost: string, added: string): SQL {
  return sql.raw(`coalesce(${cost} + ${added}, ${cost}, ${added})`);
}

/** For rows that may have no usage. */
export type UsageColumns = { [Column in keyof Usage]: Usage[Column] | null };

/** Null: the row has no usage. */
export function toUsageOrNull(row: UsageColumns): Usage | null {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos } = row;
  if (input_tokens === null) return null;
  return {
    input_tokens,
    output_tokens: output_tokens ?? 0,
    cache_read_tokens: cache_read_tokens ?? 0,
    cache_write_tokens: cache_write_tokens ?? 0,
    cost_nanos,
  };
}

export function toUsage(row: Usage): Usage {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos } = row;
  return { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos };
}
