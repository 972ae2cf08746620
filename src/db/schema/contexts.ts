/**
 * Contexts. The table is narrow and updated often: it has no index on columns that change with every append, which
 * leaves room for in-place (HOT) updates. Messages, jobs, tool calls and events have no foreign key to it: every
 * statement that inserts them joins an update of the context's row, so that no row exists without its context.
 */
import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, pgTable, smallint, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import type { UserOrNone } from '../../core/access/user.ts';
import type { JobError } from '../../core/errors.ts';
import { counter, instant, jsonb, oneOf, tenantId, usageCounters } from './columns.ts';

/** Mailbox, lease and counters of one context: only the data that processes must agree on. */
export const contexts = pgTable(
  'contexts',
  {
    id: uuid('id').primaryKey(),
    tenantId: tenantId(),
    /** The user of its worker, so that an index leads from one user to the next. */
    userName: text('user_name').$type<UserOrNone>().notNull().default(''),
    /** Whether and when a worker process may run it. */
    schedulingStatus: text('scheduling_status').notNull().default('idle'),
    /** The state that clients see. */
    state: text('state').notNull().default('Idle'),
    stateSince: instant('state_since').notNull().defaultNow(),
    /** The last sequence number. Messages and events of the context share one sequence without gaps. */
    headSeq: counter('head_seq'),
    /** The number of wake-ups. */
    wakeSeq: counter('wake_seq'),
    /** The number of control signals to its lease owner. */
    controlSeq: counter('control_seq'),
    leaseOwner: uuid('lease_owner'),
    leaseEpoch: counter('lease_epoch'),
    /**
     * The highest priority of its inputs since it was last idle; if it was released between two jobs, that of the next
     * one. Runnable contexts of a user start in this order.
     */
    priority: smallint('priority').notNull().default(5),
    /**
     * While it is runnable: its place among the runnable contexts of its user and priority, and from when on a sweep
     * may start it. While it waits, or has a stop request without an answer: when a sweep checks it.
     */
    nextCheckAt: instant('next_check_at'),
    activeBranch: text('active_branch').notNull().default('main'),
    stopped: boolean('stopped').notNull().default(false),
    /** Queued jobs of every kind. */
    queued: integer('queued').notNull().default(0),
    /** Inputs that wait to join the running job. */
    steers: integer('steers').notNull().default(0),
    /** Claims in a row without progress. */
    failedClaims: smallint('failed_claims').notNull().default(0),
    messageCount: counter('message_count'),
    turnCount: counter('turn_count'),
    requestCount: counter('request_count'),
    ...usageCounters(),
    /** Bytes of the content of all its messages, whatever their status: the sum of `messages.bytes`. */
    storedBytes: counter('stored_bytes'),
    /** Why the last job failed; cleared when a job completes. */
    lastFailure: jsonb<JobError & { job_id: string; at: string }>('last_failure'),
  },
  (t) => [
    check('contexts_scheduling_status', oneOf('scheduling_status', ['idle', 'runnable', 'running', 'waiting'])),
    check('contexts_running_is_owned', sql`(${t.schedulingStatus} = 'running') = (${t.leaseOwner} is not null)`),
    check('contexts_idle_has_no_check', sql`${t.schedulingStatus} <> 'idle' or ${t.nextCheckAt} is null`),
    check(
      'contexts_unowned_has_check',
      sql`${t.schedulingStatus} not in ('runnable', 'waiting') or ${t.nextCheckAt} is not null`,
    ),
    check('contexts_queued', sql`${t.queued} >= 0 and ${t.steers} >= 0`),
    // Sweeps look at due contexts only; what waits for a slot is in the other index, by tenant.
    index('contexts_due')
      .on(t.nextCheckAt)
      .where(sql`${t.schedulingStatus} in ('waiting', 'running') and ${t.nextCheckAt} is not null`),
    index('contexts_runnable')
      .on(t.tenantId, t.userName, t.priority, t.nextCheckAt)
      .where(sql`${t.schedulingStatus} = 'runnable'`),
    index('contexts_owned')
      .on(t.leaseOwner)
      .where(sql`${t.leaseOwner} is not null`),
    uniqueIndex('contexts_tenant').on(t.tenantId, t.id),
  ],
);
