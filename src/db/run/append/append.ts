/**
 * The single statement with which runs write. For each append of a batch, a guarded update of the context's row takes
 * the lock, checks the epoch and the guarded counters, and assigns the sequence numbers. All other writes join that
 * update, so an append whose guard fails writes nothing. A batch holds appends of many contexts, at most one per
 * context.
 */
import { StringChunk, sql, type SQL } from 'drizzle-orm';
import type { ContextId } from '../../../core/ids.ts';
import type { Append, AppendOutcome } from '../../../core/run/append.ts';
import type { Millis } from '../../../core/time.ts';
import { metBy } from '../../calls/awaited.ts';
import type { Executor } from '../../connection/client.ts';
import { millis } from '../../connection/instant.ts';
import { awaitedNoMore, awaits, countdownPart } from './awaited.ts';
import { changedCalls, changedCallsLocked, newCalls } from './calls.ts';
import { newCompactions } from './compactions.ts';
import { encodedAppend, type EncodedAppend } from './contents.ts';
import { contextPart, isSearchable, search, wantedOf, type Wanted } from './context.ts';
import { newEvents } from './events.ts';
import { endedExecutions, newExecutions } from './executions.ts';
import { failed } from './failed-calls.ts';
import { branchCounters, changedJobs, continuedJobs } from './jobs.ts';
import { admittedMessages, newMessages, partialAnswers, retracted, untitled, withdrawn } from './messages.ts';
import { childBranches, childContexts, childInputs, childJobs, childWorkers } from './spawns.ts';
import { notified, notifiesWebhooks } from './webhooks.ts';

/**
 * Returns outcomes in the order of `appends`. `whenLocked` decides what happens when another transaction has locked a
 * context's row: `wait` waits for the lock, `pass` treats the append as stale so that the rest of the batch does not
 * wait.
 */
export async function append(
  executor: Executor,
  appends: readonly Append[],
  whenLocked: 'wait' | 'pass' = 'wait',
): Promise<AppendOutcome[]> {
  const rows = await executor.execute<CommittedRow>(statement(appends, whenLocked));
  const committed = new Map(rows.map((row) => [row.id, row]));
  return appends.map(({ lease }) => {
    const row = committed.get(lease.contextId);
    return row === undefined ? { kind: 'stale' } : toCommitted(row);
  });
}

type CommittedRow = {
  id: string;
  base: number;
  head_seq: number;
  wake_seq: number;
  control_seq: number;
  follow_up: boolean;
  met: ContextId[] | null;
  at: Millis;
};

function toCommitted(row: CommittedRow): AppendOutcome {
  return {
    kind: 'committed',
    firstSeq: row.base + 1,
    headSeq: row.head_seq,
    wakeSeq: row.wake_seq,
    controlSeq: row.control_seq,
    followUp: row.follow_up,
    met: row.met ?? [],
    at: row.at,
  };
}

function statement(given: readonly Append[], whenLocked: 'wait' | 'pass'): SQL {
  const appends = given.map(encodedAppend);
  const wanted = appends.map(wantedOf);
  const { calls, ends, inputs, rare, engaged, notifies } = needsOf(appends, wanted);
  const counts = ends || engaged;
  const parts = [
    contextPart(wanted, whenLocked),
    counts && countdownPart(appends, engaged),
    newMessages.cte(appends),
    newEvents.cte(appends),
    inputs && admittedMessages.cte(appends),
    calls && newCalls.cte(appends),
    calls && (counts ? changedCallsLocked : changedCalls).cte(appends),
    calls && newExecutions.cte(appends),
    ends ? changedJobs.cte(appends) : continuedJobs.cte(appends),
    ends && branchCounters.cte(appends),
    ends && search,
    ...(rare ? RARE.map((part) => part.cte(appends)) : []),
    ...(engaged ? [...CHILDREN, awaits].map((part) => part.cte(appends)) : []),
    engaged && awaitedNoMore,
    notifies && notified.cte(appends),
  ].filter((part) => part !== false);
  return sql`/* contexts.append */ with ${sql.join(parts, COMMA)}
    select ctx.id, ctx.base, ctx.head_seq, ctx.wake_seq, ctx.control_seq, ${NOW} as at,
      ${counts ? metBy(sql`ctx.id`) : sql`null::jsonb`} as met, ${ends ? FOLLOW_UP : NO_FOLLOW_UP}`;
}

/** As the rows of the statement store it. */
const NOW = millis(sql`statement_timestamp()::timestamptz(3)`);

const COMMA = new StringChunk(', ');

const FOLLOW_UP = sql`coalesce(j.follow_up, false) as follow_up
    from ctx left join changed_jobs j on j.context_id = ctx.id`;
const NO_FOLLOW_UP = sql`false as follow_up from ctx`;

const CALLS = [newCalls, changedCalls, newExecutions];

/** Parts that few appends need. */
const RARE = [partialAnswers, retracted, withdrawn, untitled, endedExecutions, failed, newCompactions];

/** What belongs to a new child worker. */
const CHILDREN = [childContexts, childWorkers, childBranches, childInputs, childJobs];

/**
 * Which parts of the statement a batch needs. PostgreSQL sets up every part on each execution, even one without rows to
 * write, so most statement texts leave out the parts that few appends use. There are few groups, because PostgreSQL
 * plans each text once per connection.
 */
type Needs = {
  /** Calls are requested or change, other than those that are stored with their results. */
  calls: boolean;
  /** Jobs end, or messages are queued for the search index. */
  ends: boolean;
  /** Inputs enter the history. */
  inputs: boolean;
  /** Model calls without an answer, partial, retracted or withdrawn messages, compactions, ends of executions. */
  rare: boolean;
  /** Child workers are created; waits for other workers start or end. */
  engaged: boolean;
  /** Webhooks may want the events. */
  notifies: boolean;
};

function needsOf(appends: readonly EncodedAppend[], wanted: readonly Wanted[]): Needs {
  return {
    calls: CALLS.some(({ isIn }) => appends.some(isIn)),
    ends: appends.some(({ job }) => job?.kind === 'settle') || wanted.some(isSearchable),
    inputs: appends.some(admittedMessages.isIn),
    rare: RARE.some(({ isIn }) => appends.some(isIn)),
    engaged: appends.some(isEngaged),
    notifies: appends.some(notifiesWebhooks),
  };
}

function isEngaged({ spawns, awaits: jobs, released }: Append): boolean {
  return spawns.length > 0 || jobs.length > 0 || released.length > 0;
}
