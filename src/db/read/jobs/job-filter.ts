/**
 * Filters for lists of jobs. Each condition can use an index, so that a filter with few matches does not read all other
 * jobs.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, JobId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { JobKind, JobStatus } from '../../../core/run/job.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { Reach } from '../../../core/access/reach.ts';
import type { Millis } from '../../../core/time.ts';
import type { User } from '../../../core/access/user.ts';
import { isLimited, type Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { toTimestamp } from '../../connection/instant.ts';
import { isWithin } from '../reach.ts';

/** Null members do not filter. */
export type JobFilter = {
  reach: Reach;
  /** On whose behalf it runs. */
  user: User | null;
  statuses: readonly JobStatus[] | null;
  kind: JobKind | null;
  /** The role of the job's worker. */
  role: string | null;
  /** Must be contained in the job's metadata. */
  metadata: JsonObject | null;
  contextId: ContextId | null;
  workerId: WorkerId | null;
  parentJobId: JobId | null;
  createdAfter: Millis | null;
  createdBefore: Millis | null;
};

/** Conditions on a job `j` of this tenant, in a statement of `executor`. */
function conditionsOf(executor: Executor, tenantId: TenantId, filter: JobFilter): SQL[] {
  const { reach, user, statuses, kind, role, metadata, contextId, workerId, parentJobId } = filter;
  const { createdAfter, createdBefore } = filter;
  return [
    ...isWithin(reach).map((condition) => isOfWorkers(tenantId, condition)),
    ...(user === null ? [] : [sql`j.user_name = ${user}`]),
    ...(statuses === null ? [] : [isOneOf(statuses)]),
    ...(kind === null ? [] : [sql.raw(`j.kind = '${kind}'`)]),
    ...(role === null ? [] : [isOfWorkers(tenantId, sql`w.role = ${role}`)]),
    ...(metadata === null
      ? []
      : [isLimited(executor) ? isFoundToHold(tenantId, metadata) : holds(sql`j.metadata`, metadata)]),
    ...(contextId === null ? [] : [sql`j.context_id = ${contextId}`]),
    ...(workerId === null ? [] : [isOfWorkers(tenantId, sql`w.id = ${workerId}`)]),
    ...(parentJobId === null ? [] : [sql`j.parent_job_id = ${parentJobId}`]),
    ...(createdAfter === null ? [] : [isAfter(createdAfter)]),
    ...(createdBefore === null ? [] : [isBefore(createdBefore)]),
  ];
}

/** Of a list: which jobs come before its page, its direction, and how many it reads at most. */
type Part = { start: readonly SQL[]; descending: boolean; limit: number };

/** The same for one part of a list, with its tenant. */
export function conditionsOfPart(
  executor: Executor,
  tenantId: TenantId,
  filter: JobFilter,
  { start, descending, limit }: Part,
): SQL[] {
  const { statuses } = filter;
  const others = [
    sql`j.tenant_id = ${tenantId}`,
    ...conditionsOf(executor, tenantId, { ...filter, statuses: null }),
    ...start,
  ];
  if (statuses === null) return others;
  // No index has completed jobs alone, since nearly all are.
  if (statuses.includes('completed')) return [...others, isOneOf(statuses)];
  const direction = descending ? sql`desc` : sql`asc`;
  const each = [...new Set(statuses)].map(
    (status) => sql`(select j.id from jobs j where ${sql.join([...others, isExactly(status)], sql` and `)}
      order by j.status ${direction}, j.id ${direction} limit ${limit})`,
  );
  return [
    sql`j.tenant_id = ${tenantId}`,
    sql`j.id in (select u.id from (${sql.join(each, sql` union all `)}) u order by u.id ${direction} limit ${limit})`,
  ];
}

/**
 * Of each status the jobs are read in the order of its index. It is written as a range, because only that index has the
 * range in order: with statistics from a time when most jobs were queued, PostgreSQL would otherwise read all jobs of the
 * tenant, newest first, until it has found enough that still are.
 */
function isExactly(status: JobStatus): SQL {
  const group = BY_STATUS.find((one) => one.includes(status)) ?? [status];
  return sql.raw(
    `j.status in (${group.map((one) => `'${one}'`).join(', ')}) and j.status >= '${status}' and j.status <= '${status}'`,
  );
}

/** Each of these groups has an index by tenant, status and id. */
const BY_STATUS: readonly (readonly JobStatus[])[] = [
  ['delayed', 'queued', 'running', 'waiting'],
  ['incomplete', 'failed', 'cancelled', 'interrupted'],
];

/** Each of these groups has its own index, except the last, which contains nearly all jobs. */
const GROUPS: readonly (readonly JobStatus[])[] = [
  ['delayed'],
  ['queued'],
  ['running', 'waiting'],
  ['incomplete', 'failed', 'cancelled', 'interrupted'],
  ['completed'],
];

/** Statuses are written as literals, like kinds: a partial index cannot be used with a parameter. */
function isOneOf(statuses: readonly JobStatus[]): SQL {
  const groups = GROUPS.map((group) => group.filter((status) => statuses.includes(status)));
  const some = groups.filter((group) => group.length > 0);
  return sql.raw(`(${some.map((group) => `j.status in (${group.map((one) => `'${one}'`).join(', ')})`).join(' or ')})`);
}

/** A worker has one context, and the index on jobs uses the context. */
function isOfWorkers(tenantId: TenantId, which: SQL): SQL {
  return sql`j.context_id in (select w.context_id from workers w where w.tenant_id = ${tenantId} and ${which})`;
}

/** Jobs with empty metadata, which are most jobs, are not in the metadata index. */
function holds(column: SQL, metadata: JsonObject): SQL {
  const contained = sql`${column} @> ${encodeJson(metadata)}::jsonb`;
  return Object.keys(metadata).length === 0 ? contained : sql`${contained} and ${column} <> '{}'::jsonb`;
}

/** The same by a view, whose index row security does not hide. */
function isFoundToHold(tenantId: TenantId, metadata: JsonObject): SQL {
  return sql`j.id in (select f.id from tenant_job_metadata f
    where f.tenant_id = ${tenantId} and ${holds(sql`f.metadata`, metadata)})`;
}

/** Assumed maximum difference between the clock that created an id and the database's clock. */
const CLOCKS_DIFFER_MS = 3_600_000;

/** Ids sort by their creation time, so jobs created long before or after need not be read. */
function isAfter(time: Millis): SQL {
  return sql`j.created_at > ${toTimestamp(time)}::timestamptz and j.id >= ${firstIdOf(time - CLOCKS_DIFFER_MS)}::uuid`;
}

function isBefore(time: Millis): SQL {
  return sql`j.created_at < ${toTimestamp(time)}::timestamptz and j.id < ${firstIdOf(time + CLOCKS_DIFFER_MS)}::uuid`;
}

/** The smallest UUIDv7 of a time. */
function firstIdOf(time: Millis): string {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
