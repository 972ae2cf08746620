/**
 * The part of an append that creates child workers, and that starts and ends waits of calls for other workers' jobs.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Append } from '../../core/run/append.ts';
import { encodeJson, plainText } from '../connection/codec.ts';
import { WAKE_UP_GRACE_MS, toTimestamp } from '../connection/instant.ts';

/** Whether an append needs this part. */
export function engages({ spawns, awaits, released }: Append): boolean {
  return spawns.length > 0 || awaits.length > 0 || released.length > 0;
}

/**
 * Common table expressions that follow `ctx`, each with its leading comma: inserts child workers with their jobs,
 * inserts awaited jobs, and deletes the awaited jobs of closed calls.
 */
export function engagements(appends: readonly Append[]): SQL {
  const spawned = encodeJson(appends.flatMap(spawnRows));
  const awaited = encodeJson(appends.flatMap(awaitRows));
  return sql`, spawned as materialized (
      select s.*, ctx.tenant_id from json_to_recordset(${spawned}::json) as s(
        parent_context_id uuid, call_id uuid, worker_id uuid, context_id uuid, job_id uuid, message_id uuid, name text,
        role text, role_version int, config json, expires boolean, parent_worker_id uuid, root_worker_id uuid, depth int,
        detached boolean, content json, parent_job_id uuid, hops int, priority int, deadline timestamptz, awaited boolean)
      join ctx on ctx.id = s.parent_context_id
    ), child_contexts as (
      insert into contexts (id, tenant_id, scheduling_status, wake_seq, queued, next_check_at)
      select s.context_id, s.tenant_id, 'runnable', 1, 1,
        statement_timestamp() + ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' from spawned s
    ), child_workers as (
      insert into workers (id, tenant_id, context_id, name, role, role_version, config, parent_worker_id, root_worker_id,
        depth, detached, expires_at)
      select s.worker_id, s.tenant_id, s.context_id, s.name, s.role, s.role_version, s.config, s.parent_worker_id,
        s.root_worker_id, s.depth, s.detached, case when s.expires then statement_timestamp() end from spawned s
    ), child_branches as (
      insert into branches (context_id, tenant_id, name) select s.context_id, s.tenant_id, 'main' from spawned s
    ), child_inputs as (
      insert into messages (id, tenant_id, context_id, branch, role, type, status, content, job_id, sender_worker_id)
      select s.message_id, s.tenant_id, s.context_id, 'main', 'user', 'text', 'queued', s.content, s.job_id,
        s.parent_worker_id from spawned s
    ), child_jobs as (
      insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, priority, position, message_id, deadline,
        parent_job_id, parent_tool_call_id, hops, parent_notice, metadata)
      select s.job_id, s.tenant_id, s.context_id, s.worker_id, 'input', 'main', s.priority, 1, s.message_id, s.deadline,
        s.parent_job_id, s.call_id, s.hops, case when not s.awaited then 'wanted' end, '{}'::jsonb from spawned s
    ), awaits as (
      insert into awaited_jobs (tool_call_id, job_id, tenant_id, context_id, worker_id, ordinal)
      select a.call_id, a.job_id, ctx.tenant_id, ctx.id, a.worker_id, a.ordinal
      from jsonb_to_recordset(${awaited}::jsonb) as a(context_id uuid, call_id uuid, job_id uuid, worker_id uuid, ordinal int)
      join ctx on ctx.id = a.context_id
    ), awaited_no_more as (
      delete from awaited_jobs a using own_calls o where a.tool_call_id = o.id
    )`;
}

/** Calls that waited for workers and that these appends close. */
export function ownCalls(appends: readonly Append[]): SQL {
  const closed = appends.flatMap(({ lease, released }) =>
    released.map((id) => ({ context_id: lease.contextId, id })),
  );
  return sql`select o.id from jsonb_to_recordset(${encodeJson(closed)}::jsonb) as o(context_id uuid, id uuid)
    join ctx on ctx.id = o.context_id`;
}

function spawnRows({ lease, spawns }: Append) {
  return spawns.map((spawn) => ({
    parent_context_id: lease.contextId,
    call_id: spawn.callId,
    worker_id: spawn.workerId,
    context_id: spawn.contextId,
    job_id: spawn.jobId,
    message_id: spawn.messageId,
    name: plainText(spawn.name),
    role: spawn.role?.name ?? null,
    role_version: spawn.role?.version ?? null,
    config: spawn.config,
    expires: spawn.config.idle_timeout_s !== undefined || spawn.role !== null,
    parent_worker_id: spawn.parentWorkerId,
    root_worker_id: spawn.rootWorkerId,
    depth: spawn.depth,
    detached: spawn.detached,
    content: [{ type: 'text', text: spawn.input }],
    parent_job_id: spawn.parentJobId,
    hops: spawn.hops,
    priority: spawn.priority,
    deadline: toTimestamp(spawn.deadline),
    awaited: spawn.awaited,
  }));
}

function awaitRows({ lease, awaits }: Append) {
  return awaits.map(({ callId, jobId, workerId, ordinal }) => ({
    context_id: lease.contextId,
    call_id: callId,
    job_id: jobId,
    worker_id: workerId,
    ordinal,
  }));
}
