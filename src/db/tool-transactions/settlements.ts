/**
 * Transactional calls that have settled: their result is a reply beside the call until the run adds it to the history. It is
 * written by the function `nightshift_settle_v1`, in the transaction of the tool.
 */
import { sql } from 'drizzle-orm';
import type { Reply } from '../../core/tools/tool-call.ts';
import type { TransactionResult } from '../../core/tools/transaction.ts';
import type { RunningCall } from '../calls/tool-steps.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';

/** With its types, as `grant` names it. Another version of the function has another name. */
export const SETTLE_FUNCTION = 'nightshift_settle_v1(uuid, uuid, uuid, bigint, bigint, text)';

/** SQLSTATEs of the function. */
export const SETTLE_STATES = {
  NOT_GRANTED: 'NS001',
  /** Another process has the context, the job was told to end, or the call has ended. */
  MUST_NOT_GO_ON: 'NS008',
  /** Another execution has settled the call. */
  SETTLED: 'NS009',
  /** The transaction is not the one in which the tool began. */
  OTHER_TRANSACTION: 'NS010',
} as const;

/** An arbitrary lock number that is used only here: each transaction of a tool holds a lock of this class. */
export const TRANSACTIONS = 7_227_005;

/** Whether the transaction with this lock has ended. It may have committed. */
export async function hasEnded(executor: Executor, lock: number): Promise<boolean> {
  const [row] = await executor.execute<{ isFree: boolean }>(sql`/* tool_transactions.try_lock */
    select pg_try_advisory_xact_lock(${TRANSACTIONS}::int, ${lock}::int) as "isFree"`);
  return row?.isFree === true;
}

/** Null: the call has not settled, or has ended. */
export async function findSettled(
  executor: Executor,
  { tenantId, contextId, toolCallId }: RunningCall,
): Promise<TransactionResult | null> {
  const [row] = await executor.execute<{ reply: Reply }>(sql`/* tool_transactions.find */
    select t.reply from tool_calls t
    where t.id = ${toolCallId} and t.context_id = ${contextId} and t.tenant_id = ${tenantId} and t.reply is not null`);
  return row === undefined ? null : toResult(row.reply);
}

/** The argument of the function. */
export function settledText({ content, compact_summary: compactSummary }: TransactionResult): string {
  return encodeJson({ content, ...(compactSummary !== undefined && { compactSummary }) });
}

function toResult({ content, compactSummary: compact_summary }: Reply): TransactionResult {
  return compact_summary === undefined ? { content } : { content, compact_summary };
}
