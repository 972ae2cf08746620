/** Reads the log of tool executions. */
import { sql, type SQL } from 'drizzle-orm';
import type { ExecutionOutcome } from '../../core/run/execution.ts';
import type { Millis } from '../../core/time.ts';
import { millis } from '../connection/instant.ts';

export type ExecutionView = {
  /** From 1. */
  number: number;
  /** The epoch of the lease under which it ran. */
  epoch: number;
  idempotencyKey: string;
  beganAt: Millis;
  /** `endedAt` and `outcome` are null while it runs, or until its outcome is determined. */
  endedAt: Millis | null;
  outcome: ExecutionOutcome | null;
};

/** The executions of a call as JSON, in order; null: it was never executed. */
export function executionsOf(callId: SQL): SQL {
  return sql`(select jsonb_agg(jsonb_build_object('number', x.number, 'epoch', x.epoch,
      'idempotencyKey', x.idempotency_key, 'beganAt', ${millis(sql`x.began_at`)}, 'endedAt', ${millis(sql`x.ended_at`)},
      'outcome', x.outcome) order by x.number) from executions x where x.tool_call_id = ${callId})`;
}
