/** The log of tool executions: the rows that an append adds, and how they are read. */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Append, CallChange } from '../../core/run/append.ts';
import type { ExecutionOutcome } from '../../core/run/execution.ts';
import type { ContextId, ToolCallId } from '../../core/ids.ts';
import type { Millis } from '../../core/time.ts';
import { millis, toTimestamp } from '../connection/instant.ts';

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

type ExecutedRow = {
  context_id: ContextId;
  id: ToolCallId;
  began_at: string | null;
  outcome: ExecutionOutcome | null;
};

/** Executions that start with this append, and executions that both started and ended in this run. */
export function executedRows({ lease: { contextId }, calls }: Append): ExecutedRow[] {
  return calls.flatMap((change): ExecutedRow[] => {
    if (change.kind === 'start') {
      return [{ context_id: contextId, id: change.id, began_at: null, outcome: null }];
    }
    if (change.kind !== 'close' || change.execution === null || change.execution.beganAt === null) return [];
    const { beganAt, outcome } = change.execution;
    return [{ context_id: contextId, id: change.id, began_at: toTimestamp(beganAt), outcome }];
  });
}

/** Outcomes of executions whose start is already stored. */
export function executionEndRows({ lease: { contextId }, calls }: Append) {
  return calls.flatMap((change) => {
    if (change.kind === 'request') return [];
    const outcome = foundOutcome(change);
    return outcome === null ? [] : [{ context_id: contextId, id: change.id, outcome }];
  });
}

function foundOutcome(change: Exclude<CallChange, { kind: 'request' }>): ExecutionOutcome | null {
  switch (change.kind) {
    case 'start':
    case 'approve':
      return null;
    case 'wait':
      return change.wait.for === 'outcome' ? 'unknown' : null;
    case 'reopen':
      return 'did_not_happen';
    case 'close':
      return change.execution?.beganAt === null ? change.execution.outcome : null;
  }
}

/** The executions of a call as JSON, in order; null: it was never executed. */
export function executionsOf(callId: SQL): SQL {
  return sql`(select jsonb_agg(jsonb_build_object('number', x.number, 'epoch', x.epoch,
      'idempotencyKey', x.idempotency_key, 'beganAt', ${millis(sql`x.began_at`)}, 'endedAt', ${millis(sql`x.ended_at`)},
      'outcome', x.outcome) order by x.number) from tool_executions x where x.tool_call_id = ${callId})`;
}
