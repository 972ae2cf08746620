/**
 * Turns of a branch. Turn numbers never decrease along the visible messages of a branch, so the start of a turn is
 * found by binary search: a few index lookups, however long the history is.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, JobId, MessageId, TenantId, ToolCallId } from '../../../core/ids.ts';
import type { JobStatus } from '../../../core/run/job.ts';
import type { CallStatus } from '../../../core/tools/tool-call.ts';
import type { Executor } from '../../connection/client.ts';
import { askedFor, spansOf } from '../../run/spans.ts';

/** A branch, as SQL expressions. */
type OnBranch = { contextId: SQL; tenantId: SQL; branch: SQL };

/** The turn number of the message `m`. */
const number: SQL = sql`substr(m.turn, 2)::int`;

/** The first visible message of the branch after `seq`: the first of each span, then the first of these. */
function firstBeyond({ contextId, tenantId }: OnBranch, stretches: SQL, seq: SQL): SQL {
  return sql`
    select m.seq, m.number from ${stretches} s cross join lateral (
      select m.seq, ${number} as number from messages m where m.context_id = ${contextId} and m.tenant_id = ${tenantId}
        and m.branch = s.branch and m.seq > greatest(s.after, ${seq}) and m.seq <= s.upto and m.status = 'completed'
      order by m.seq limit 1) m
    order by m.seq limit 1`;
}

/** The number (`seq`) after which all visible messages belong to turn `turn` or a later one. */
export function turnBegins(on: OnBranch, turn: SQL): SQL {
  return sql`(
    with recursive stretch as materialized (${spansOf(on.contextId, on.tenantId, on.branch)}), probe(low, high) as (
      select 0::bigint, c.head_seq from contexts c where c.id = ${on.contextId}
      union all
      select case when ahead.number < ${turn} then ahead.seq else probe.low end,
        case when ahead.number < ${turn} then probe.high else (probe.low + probe.high) / 2 end
      from probe left join lateral (
        ${firstBeyond(on, sql`stretch`, sql`(probe.low + probe.high) / 2`)}) ahead on true
      where probe.low < probe.high
    )
    select max(low) from probe)`;
}

/** The number of the first visible message after turn `turn`; the largest bigint if there is none. */
export function turnEnds(on: OnBranch, turn: SQL): SQL {
  const stretches = sql`(${spansOf(on.contextId, on.tenantId, on.branch)})`;
  return sql`coalesce((select f.seq from (
    ${firstBeyond(on, stretches, turnBegins(on, sql`(${turn} + 1)`))}) f), 9223372036854775807)`;
}

export type TurnView = {
  number: number;
  /** In order. `answers` includes results of tools and notes. */
  inputs: MessageId[];
  answers: MessageId[];
  calls: {
    id: ToolCallId;
    name: string;
    status: CallStatus;
    messageId: MessageId;
    resultId: MessageId | null;
  }[];
  /** The last job that added to this turn. */
  job: { id: JobId; status: JobStatus } | null;
};

type TurnRange = {
  /** Null: the active branch. */
  branch: string | null;
  order: 'asc' | 'desc';
  /** The number of the last turn that was read; null: start a new listing. */
  after: number | null;
  limit: number;
};

type Row = {
  number: number;
  inputs: MessageId[] | null;
  answers: MessageId[] | null;
  calls: TurnView['calls'] | null;
  job_id: JobId | null;
  job_status: JobStatus | null;
};

/**
 * At most `limit` whole turns, and the name of their branch; `turns` null: no branch has that name. Null: the tenant
 * has no such context.
 */
export async function listTurns(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  { branch, order, after, limit }: TurnRange,
): Promise<{ branch: string; turns: TurnView[] | null } | null> {
  const on = {
    contextId: sql`${contextId}::uuid`,
    tenantId: sql`${tenantId}::bigint`,
    branch: sql`(select found from at)`,
  };
  const of = sql`m.context_id = ${contextId} and m.tenant_id = ${tenantId}`;
  type Listed = { asked: string; found: string | null };
  const rows = await executor.execute<Listed & (Row | { number: null })>(sql`/* turns.list */
    with at as materialized (${askedFor(tenantId, contextId, branch)}),
    stretch as materialized (${spansOf(on.contextId, on.tenantId, on.branch)}),
    wanted as materialized (${wantedTurns(on, order, after, limit)}),
    between as materialized (
      select ${turnBegins(on, sql`(select first from wanted)`)} as low, ${turnEnds(on, sql`(select last from wanted)`)} as high
    ),
    message as materialized (
      select m.id, m.seq, m.turn, m.role, m.content, m.job_id, m.call, ${number} as number
      from stretch s cross join between cross join lateral (
        select * from messages m where ${of} and m.branch = s.branch and m.seq > greatest(s.after, between.low)
          and m.seq <= s.upto and m.seq < between.high and m.status = 'completed') m
    ),
    result as materialized (
      select m.id, m.content -> 0 ->> 'tool_use_id' as call,
        coalesce(m.call ->> 'status',
          case when (m.content -> 0 ->> 'is_error')::boolean then 'failed' else 'completed' end) as status
      from message m where m.role = 'tool'
    ),
    call as (
      select m.number, jsonb_agg(jsonb_build_object('id', b.block ->> 'id', 'name', b.block ->> 'name',
        -- Calls that ended within their append, and those of an imported context, have no row.
        'status', coalesce(t.status, r.status, 'pending'),
        'messageId', m.id, 'resultId', r.id) order by m.seq, b.place) as calls
      from message m cross join lateral json_array_elements(m.content) with ordinality as b(block, place)
      left join tool_calls t on t.message_id = m.id and t.id::text = b.block ->> 'id'
      left join result r on r.call = b.block ->> 'id'
      where m.role = 'assistant' and b.block ->> 'type' = 'tool_use' group by m.number
    ),
    turn as (
      select m.number, jsonb_agg(m.id order by m.seq) filter (where m.turn like 'u%') as inputs,
        jsonb_agg(m.id order by m.seq) filter (where m.turn like 'a%') as answers,
        (array_agg(m.job_id order by m.seq desc) filter (where m.job_id is not null))[1] as job_id
      from message m group by m.number
    )
    select at.asked, at.found, l.* from at left join (
      select turn.*, call.calls, j.status as job_status from turn left join call on call.number = turn.number
      left join jobs j on j.id = turn.job_id) l on true
    order by l.number ${order === 'asc' ? sql`asc` : sql`desc`}`);
  const [first] = rows;
  if (first === undefined) return null;
  const turns = first.found === null ? null : rows.flatMap((row) => (row.number === null ? [] : [toView(row)]));
  return { branch: first.asked, turns };
}

/** The numbers of the first and the last turn of a page. */
function wantedTurns(on: OnBranch, order: 'asc' | 'desc', after: number | null, limit: number): SQL {
  if (order === 'asc') {
    const first = (after ?? 0) + 1;
    return sql`select ${first}::int as first, ${first + limit - 1}::int as last`;
  }
  const stretches = sql`(${spansOf(on.contextId, on.tenantId, on.branch)})`;
  const last =
    after === null
      ? sql`coalesce((select ${number} from ${stretches} s cross join lateral (
          select m.seq, m.turn from messages m where m.context_id = ${on.contextId} and m.tenant_id = ${on.tenantId}
            and m.branch = s.branch and m.seq > s.after and m.seq <= s.upto and m.status = 'completed'
          order by m.seq desc limit 1) m order by m.seq desc limit 1), 0)`
      : sql`${after - 1}::int`;
  return sql`select n.last - ${limit}::int + 1 as first, n.last from (select ${last} as last) n`;
}

function toView({ number, inputs, answers, calls, job_id: jobId, job_status: status }: Row): TurnView {
  return {
    number,
    inputs: inputs ?? [],
    answers: answers ?? [],
    calls: calls ?? [],
    job: jobId === null || status === null ? null : { id: jobId, status },
  };
}
