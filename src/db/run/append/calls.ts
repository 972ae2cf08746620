/** The calls that an append requests, and the calls that it changes. */
import { sql, type SQL } from 'drizzle-orm';
import type { Append, CallChange } from '../../../core/run/append.ts';
import type { CallStatus, Wait } from '../../../core/tools/tool-call.ts';
import { LOCK_FIRST } from '../../calls/awaited.ts';
import { plainText } from '../../connection/codec.ts';
import { toolCalls } from '../../schema/tool-calls.ts';
import { storedChanges } from './ended-calls.ts';
import { insertion, update } from './part.ts';

type RequestedCall = Extract<CallChange, { kind: 'request' }>;

function requestedCalls(append: Append): RequestedCall[] {
  return storedChanges(append).filter((change) => change.kind === 'request');
}

export const newCalls = insertion('new_calls', toolCalls, {
  of: requestedCalls,
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
    status: sql`case when r.waits_for is null then 'pending' else 'waiting' end`,
    waitsFor: ({ wait }) => wait?.for ?? null,
    expiresAt: ({ wait }) => wait?.until ?? null,
    needs: ({ wait }) => wait?.needs ?? null,
    askedAt: sql`case when r.waits_for is not null then statement_timestamp() end`,
    createdAt: sql`statement_timestamp()`,
  },
});

type ChangedCall = Exclude<CallChange, { kind: 'request' }>;

function changedCallsOf(append: Append): ChangedCall[] {
  return storedChanges(append).filter((change) => change.kind !== 'request');
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
      // The result is in the history. That a question was answered stays known.
      reply: sql`case when r.status in ('pending', 'started', 'waiting') or t.waits_for = 'answer' then t.reply end`,
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
