/** The state that a reader is shown, which is not always the one that is stored. `c` is the context's row. */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { shownState } from '../core/state.ts';
import type { DurableState } from '../core/state.ts';

/** Who may run it, and when: the scheduling side of a context. */
export type SchedulingStatus = 'idle' | 'runnable' | 'running' | 'waiting';

/** A model call that failed is being made again: its time has come and somebody runs the context. */
export const retried: SQL = sql`c.state = 'TransientFailure' and c.scheduling_status = 'running' and not exists (
  select 1 from jobs j where j.context_id = c.id and j.status in ('running', 'waiting')
    and j.retry_at > clock_timestamp())`;

export type ShownColumns = {
  state: DurableState;
  scheduling_status: SchedulingStatus;
  queued: number;
  retried: boolean;
};

export function stateOf(row: ShownColumns): DurableState {
  return row.retried ? 'AwaitingLLMResponse' : shownState(row.state, row.scheduling_status, row.queued);
}

/** States in which nothing is due: what is shown in another one is in the partial indexes of what does not rest. */
const RESTING: readonly DurableState[] = ['Idle', 'PermanentFailure', 'Stopped'];

/** Whether it is shown in one of these: `stateOf`, as a condition. */
export function isShownAs(states: readonly DurableState[]): SQL {
  if (states.length === 0) return sql`false`;
  const shown = sql`case when ${retried} then 'AwaitingLLMResponse'
    when c.state in ('Idle', 'PermanentFailure') and c.scheduling_status = 'runnable' and c.queued > 0 then 'ProcessingUserMessage'
    else c.state end`;
  const wanted = sql`${shown} in (${sql.join(
    states.map((state) => sql`${state}`),
    sql`, `,
  )})`;
  return states.some((state) => RESTING.includes(state))
    ? wanted
    : sql`(c.next_check_at is not null or c.lease_owner is not null) and ${wanted}`;
}
