/**
 * Submit: adds an input, a retry or a compaction to a context's mailbox. One statement that joins the update of the
 * context's row: its lock orders submits, and its `wake_seq` is their place in the queue. Under load a statement takes
 * submits of many contexts.
 */
import { sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { ContextId, TenantId } from '../../../core/ids.ts';
import { shared } from '../../batches/shared.ts';
import type { Executor } from '../../connection/client.ts';
import { WAKE_UP_GRACE_MS, dueNow } from '../../connection/instant.ts';
import { prepared } from '../../connection/prepared.ts';
import { columns, jsonArray, recordset } from '../../rows/recordset.ts';
import { hasQuestion } from '../../calls/replies.ts';
import { changedContextColumns, type ChangedContext } from '../../run/contexts.ts';
import {
  inputCte,
  jobCte,
  submittedRow,
  submittedRows,
  type Asker,
  type NewJob,
  type SubmittedRow,
  type SubmittedRows,
} from './submission.ts';

export type Submission = NewJob & {
  tenantId: TenantId;
  contextId: ContextId;
  /** An existing branch, checked under the context's row lock; null: the active branch. */
  branch: string | null;
  /** Refused if a question is waiting that this input could answer. */
  mayAnswer: boolean;
  /** Refused if the context has an unfinished job. */
  onlyIfIdle: boolean;
  /** Refused if this many inputs are queued. */
  queueLimit: number;
};

/** `asker`: the worker that sends it; null: a client. Returns null if refused; the context's row shows why. */
export function submit(
  executor: Executor,
  submission: Submission,
  asker: Asker | null = null,
): Promise<ChangedContext | null> {
  const { contextId } = submission;
  const row = submittedRow({ contextId, job: submission, asker });
  return send(executor, { contextId, context: CONTEXTS.encode({ ...submission, bytes: row.bytes }), ...row });
}

/** `context`: JSON of what it asks of its context. */
type Part = SubmittedRow & { contextId: ContextId; context: string };

/** Submits in one statement at most. */
const SHARED = 64;
/** From this many characters of JSON on, a submit has its own statement. */
const LARGE = 64 * 1024;

const send = shared<Part, ChangedContext | null>({
  keyOf: ({ contextId }) => contextId,
  // A part that is refused, or whose context is archived or locked, is sent again alone, and waits for the lock.
  run: (executor, parts) => changedBy(SUBMIT_MANY, executor, parts),
  alone: async (executor, part) => (await changedBy(SUBMIT, executor, [part]))[0] ?? null,
  most: SHARED,
  isLarge: ({ context, input, job }) => context.length + (input?.length ?? 0) + (job?.length ?? 0) >= LARGE,
});

/** In the order of the parts; `undefined`: refused, or left out because its context is archived or locked. */
async function changedBy(
  statement: (values: Values) => SQL,
  executor: Executor,
  parts: readonly Part[],
): Promise<(ChangedContext | undefined)[]> {
  const contexts = jsonArray(parts.map(({ context }) => context));
  const rows = await executor.execute<ChangedContext & { contextId: ContextId }>(
    statement({ contexts, ...submittedRows(parts) }),
  );
  const changed = new Map(rows.map(({ contextId, ...row }) => [contextId, row]));
  return parts.map(({ contextId }) => changed.get(contextId));
}

type Values = SubmittedRows & { contexts: string };

const CONTEXTS = recordset(
  'g',
  columns<Submission & Pick<SubmittedRow, 'bytes'>>({
    id: ['uuid', ({ contextId }) => contextId],
    tenant_id: ['bigint', ({ tenantId }) => tenantId],
    branch: ['text', ({ branch }) => branch],
    may_answer: ['boolean', ({ mayAnswer }) => mayAnswer],
    only_if_idle: ['boolean', ({ onlyIfIdle }) => onlyIfIdle],
    queue_limit: ['int', ({ queueLimit }) => queueLimit],
    priority: ['int', ({ priority }) => priority],
    bytes: ['bigint', ({ bytes }) => bytes],
  }),
);
// The condition is always true. It makes the planner expect few rows and find each context by its id.
const givenCte = CONTEXTS.around('g as materialized (select * from ', " where g.id::text || '' = g.id::text)");

/** `free`: the CTE `free` with the ids of the contexts that are updated. */
function update(value: (name: keyof Values) => Placeholder, free: SQL): SQL {
  return sql`
    with ${givenCte(value('contexts'))}, ${free},
    ctx as (
      update contexts c set
        wake_seq = c.wake_seq + 1,
        queued = c.queued + 1,
        stored_bytes = c.stored_bytes + g.bytes,
        priority = case when c.scheduling_status = 'idle' then g.priority else least(c.priority, g.priority) end,
        scheduling_status = case when c.scheduling_status = 'idle' then 'runnable' else c.scheduling_status end,
        next_check_at = case when c.scheduling_status = 'idle'
          then clock_timestamp() + ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' else c.next_check_at end
      from free join g on g.id = free.id
      where c.id = free.id and c.tenant_id = g.tenant_id and not c.stopped
        and c.queued + c.steers < g.queue_limit
        and (not g.only_if_idle or (c.scheduling_status = 'idle' and c.queued = 0))
        and not (g.may_answer and ${hasQuestion})
      returning c.id, c.tenant_id, coalesce(g.branch, c.active_branch) as branch, c.head_seq, c.wake_seq,
        c.lease_epoch, c.scheduling_status
    ), ${inputCte(value('inputs'))},
    ${jobCte(value('jobs'))}, awake as (
      -- Takes an archived context out of the archive. A sweep computes when it expires.
      update workers w set archived_at = null, expires_at = ${dueNow}
      from ctx where w.context_id = ctx.id and w.archived_at is not null
    )
    select ctx.id as "contextId", ${changedContextColumns} from ctx`;
}

const ALL = sql`free as (select g.id from g)`;
// No statement that has locked several contexts waits for another lock. Taking a worker out of the archive could wait.
const UNLOCKED = sql`free as materialized (
      select f.id from g join contexts f on f.id = g.id and f.tenant_id = g.tenant_id
      where not exists (select 1 from workers w where w.context_id = f.id and w.archived_at is not null)
      for no key update of f skip locked
    )`;

const SUBMIT = prepared<Values>((value) => sql`/* jobs.submit */ ${update(value, ALL)}`);
const SUBMIT_MANY = prepared<Values>((value) => sql`/* jobs.submit_many */ ${update(value, UNLOCKED)}`);
