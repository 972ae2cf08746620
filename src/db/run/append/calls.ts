/** The calls that an append requests, and the calls that it changes. */
import { sql, type SQL } from 'drizzle-orm';
import type { Append, CallChange } from '../../../core/run/append.ts';
import type { CallStatus, ToolCall, Wait } from '../../../core/tools/tool-call.ts';
import { LOCK_FIRST } from '../../calls/awaited.ts';
import { plainText } from '../../connection/codec.ts';
import { toolCalls } from '../../schema/tool-calls.ts';
import { endsAtOnce, type CallEnd } from './ends-at-once.ts';
import { insertion, update } from './part.ts';

/** `end`: the call is also closed by this append. */
type RequestedCall = { call: ToolCall; wait: Wait | null; end: CallEnd | null };

function requestedCalls({ calls }: Append): RequestedCall[] {
  const ends = endsAtOnce(calls);
  return calls.flatMap((change) =>
    change.kind === 'request' ? [{ call: change.call, wait: change.wait, end: ends.get(change.call.id) ?? null }] : [],
  );
}

export const newCalls = insertion('new_calls', toolCalls, {
  of: requestedCalls,
  inputs: {
    ended: ['text', ({ end }) => end?.status ?? null],
    began_at: ['timestamptz', ({ end }) => end?.execution?.beganAt ?? null],
  },
  columns: {
    id: ({ call }) => call.id,
    tenantId: sql`ctx.tenant_id`,
    contextId: sql`ctx.id`,
    jobId: ({ call }) => call.jobId,
    messageId: ({ call }) => call.messageId,
    ordinal: ({ call }) => call.ordinal,
    name: ({ call }) => plainText(call.name),
    effect: ({ call }) => call.effect,
    onUnknown: ({ call }) => call.onUnknown,
    status: sql`coalesce(r.ended, case when r.waits_for is null then 'pending' else 'waiting' end)`,
    waitsFor: ({ wait }) => wait?.for ?? null,
    expiresAt: ({ wait }) => wait?.until ?? null,
    needs: ({ wait }) => wait?.needs ?? null,
    askedAt: sql`case when r.waits_for is not null then statement_timestamp() end`,
    createdAt: sql`least(r.began_at, statement_timestamp())`,
    finishedAt: sql`case when r.ended is not null then statement_timestamp() end`,
  },
});

type ChangedCall = Exclude<CallChange, { kind: 'request' }>;

/** Without the end of calls requested by this append: `newCalls` already stores it. */
function changedCallsOf({ calls }: Append): ChangedCall[] {
  const ends = endsAtOnce(calls);
  return calls.flatMap((change) =>
    change.kind === 'request' || (change.kind === 'close' && ends.has(change.id)) ? [] : [change],
  );
}

const changedCallsIf = (condition: SQL) =>
  update('changed_calls', toolCalls, {
    of: changedCallsOf,
    as: 't',
    inputs: { id: ['uuid', ({ id }) => id] },
    columns: {
      status: statusAfter,
      startedEpoch: sql`case when r.status = 'started' then ctx.lease_epoch else t.started_epoch end`,
      startedAt: sql`case when r.status = 'started' then statement_timestamp() else t.started_at end`,
      waitsFor: {
        of: (change) => waitAfter(change)?.for ?? null,
        as: (given, stored) => sql`coalesce(${given}, ${stored})`,
      },
      expiresAt: {
        of: (change) => waitAfter(change)?.until ?? null,
        as: (given, stored) => sql`case when r.waits_for is null then ${stored} else ${given} end`,
      },
      needs: {
        of: (change) => waitAfter(change)?.needs ?? null,
        as: (given, stored) => sql`case when r.waits_for is null then ${stored} else ${given} end`,
      },
      askedAt: sql`case when r.waits_for is null then t.asked_at else statement_timestamp() end`,
      approval: {
        of: (change) => (change.kind === 'approve' ? change.approval : null),
        as: (given, stored) => sql`coalesce(${given}, ${stored})`,
      },
      approvalAt: sql`case when r.approval is null then t.approval_at else statement_timestamp() end`,
      finishedAt: sql`case when r.status not in ('pending', 'started', 'waiting') then statement_timestamp() end`,
    },
    where: sql`t.id = r.id and (t.context_id = ctx.id) is true and t.status in ('pending', 'started', 'waiting')
    and ${condition}`,
  });

export const changedCalls = changedCallsIf(sql`true`);

/** Locks all calls of a countdown before the first call changes. */
export const changedCallsLocked = changedCallsIf(LOCK_FIRST);

function statusAfter(change: ChangedCall): CallStatus {
  switch (change.kind) {
    case 'approve':
    case 'reopen':
      return 'pending';
    case 'start':
      return 'started';
    case 'wait':
      return 'waiting';
    case 'close':
      return change.status;
  }
}

function waitAfter(change: ChangedCall): Wait | null {
  return change.kind === 'wait' ? change.wait : null;
}
