/** The calls of a mailbox that have no result yet. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId } from '../../../core/ids.ts';
import type { Millis } from '../../../core/time.ts';
import type { OpenCall, Wait, WaitsFor } from '../../../core/tools/tool-call.ts';
import { millis } from '../../connection/instant.ts';
import { byContext, type OfContext } from '../places.ts';

type WaitColumns = { waitsFor: WaitsFor; since: Millis | null; until: Millis | null; needs: number | null };

export type CallRow = OfContext & WaitColumns & Omit<OpenCall, 'wait'>;

/** The open calls, as `CallRow`. */
export function openCallsOf(at: SQL): SQL {
  return sql`
    select t.* from ${at} cross join lateral (
      select t.context_id, t.id, t.message_id as "messageId", t.job_id as "jobId", t.ordinal, t.name, t.effect,
        t.on_unknown as "onUnknown", t.status, t.reply,
        coalesce(t.waits_for, 'answer') as "waitsFor", ${millis(sql`t.asked_at`)} as since,
        ${millis(sql`t.expires_at`)} as until, t.needs, t.approval
      from tool_calls t where t.context_id = at.context_id and t.tenant_id = at.tenant
        and t.status in ('pending', 'started', 'waiting') order by t.ordinal) t`;
}

export function toOpenCalls(rows: readonly CallRow[]): Map<ContextId, OpenCall[]> {
  return byContext(rows, toOpenCall);
}

function toOpenCall(row: CallRow): OpenCall {
  const { context_id: _, waitsFor, since, until, needs, ...call } = row;
  return {
    ...call,
    wait: call.status === 'waiting' ? toWait({ waitsFor, since, until, needs }) : null,
  };
}

function toWait({ waitsFor, since, until, needs }: WaitColumns): Wait {
  if (waitsFor !== 'timer') return { for: waitsFor, until, needs };
  // A timer always has its times. Zero makes an incomplete one expire at once.
  return { for: 'timer', since: since ?? 0, until: until ?? 0, needs: null };
}
