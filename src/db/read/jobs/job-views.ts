/** Jobs as the API returns them. */
import { sql, type SQL } from 'drizzle-orm';
import type { Block } from '../../../core/conversation/blocks.ts';
import type { AskedCompaction } from '../../../core/compaction/settings.ts';
import { cut } from '../../../core/cut.ts';
import type { JobError } from '../../../core/errors.ts';
import type { ContextId, JobId, MessageId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { JobKind, JobStatus } from '../../../core/run/job.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { Millis } from '../../../core/time.ts';
import type { Usage } from '../../../core/money/usage.ts';
import type { User } from '../../../core/access/user.ts';
import { awaitedWorkers, type AwaitedWorker } from '../../calls/awaited.ts';
import { shared } from '../../batches/shared.ts';
import type { Executor } from '../../connection/client.ts';
import { textInJson } from '../../connection/codec.ts';
import { millis } from '../../connection/instant.ts';
import { prepared } from '../../connection/prepared.ts';
import { columns, recordset } from '../../rows/recordset.ts';
import { fixed } from '../../rows/written-columns.ts';
import { beginningOf, readBeginning } from '../messages/beginning.ts';
import { findJobs, startOf, type FoundJobs, type JobOrder } from './find-jobs.ts';
import { conditionsOfPart, type JobFilter } from './job-filter.ts';
import { SHOWN_INPUT, type WorkerOfJob } from './shown-of-job.ts';
import { awaitedCalls, type AwaitedCall } from '../../calls/replies.ts';
import { toPage, withinBytes, type OfPage, type Page } from '../page.ts';
import { usageObject } from '../../model-calls/usage.ts';

export type JobView = {
  id: JobId;
  kind: JobKind;
  contextId: ContextId;
  workerId: WorkerId;
  worker: WorkerOfJob;
  /** On whose behalf it runs; null: no end user's. */
  user: User | null;
  branch: string;
  /** `text`: its beginning. Null: it answers no input of its own, because it is a retry or a compaction. */
  input: { messageId: MessageId; text: string } | null;
  status: JobStatus;
  attempt: number;
  retryAt: Millis | null;
  /** When it joins or joined the queue, if it was posted with a delay. */
  startsAt: Millis | null;
  steps: number;
  usage: Usage;
  /** Calls that are answered from outside, oldest first. */
  awaited: AwaitedCall[];
  /** Workers that its calls wait for. */
  workers: AwaitedWorker[];
  /** The message that completed the job, or the answer that did not match. `hasData`: it is JSON that matches the schema. */
  output: { messageId: MessageId; content: Block[]; hasData: boolean } | null;
  /** Null while the job is unfinished. */
  error: JobError | null;
  parentJobId: JobId | null;
  createdAt: Millis;
  startedAt: Millis | null;
  finishedAt: Millis | null;
  metadata: JsonObject;
  /**
   * For a compaction job: the requested settings, and the prompt length before and after; null tokens: nothing was
   * compacted.
   */
  compaction: { asked: AskedCompaction; tokens: Tokens | null } | null;
};

type Tokens = { before: number; after: number };

type Row = Omit<JobView, 'output' | 'compaction' | 'input'> & {
  inputId: MessageId | null;
  inputHex: string | null;
  outputId: MessageId | null;
  hasData: boolean;
  content: Block[] | null;
  asked: AskedCompaction | null;
  tokens: Tokens | null;
};

/** What most jobs do not have: `awaited` and `workers` of a waiting one, `tokens` of a compaction. */
type Details = { awaited: SQL; workers: SQL; tokens: SQL };

const DETAILS: Details = {
  awaited: sql`coalesce(case when j.status = 'waiting' then ${awaitedCalls(sql`j.context_id`)} end, '[]')`,
  workers: sql`coalesce(case when j.status = 'waiting' then ${awaitedWorkers(sql`j.context_id`)} end, '[]')`,
  tokens: sql`case when j.kind = 'compact' then (
    select jsonb_build_object('before', (array_agg(k.tokens_before order by k.seq))[1],
      'after', (array_agg(k.tokens_after order by k.seq desc))[1])
    from compactions k where k.context_id = j.context_id and k.job_id = j.id having count(*) > 0) end`,
};
const NO_DETAILS: Details = { awaited: sql`'[]'::jsonb`, workers: sql`'[]'::jsonb`, tokens: sql`null::jsonb` };

function jobsWithOutput({ awaited, workers, tokens }: Details): SQL {
  return sql`select j.id, j.kind, j.context_id as "contextId", j.worker_id as "workerId", j.user_name as "user",
  j.branch, j.message_id as "inputId",
  case when j.message_id is not null then (select ${beginningOf(sql`i.content`, SHOWN_INPUT)} from messages i where i.id = j.message_id) end as "inputHex",
  jsonb_build_object('name', coalesce(${textInJson(sql`w.name`)}, ''), 'title', ${textInJson(sql`w.title`)}, 'role', ${textInJson(sql`w.role`)},
    'model', coalesce(w.config ->> 'model', r.definition ->> 'model'), 'ofFile', w.role is not null and w.role_version is null) as worker,
  j.status, j.attempt, ${millis(sql`j.retry_at`)} as "retryAt",
  ${millis(sql`j.starts_at`)} as "startsAt", j.steps, ${usageObject('j')} as usage,
  j.output_message_id as "outputId", j.has_data as "hasData", m.content, coalesce(m.bytes, 0) * case when j.has_data then 2 else 1 end + octet_length(j.metadata::text) as bytes,
  ${awaited} as awaited, ${workers} as workers, ${tokens} as tokens,
  case when j.finished_at is not null then j.error end as error, j.parent_job_id as "parentJobId",
  ${millis(sql`j.created_at`)} as "createdAt", ${millis(sql`j.started_at`)} as "startedAt",
  ${millis(sql`j.finished_at`)} as "finishedAt", j.metadata, j.compaction as asked
  from jobs j left join workers w on w.id = j.worker_id
    left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
    left join messages m on m.id = j.output_message_id`;
}

function toView({ inputId, inputHex, outputId, hasData, content, asked, tokens, ...row }: Row): JobView {
  return {
    ...row,
    input: inputId === null ? null : { messageId: inputId, text: cut(readBeginning(inputHex), SHOWN_INPUT) },
    output: outputId === null ? null : { messageId: outputId, content: content ?? [], hasData },
    compaction: asked === null ? null : { asked, tokens },
  };
}

/**
 * Null: the tenant has no such job. Most jobs have no details, and PostgreSQL sets up the reads of details even if it
 * does not need them; so only a job that may have some is read with them. Under load a statement reads many jobs.
 */
export async function findJob(executor: Executor, tenantId: TenantId, id: JobId): Promise<JobView | null> {
  const row = await find(executor, { tenantId, id });
  if (row === null) return null;
  if (row.status !== 'waiting' && row.kind !== 'compact') return toView(row);
  const [whole] = await executor.execute<Row>(FIND_DETAILS({ tenantId, id }));
  return whole === undefined ? null : toView(whole);
}

type JobKey = { tenantId: TenantId; id: JobId };

/** Jobs in one statement at most: it also reads their outputs. */
const SHARED = 32;

const find = shared<JobKey, Row | null>({
  async run(executor, keys) {
    const rows = await executor.execute<Row & { place: number }>(FIND({ jobs: JOBS.encodeAll(keys.map(placed)) }));
    const found = new Map(rows.map(({ place, ...row }) => [place, row]));
    return keys.map((_, place) => found.get(place) ?? null);
  },
  most: SHARED,
});

type PlacedKey = JobKey & { place: number };

/** Several requests may read the same job. */
function placed(key: JobKey, place: number): PlacedKey {
  return { ...key, place };
}

const JOBS = recordset<PlacedKey>(
  'a',
  columns({
    place: ['int', ({ place }) => place],
    tenant: ['bigint', ({ tenantId }) => tenantId],
    id: ['uuid', ({ id }) => id],
  }),
);
// The limit keeps PostgreSQL from planning for many jobs: it would read the whole tables.
const ofEach = fixed(sql`cross join lateral (
  ${jobsWithOutput(NO_DETAILS)} where j.tenant_id = a.tenant and j.id = a.id limit 1) found`);
const findEach = JOBS.around('select a.place, found.* from ', ` ${ofEach}`);
const FIND = prepared<{ jobs: string }>((value) => sql`/* jobs.find */ ${findEach(value('jobs'))}`);
const FIND_DETAILS = prepared<JobKey>(
  (value) => sql`/* jobs.find_details */
    ${jobsWithOutput(DETAILS)} where j.tenant_id = ${value('tenantId')} and j.id = ${value('id')}`,
);

/** `q`: text to find; null: none. */
export type JobsOfPage = { filter: JobFilter; q: string | null; order: JobOrder; limit: number };

/** `upto`: up to there jobs were searched; null: not by text, or there are no more. `figures`: by job, if sorted by one. */
export type JobPage = Page<JobView> & { upto: JobId | null; figures: ReadonlyMap<JobId, number> };

/** Whether the page takes a second statement: one finds the ids, one reads the page. */
export function isFound({ q, order }: Pick<JobsOfPage, 'q' | 'order'>): boolean {
  return q !== null || order.by !== 'created';
}

/** Within the page's byte limit. */
export async function listJobs(executor: Executor, tenantId: TenantId, wanted: JobsOfPage): Promise<JobPage> {
  const { filter, order, limit } = wanted;
  if (isFound(wanted)) return readFound(executor, tenantId, await findJobs(executor, tenantId, wanted));
  const part = { start: startOf(order), descending: order.descending, limit };
  const direction = order.descending ? sql`desc` : sql`asc`;
  const of = sql.join(conditionsOfPart(executor, tenantId, filter, part), sql` and `);
  const page = sql`${jobsWithOutput(DETAILS)} where ${of} order by j.id ${direction} limit ${limit}`;
  const tagged = sql`/* jobs.list */ ${withinBytes(page, sql`p.id ${direction}`)}`;
  return { ...toPage(await executor.execute<OfPage & Row>(tagged), toView), upto: null, figures: new Map() };
}

/** In the order in which they were found. */
async function readFound(executor: Executor, tenantId: TenantId, { jobs, upto }: FoundJobs): Promise<JobPage> {
  if (jobs.length === 0) return { items: [], more: false, upto, figures: new Map() };
  const ids = jobs.map(({ id }) => id);
  const page = sql`${jobsWithOutput(DETAILS)} where j.tenant_id = ${tenantId} and j.id in ${ids}`;
  const tagged = sql`/* jobs.list_found */ ${withinBytes(page, sql`strpos(${ids.join(' ')}, p.id::text)`)}`;
  const rows = await executor.execute<OfPage & Row>(tagged);
  return { ...toPage(rows, toView), upto, figures: new Map(jobs.map(({ id, figure }) => [id, figure])) };
}

/** The context and status of a job; null: the tenant has no such job. */
export async function jobPlace(
  executor: Executor,
  tenantId: TenantId,
  jobId: JobId,
): Promise<{ contextId: ContextId; status: JobStatus } | null> {
  const [row] = await executor.execute<{ contextId: ContextId; status: JobStatus }>(
    sql`select context_id as "contextId", status from jobs where tenant_id = ${tenantId} and id = ${jobId}`,
  );
  return row ?? null;
}

/** The running or waiting job of a context; null: none. */
export async function activeJob(executor: Executor, tenantId: TenantId, contextId: ContextId): Promise<JobId | null> {
  const [row] = await executor.execute<{ id: JobId }>(
    sql`select id from jobs
      where context_id = ${contextId} and tenant_id = ${tenantId} and status in ('running', 'waiting')`,
  );
  return row?.id ?? null;
}

/**
 * The running or waiting job of a context that an input may still join: it is on its branch (null: the active one), runs
 * on behalf of the same user (null: that of the worker), and has no stop request.
 */
export async function steerableJob(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  { branch, user }: { branch: string | null; user: User | null },
): Promise<{ id: JobId; status: 'running' | 'waiting' } | null> {
  const [row] = await executor.execute<{ id: JobId; status: 'running' | 'waiting' }>(sql`
    select j.id, j.status from jobs j join contexts c on c.id = j.context_id join workers w on w.id = j.worker_id
    where j.user_name is not distinct from coalesce(${user}::text, w.user_name) and j.context_id = ${contextId} and j.tenant_id = ${tenantId} and j.status in ('running', 'waiting')
      and j.stop_kind is null and j.kind <> 'compact' and j.branch = coalesce(${branch}::text, c.active_branch)`);
  return row ?? null;
}

/** The running or waiting job of a context, else its next queued job unless the context is stopped; null: none. */
export async function currentJob(executor: Executor, tenantId: TenantId, contextId: ContextId): Promise<JobId | null> {
  const [row] = await executor.execute<{ id: JobId }>(sql`
    select j.id from jobs j join contexts c on c.id = j.context_id
    where j.context_id = ${contextId} and j.tenant_id = ${tenantId}
      and (j.status in ('running', 'waiting') or (j.status = 'queued' and not c.stopped))
    order by j.status = 'queued', j.priority, j.position, j.id limit 1`);
  return row?.id ?? null;
}
