/** The state shown to clients, which can differ from the stored one. `c` is the context's row. */
import { sql, type SQL } from 'drizzle-orm';
import { shownState, type DurableState } from '../../../core/run/state.ts';

/** Whether and when a worker process may run a context. */
export type SchedulingStatus = 'idle' | 'runnable' | 'running' | 'waiting';

/** A failed model call is being retried: its retry time has passed, and a process runs the context. */
export const retried: SQL = sql`c.state = 'TransientFailure' and c.scheduling_status = 'running' and not exists (
  select 1 from jobs j where j.context_id = c.id and j.status in ('running', 'waiting')
    and j.retry_at > clock_timestamp())`;

export type ShownColumns = {
  state: DurableState;
  schedulingStatus: SchedulingStatus;
  queued: number;
  retried: boolean;
};

export function stateOf(row: ShownColumns): DurableState {
  return row.retried ? 'AwaitingLLMResponse' : shownState(row.state, row.schedulingStatus, row.queued);
}

/** Whether `c` has something to do: in parts, so that its three partial indexes can be used. */
export const isAtWork: SQL = sql`(c.scheduling_status = 'runnable' or c.lease_owner is not null
  or (c.scheduling_status in ('waiting', 'running') and c.next_check_at is not null))`;

/**
 * States in which nothing may be due. Contexts shown in any other state are in the partial indexes of active contexts.
 */
const RESTING: readonly DurableState[] = ['Idle', 'PermanentFailure', 'Stopped'];

/** Whether the context is shown in one of these states: `stateOf` as an SQL condition. */
export function isShownAs(states: readonly DurableState[]): SQL {
  if (states.length === 0) return sql`false`;
  const shown = sql`case when ${retried} then 'AwaitingLLMResponse'
    when c.state in ('Idle', 'PermanentFailure') and c.scheduling_status = 'runnable' and c.queued > 0 then 'ProcessingUserMessage'
    else c.state end`;
  const wanted = sql`${shown} in (${sql.join(
    states.map((state) => sql`${state}`),
    sql`, `,
  )})`;
  return states.some((state) => RESTING.includes(state)) ? wanted : sql`${isAtWork} and ${wanted}`;
}
