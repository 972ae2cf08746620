/** The execution log: starts and ends of executions. */
import { sql } from 'drizzle-orm';
import type { ToolCallId } from '../../../core/ids.ts';
import type { Append, CallChange } from '../../../core/run/append.ts';
import type { ExecutionOutcome } from '../../../core/run/execution.ts';
import type { Millis } from '../../../core/time.ts';
import { toolExecutions } from '../../schema/tool-calls.ts';
import { storedChanges } from './ended-calls.ts';
import { insertion, update } from './part.ts';

type Execution = { callId: ToolCallId; beganAt: Millis | null; outcome: ExecutionOutcome | null };

/** Executions that start with this append, and executions of stored calls that both started and ended in this run. */
function executions(append: Append): Execution[] {
  return storedChanges(append).flatMap((change): Execution[] => {
    if (change.kind === 'start') return [{ callId: change.id, beganAt: null, outcome: null }];
    if (change.kind !== 'close' || change.execution === null || change.execution.beganAt === null) return [];
    return [{ callId: change.id, ...change.execution }];
  });
}

export const newExecutions = insertion('new_executions', toolExecutions, {
  of: executions,
  inputs: { started_at: ['timestamptz', ({ beganAt }) => beganAt] },
  columns: {
    toolCallId: ({ callId }) => callId,
    number: sql`1 + coalesce((
      select max(x.number) from tool_executions x where x.tool_call_id = r.tool_call_id), 0)`,
    tenantId: sql`ctx.tenant_id`,
    contextId: sql`ctx.id`,
    epoch: sql`ctx.lease_epoch`,
    idempotencyKey: sql`r.tool_call_id`,
    beganAt: sql`least(r.started_at, statement_timestamp())`,
    endedAt: sql`case when r.outcome is not null then statement_timestamp() end`,
    outcome: ({ outcome }) => outcome,
  },
});

/** Outcomes of executions whose start is already stored. */
export const endedExecutions = update('ended_executions', toolExecutions, {
  of: (append) =>
    storedChanges(append).flatMap((change) => {
      const outcome = foundOutcome(change);
      return change.kind === 'request' || outcome === null ? [] : [{ callId: change.id, outcome }];
    }),
  as: 'x',
  inputs: { id: ['uuid', ({ callId }) => callId] },
  columns: { endedAt: sql`statement_timestamp()`, outcome: ({ outcome }) => outcome },
  where: sql`x.tool_call_id = r.id and (x.context_id = ctx.id) is true and x.outcome is null`,
});

function foundOutcome(change: CallChange): ExecutionOutcome | null {
  switch (change.kind) {
    case 'request':
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
