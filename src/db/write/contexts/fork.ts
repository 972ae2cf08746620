/**
 * A fork: a context that starts with copies of another context's history. One SQL statement copies everything, whatever
 * its size; no data passes through this process. The copied messages belong to ended jobs and no longer change.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { MAIN } from '../../../core/conversation/branch.ts';
import type { Span } from '../../../core/conversation/branch.ts';
import type { ContextId, WorkerId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { eventsOf } from '../../run/compactions.ts';
import type { Place } from '../../run/history.ts';
import { dueNow } from '../../connection/instant.ts';
import { leaveToSearch } from '../../search/search-index.ts';

/** Keeps a context from being deleted until the transaction ends; runs continue. False: no such context. */
export async function keepContext(tx: Executor, { tenantId, contextId }: Place): Promise<boolean> {
  const rows = await tx.execute(
    sql`/* contexts.lock_for_fork */ select id from contexts where id = ${contextId} and tenant_id = ${tenantId} for key share`,
  );
  return rows.length > 0;
}

export type Fork = {
  /** The parts of the source that are copied, in order. None is open-ended. */
  spans: readonly Span[];
  contextId: ContextId;
  workerId: WorkerId;
  /** Undefined: the title of the source. */
  title: string | null | undefined;
};

/**
 * Copies messages, closed calls and compactions, with new ids and numbers. Turns are kept. Usage and cost are not
 * copied to the counters. Jobs are not copied: a copied message has no job, and a copied call keeps the job id of the
 * source.
 */
export async function copyContext(tx: Executor, source: Place, fork: Fork): Promise<void> {
  const { tenantId, contextId: sourceId } = source;
  const { spans, contextId, workerId, title } = fork;
  const newId = (id: SQL): SQL => derived(contextId, id);
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
        and ${eventsOf(sql`k`, sql`select branch, after, upto from stretch`)}
    ), said as materialized (
      select m.id, m.seq, m.role, m.turn, row_number() over (order by m.seq)
        + (select count(*) from compacted k where k.seq < m.seq) as place
      from stretch s cross join lateral (
        select m.id, m.seq, m.role, m.turn from messages m
        where m.context_id = ${sourceId} and m.tenant_id = ${tenantId} and m.branch = s.branch
          and m.seq > s.after and m.seq <= s.upto and m.status = 'completed' order by m.seq) m
    ), ctx as (
      insert into contexts (id, tenant_id, head_seq, message_count, turn_count)
      select ${contextId}, ${tenantId}, (select count(*) from said) + (select count(*) from compacted),
        (select count(*) from said),
        (select coalesce(max(substr(turn, 2)::int), 0) from said where role <> 'system')
    ), worker as (
      insert into workers (id, tenant_id, context_id, name, title, role, role_version, config, parent_context_id,
        root_context_id, expires_at)
      select ${workerId}::uuid, w.tenant_id, ${contextId}::uuid, w.name,
        ${title === undefined ? sql`w.title` : sql`${title}::text`}, w.role, w.role_version, w.config, w.context_id,
        coalesce(w.root_context_id, w.context_id),
        -- The sweep computes when it expires, if the source can expire.
        case when w.expires_at is not null or w.archived_at is not null then ${dueNow} end
      from workers w where w.context_id = ${sourceId} and w.tenant_id = ${tenantId}
    ), main as (
      insert into branches (context_id, tenant_id, name, message_count)
      select ${contextId}::uuid, ${tenantId}, ${MAIN}, (select count(*) from said)
    ), messages_copied as (
      insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, model_id,
        provider_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos, finish_reason,
        attempt, called_at, first_byte_at, created_at, completed_at)
      select ${newId(sql`m.id`)}, m.tenant_id, ${contextId}::uuid, ${MAIN}, said.place, m.role, m.type, m.turn, m.status,
        ${renamed(newId)}, m.model_id, m.provider_id, m.input_tokens, m.output_tokens, m.cache_read_tokens,
        m.cache_write_tokens, m.cost_nanos, m.finish_reason, m.attempt, m.called_at, m.first_byte_at, m.created_at, m.completed_at
      from said join messages m on m.id = said.id
    ), calls_copied as (
      insert into tool_calls (id, tenant_id, context_id, job_id, message_id, ordinal, name, effect, on_unknown, status,
        started_epoch, asked_at, expires_at, created_at, started_at, finished_at)
      select ${newId(sql`t.id`)}, t.tenant_id, ${contextId}::uuid, t.job_id, ${newId(sql`t.message_id`)}, t.ordinal, t.name,
        t.effect, t.on_unknown, t.status, t.started_epoch, t.asked_at, t.expires_at, t.created_at, t.started_at,
        t.finished_at
      from said join tool_calls t on t.message_id = said.id and t.finished_at is not null
      where said.role = 'assistant'
    ), numbered as (
      select k.*, k.nth + (select count(*) from said where said.seq < k.seq) as place,
        (select max(said.place) from said where said.seq <= k.upto_seq) as upto from compacted k
    ), compactions_copied as (
      insert into compactions (id, tenant_id, context_id, branch, seq, upto_seq, type, summary, model, tokens_before,
        tokens_after, job_id, created_at)
      select ${newId(sql`k.id`)}, k.tenant_id, ${contextId}::uuid, ${MAIN}, k.place, k.upto, k.type, k.summary, k.model,
        k.tokens_before, k.tokens_after, k.job_id, k.created_at
      from numbered k
    )
    insert into events (context_id, tenant_id, seq, name, data, created_at)
    select ${contextId}::uuid, e.tenant_id, k.place, e.name, e.data || jsonb_build_object(
      'compaction_id', ${newId(sql`k.id`)}, 'branch', ${MAIN}::text, 'upto_seq', k.upto), e.created_at
    from numbered k join events e on e.context_id = ${sourceId} and e.tenant_id = ${tenantId} and e.seq = k.seq`);
  await leaveToSearch(tx, tenantId, contextId);
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
