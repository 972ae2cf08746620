/** What was used, as it is stored: the same columns of messages, jobs, branches and contexts. */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Usage } from '../core/usage.ts';

const COLUMNS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cost_nanos'];

/** Of a table by its name in the statement, for a select list. */
export function usageColumns(of: string): SQL {
  return sql.raw(COLUMNS.map((name) => `${of}.${name}`).join(', '));
}

/** The same, for an object of json. */
export function usageMembers(of: string): SQL {
  return sql.raw(COLUMNS.map((name) => `'${name}', ${of}.${name}`).join(', '));
}

/** A cost and what is added to it, as `addUsage` adds them: what is not known adds nothing. */
export function costSum(cost: string, added: string): SQL {
  return sql.raw(`coalesce(${cost} + ${added}, ${cost}, ${added})`);
}

/** Of rows that not all tell of a use. */
export type UsageColumns = { [Column in keyof Usage]: Usage[Column] | null };

/** Null: nothing was used. */
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
