/**
 * What a list of jobs is narrowed down by. However few jobs a filter meets, the others are not read one after the other to
 * find them: each condition is written so that an index serves it.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { ContextId, JobId, TenantId, WorkerId } from '../core/ids.ts';
import type { JobKind, JobStatus } from '../core/job.ts';
import type { JsonObject } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import { encodeJson } from './codec.ts';
import { toTimestamp } from './instant.ts';

/** What is null is not asked for. */
export type JobFilter = {
  statuses: readonly JobStatus[] | null;
  kind: JobKind | null;
  /** Of the worker. */
  role: string | null;
  /** Must be contained in that of the job. */
  metadata: JsonObject | null;
  contextId: ContextId | null;
  workerId: WorkerId | null;
  parentJobId: JobId | null;
  createdAfter: Millis | null;
  createdBefore: Millis | null;
};

/** Of a job `j` of this tenant. */
export function conditionsOf(tenantId: TenantId, filter: JobFilter): SQL[] {
  const { statuses, kind, role, metadata, contextId, workerId, parentJobId } = filter;
  const { createdAfter, createdBefore } = filter;
  return [
    ...(statuses === null ? [] : [isOneOf(statuses)]),
    ...(kind === null ? [] : [sql.raw(`j.kind = '${kind}'`)]),
    ...(role === null ? [] : [isOfWorkers(tenantId, sql`w.role = ${role}`)]),
    ...(metadata === null ? [] : [holds(metadata)]),
    ...(contextId === null ? [] : [sql`j.context_id = ${contextId}`]),
    ...(workerId === null ? [] : [isOfWorkers(tenantId, sql`w.id = ${workerId}`)]),
    ...(parentJobId === null ? [] : [sql`j.parent_job_id = ${parentJobId}`]),
    ...(createdAfter === null ? [] : [isAfter(createdAfter)]),
    ...(createdBefore === null ? [] : [isBefore(createdBefore)]),
  ];
}

/** Each of these groups has an index of its own, but for the last, which nearly all jobs are in. */
const GROUPS: readonly (readonly JobStatus[])[] = [
  ['queued'],
  ['running', 'waiting'],
  ['incomplete', 'failed', 'cancelled', 'interrupted'],
  ['completed'],
];

/** Words of the code, written out, as kinds are: an index of some of them serves no parameter. */
function isOneOf(statuses: readonly JobStatus[]): SQL {
  const groups = GROUPS.map((group) => group.filter((status) => statuses.includes(status)));
  const some = groups.filter((group) => group.length > 0);
  return sql.raw(
    `(${some.map((group) => `j.status in (${group.map((one) => `'${one}'`).join(', ')})`).join(' or ')})`,
  );
}

/** A worker has one context, and jobs are found by that. */
function isOfWorkers(tenantId: TenantId, which: SQL): SQL {
  return sql`j.context_id in (select w.context_id from workers w where w.tenant_id = ${tenantId} and ${which})`;
}

/** Most jobs carry nothing, and are in no index for it. */
function holds(metadata: JsonObject): SQL {
  const held = sql`j.metadata @> ${encodeJson(metadata)}::jsonb`;
  return Object.keys(metadata).length === 0 ? held : sql`${held} and j.metadata <> '{}'::jsonb`;
}

/** By how much the clock that made an id may differ from that of the database. */
const CLOCKS_DIFFER_MS = 3_600_000;

/** Ids sort by when they were made: those that were made long before or after need not be read. */
function isAfter(time: Millis): SQL {
  return sql`j.created_at > ${toTimestamp(time)}::timestamptz and j.id >= ${firstIdOf(time - CLOCKS_DIFFER_MS)}::uuid`;
}

function isBefore(time: Millis): SQL {
  return sql`j.created_at < ${toTimestamp(time)}::timestamptz and j.id < ${firstIdOf(time + CLOCKS_DIFFER_MS)}::uuid`;
}

/** The least UUIDv7 of a moment. */
function firstIdOf(time: Millis): string {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
