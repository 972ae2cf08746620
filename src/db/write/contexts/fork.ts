/**
 * A fork: a context that starts with copies of another context's history. One SQL statement copies everything, whatever
 * its size; no data passes through this process. The copied messages belong to ended jobs and no longer change.
 */
import { sql, type SQL } from 'drizzle-orm';
import { MAIN, type Span } from '../../../core/conversation/branch.ts';
import type { ContextId, WorkerId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { isCoveredWithin } from '../../run/compactions.ts';
import type { Place } from '../../run/places.ts';
import { dueNow } from '../../connection/instant.ts';
import { copied, insertInto } from '../../rows/written-columns.ts';
import { branches } from '../../schema/branches.ts';
import { compactions } from '../../schema/compactions.ts';
import { contexts } from '../../schema/contexts.ts';
import { eventAt } from '../../run/events.ts';
import { eventBatches } from '../../schema/events.ts';
import { messages } from '../../schema/messages.ts';
import { toolCalls } from '../../schema/tool-calls.ts';
import { workers } from '../../schema/workers.ts';
import { leaveToSearch } from '../../search/search-index.ts';

/** Keeps a context from being deleted until the transaction ends; runs continue. False: no such context. */
export async function keepContext(tx: Executor, { tenantId, contextId }: Place): Promise<boolean> {
  const rows = await tx.execute(
    sql`/* contexts.lock_for_fork */ select id from contexts where id = ${contextId} and tenant_id = ${tenantId} for key share`,
  );
  return rows.length > 0;
}

type Fork = {
  /** The parts of the source that are copied, in order. None is open-ended. */
  spans: readonly Span[];
  contextId: ContextId;
  workerId: WorkerId;
  /** Undefined: the title of the source. */
  title: string | null | undefined;
};

/**
 * Copies messages, the text of unfinished answers, closed calls and compactions, with new ids and numbers. Turns are kept. Usage and cost are not
 * copied to the counters. Jobs are not copied: a copied message has no job, and a copied call keeps the job id of the
 * source.
 */
export async function copyContext(tx: Executor, source: Place, fork: Fork): Promise<void> {
  const { tenantId, contextId: sourceId } = source;
  const { spans, contextId } = fork;
  await tx.execute(sql`/* contexts.fork */
    with stretch as (
      select * from jsonb_to_recordset(${encodeJson(spans)}::jsonb) as s(branch text, after bigint, upto bigint)
      where s.after + 0 = s.after
    ), compacted as materialized (
      select k.*, row_number() over (order by k.seq) as nth from stretch s join compactions k
        on k.context_id = ${sourceId} and k.tenant_id = ${tenantId} and k.branch = s.branch
        and k.seq > s.after and k.upto_seq <= s.upto
      where not exists (select 1 from jobs j where j.id = k.job_id and j.status = 'interrupted'
        and j.stop_mode <> 'keep' and k.upto_seq > j.first_seq)
        and ${isCoveredWithin(sql`k`, sql`select branch, after, upto from stretch`)}
    ), shared as materialized (
      select m.id, m.seq, m.role, m.turn, m.status, row_number() over (order by m.seq)
        + (select count(*) from compacted k where k.seq < m.seq) as place
      from stretch s cross join lateral (
        select m.id, m.seq, m.role, m.turn, m.status from messages m
        where m.context_id = ${sourceId} and m.tenant_id = ${tenantId} and m.branch = s.branch
          and m.seq > s.after and m.seq <= s.upto and (m.status = 'completed' or m.type = 'partial')
        order by m.seq) m
    ), messages_copied as (
      ${copiedMessages(fork)} returning bytes
    ), ctx as (
      ${newContext(source, fork)}
    ), worker as (
      ${newWorker(source, fork)}
    ), main as (
      ${insertInto(branches, {
        contextId: sql`${contextId}::uuid`,
        tenantId: sql`${tenantId}::bigint`,
        name: sql`${MAIN}`,
        messageCount: COPIED,
      })}
    ), calls_copied as (
      ${copiedCalls(fork)}
    ), numbered as (
      select k.*, k.nth + (select count(*) from shared where shared.seq < k.seq) as place,
        (select max(shared.place) from shared where shared.seq <= k.upto_seq) as upto from compacted k
    ), compactions_copied as (
      ${copiedCompactions(fork)}
    )
    ${copiedEvents(fork)}`);
  await leaveToSearch(tx, tenantId, contextId);
}

/** Messages of the history. */
const COPIED = sql`(select count(*) from shared where status = 'completed')`;

function newContext({ tenantId, contextId: sourceId }: Place, { contextId }: Fork): SQL {
  return insertInto(contexts, {
    id: sql`${contextId}::uuid`,
    tenantId: sql`${tenantId}::bigint`,
    userName: sql`(select c.user_name from contexts c where c.id = ${sourceId} and c.tenant_id = ${tenantId})`,
    headSeq: sql`(select count(*) from shared) + (select count(*) from compacted)`,
    messageCount: COPIED,
    // New ids may have another length.
    storedBytes: sql`(select coalesce(sum(bytes), 0) from messages_copied)`,
    turnCount: sql`(select coalesce(max(substr(turn, 2)::int), 0) from shared where role <> 'system' and status = 'completed')`,
  });
}

function newWorker(source: Place, { contextId, workerId, title }: Fork): SQL {
  return sql`${insertInto(workers, {
    ...copied(workers, 'w', ['tenantId', 'user', 'name', 'role', 'roleVersion', 'config']),
    id: sql`${workerId}::uuid`,
    contextId: sql`${contextId}::uuid`,
    title: title === undefined ? sql`w.title` : sql`${title}::text`,
    parentContextId: sql`w.context_id`,
    rootContextId: sql`coalesce(w.root_context_id, w.context_id)`,
    // The sweep computes when it expires, if the source can expire.
    expiresAt: sql`case when w.expires_at is not null or w.archived_at is not null then ${dueNow} end`,
  })}
  from workers w where w.context_id = ${source.contextId} and w.tenant_id = ${source.tenantId}`;
}

const COPIED_OF_MESSAGE = [
  'tenantId',
  'role',
  'type',
  'turn',
  'status',
  'retraction',
  'modelId',
  'providerId',
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'costNanos',
  'finishReason',
  'attempt',
  'calledAt',
  'firstByteAt',
  'createdAt',
  'completedAt',
  'appendedAt',
] as const;

function copiedMessages({ contextId }: Fork): SQL {
  return sql`${insertInto(messages, {
    ...copied(messages, 'm', COPIED_OF_MESSAGE),
    id: derived(contextId, sql`m.id`),
    contextId: sql`${contextId}::uuid`,
    branch: sql`${MAIN}`,
    seq: sql`shared.place`,
    content: renamed((id) => derived(contextId, id)),
    // The copy belongs to no job. Its call keeps the job of the source.
    call: sql`case when m.call is not null then (m.call::jsonb || jsonb_build_object(
      'message_id', ${derived(contextId, sql`(m.call ->> 'message_id')`)},
      'job_id', coalesce(m.job_id::text, m.call ->> 'job_id')))::json end`,
  })}
  from shared join messages m on m.id = shared.id`;
}

const COPIED_OF_CALL = [
  'tenantId',
  'jobId',
  'ordinal',
  'name',
  'effect',
  'onUnknown',
  'status',
  'startedEpoch',
  'askedAt',
  'expiresAt',
  'createdAt',
  'startedAt',
  'finishedAt',
] as const;

function copiedCalls({ contextId }: Fork): SQL {
  return sql`${insertInto(toolCalls, {
    ...copied(toolCalls, 't', COPIED_OF_CALL),
    id: derived(contextId, sql`t.id`),
    contextId: sql`${contextId}::uuid`,
    messageId: derived(contextId, sql`t.message_id`),
  })}
  from shared join tool_calls t on t.message_id = shared.id and t.finished_at is not null
  where shared.role = 'assistant'`;
}

const COPIED_OF_COMPACTION = [
  'tenantId',
  'type',
  'summary',
  'model',
  'tokensBefore',
  'tokensAfter',
  'jobId',
  'createdAt',
] as const;

function copiedCompactions({ contextId }: Fork): SQL {
  return sql`${insertInto(compactions, {
    ...copied(compactions, 'k', COPIED_OF_COMPACTION),
    seq: sql`k.place`,
    uptoSeq: sql`k.upto`,
    id: derived(contextId, sql`k.id`),
    contextId: sql`${contextId}::uuid`,
    branch: sql`${MAIN}`,
  })}
  from numbered k`;
}

function copiedEvents({ contextId }: Fork): SQL {
  return sql`${insertInto(eventBatches, {
    contextId: sql`${contextId}::uuid`,
    tenantId: sql`k.tenant_id`,
    firstSeq: sql`k.place`,
    seq: sql`k.place`,
    epoch: sql`0`,
    events: sql`json_build_array(json_build_array(0, e.name, e.data::jsonb || jsonb_build_object(
      'compaction_id', ${derived(contextId, sql`k.id`)}, 'branch', ${MAIN}::text, 'upto_seq', k.upto)))`,
    createdAt: sql`e.created_at`,
  })}
  from numbered k cross join lateral ${eventAt(sql`k.context_id`, sql`k.seq`)} e`;
}

/**
 * The id of a copy: a UUIDv7 with the time of the original, and a hash of the new context and the original id. It is
 * the same wherever the original id occurs, so copied results still refer to their copied calls.
 */
function derived(contextId: ContextId, id: SQL): SQL {
  const hash = sql`md5(${contextId}::text || ${id}::text)`;
  return sql`(substr(${id}::text, 1, 13) || '-7' || substr(${hash}, 1, 3) || '-8' || substr(${hash}, 4, 3) || '-'
    || substr(${hash}, 7, 12))::uuid`;
}

/** The content of the message `m` with new ids for its calls and results. Everything else stays byte for byte. */
function renamed(newId: (id: SQL) => SQL): SQL {
  return sql`case when m.role in ('assistant', 'tool') and exists (
      select 1 from json_array_elements(m.content) block where block ->> 'type' in ('tool_use', 'tool_result'))
    then (
      select '[' || string_agg(case block ->> 'type'
        when 'tool_use' then ${withMember('id', newId)}
        when 'tool_result' then ${withMember('tool_use_id', newId)}
        else block::text end, ',' order by nth) || ']'
      from json_array_elements(m.content) with ordinality as blocks(block, nth))::json
    else m.content end`;
}

/** The text of `block` with a new id in this member. The other members keep their values and their order. */
function withMember(name: 'id' | 'tool_use_id', newId: (id: SQL) => SQL): SQL {
  const member = sql.raw(`'${name}'`);
  return sql`(
    select '{' || string_agg(to_json(key)::text || ':' || case key
      when ${member} then to_json(${newId(sql`(block ->> ${member})`)})::text else value::text end, ',' order by place) || '}'
    from json_each(block) with ordinality as members(key, value, place))`;
}
