/** Stored usage: messages, jobs, branches and contexts have the same columns. */
import { sql, type SQL } from 'drizzle-orm';
import type { Usage } from '../../core/money/usage.ts';

const COLUMNS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cost_nanos'];

/** The columns of the table or alias `of`, for a select list. */
export function usageColumns(of: string): SQL {
  return sql.raw(COLUMNS.map((name) => `${of}.${name}`).join(', '));
}

/** The same, as one JSON object. */
export function usageObject(of: string): SQL {
  return sql.raw(`json_build_object(${COLUMNS.map((name) => `'${name}', ${of}.${name}`).join(', ')})`);
}

/** The columns of a statement that stores the usage which its rows give. */
export function usageOf<Row>(of: (row: Row) => Usage) {
  return {
    inputTokens: (row: Row) => of(row).input_tokens,
    outputTokens: (row: Row) => of(row).output_tokens,
    cacheReadTokens: (row: Row) => of(row).cache_read_tokens,
    cacheWriteTokens: (row: Row) => of(row).cache_write_tokens,
    costNanos: (row: Row) => of(row).cost_nanos,
  };
}

/** The columns of a statement that adds the usage which its rows give. */
export function usageAdded<Row>(of: (row: Row) => Usage) {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costNanos } = usageOf(of);
  return {
    inputTokens: added(inputTokens),
    outputTokens: added(outputTokens),
    cacheReadTokens: added(cacheReadTokens),
    cacheWriteTokens: added(cacheWriteTokens),
    costNanos: { of: costNanos, as: costSum },
  };
}

/** A column to which a statement adds the given value. */
export function added<Row>(of: (row: Row) => number) {
  return { of, as: (given: SQL, stored: SQL) => sql`${stored} + ${given}` };
}

/** The SQL form of `addUsage` for costs: an unknown cost adds nothing. */
function costSum(given: SQL, stored: SQL): SQL {
  return sql`coalesce(${stored} + ${given}, ${stored}, ${given})`;
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
