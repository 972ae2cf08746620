/**
 * Finds jobs by text, or sorts them by what no index has in order. One page scans a bounded number of jobs, newest or
 * oldest first, and a bounded amount of their inputs, so its cost does not grow with the tenant. The size of an input is
 * known before it is read.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { JobId, TenantId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';
import { conditionsOfPart, type JobFilter } from './job-filter.ts';

/** Jobs scanned per page. */
export const SCANNED = 2_000;
/** Bytes of inputs searched per page; the last input may exceed the limit. */
const INPUT_BYTES = 16 * 1024 * 1024;

/** Of the newest jobs, not of all. */
export const JOB_FIGURES = ['cost', 'duration', 'tokens'] as const;
export type JobFigure = (typeof JOB_FIGURES)[number];

/** `after`: the last job of the page before, with its figure. */
export type JobOrder =
  | { by: 'created'; descending: boolean; after: JobId | null }
  | { by: JobFigure; descending: boolean; after: readonly [number, JobId] | null };

/** Of a running job so far; without one the smallest. */
const FIGURES: { readonly [Name in JobFigure]: SQL } = {
  cost: sql`coalesce(j.cost_nanos, -1)::float8`,
  tokens: sql`(j.input_tokens + j.output_tokens + j.cache_read_tokens + j.cache_write_tokens)::float8`,
  duration: sql`coalesce(extract(epoch from coalesce(j.finished_at, statement_timestamp()) - j.started_at) * 1000, -1)::float8`,
};

/** In the order of the list. `figure`: 0 if it is not by one. */
type FoundJob = { id: JobId; figure: number };

/** `upto`: the last job that was scanned; null: there are no more, or the list is by a figure. */
export type FoundJobs = { jobs: FoundJob[]; upto: JobId | null };

type Wanted = {
  filter: JobFilter;
  /** Null: no text. */
  q: string | null;
  order: JobOrder;
  limit: number;
};

/** Ignores upper and lower case for the letters that the database's locale knows. */
export async function findJobs(executor: Executor, tenantId: TenantId, wanted: Wanted): Promise<FoundJobs> {
  const { filter, q, order, limit } = wanted;
  const isByTime = order.by === 'created';
  const direction = order.descending ? sql`desc` : sql`asc`;
  const scan = isByTime ? direction : sql`desc`;
  const part = { start: startOf(order), descending: !isByTime || order.descending, limit: SCANNED };
  const conditions = conditionsOfPart(executor, tenantId, filter, part);
  const figure = order.by === 'created' ? sql`0::float8` : FIGURES[order.by];
  const rows = await executor.execute<FoundJob & { scanned: boolean }>(sql`/* jobs.find_in_list */
    with scanned as materialized (
      select j.id, ${figure} as figure, j.message_id, coalesce(m.bytes, 0) as bytes,
        concat_ws(E'\\n', w.title, w.name, w.role, j.user_name, j.id, j.context_id, j.worker_id) as text
      from jobs j left join workers w on w.id = j.worker_id left join messages m on m.id = j.message_id
      where ${sql.join(conditions, sql` and `)} order by j.id ${scan} limit ${SCANNED}
    ), measured as (
      select s.*, sum(s.bytes) over (order by s.id ${scan} rows unbounded preceding) - s.bytes as before from scanned s
    ), looked as materialized (
      select m.* from measured m where ${q === null ? sql`true` : sql`m.before < ${INPUT_BYTES}`}
    )
    (select l.id, l.figure, false as scanned from looked l
      where ${q === null ? sql`true` : says(q)} and ${isAfter(order)}
      order by ${isByTime ? sql`l.id` : sql`l.figure ${direction}, l.id`} ${direction} limit ${limit})
    union all
    (select l.id, l.figure, true from looked l
      where ${isByTime ? sql`true` : sql`false`}
        and ((select count(*) from scanned) = ${SCANNED} or (select count(*) from looked) < (select count(*) from scanned))
      order by l.id ${order.descending ? sql`asc` : sql`desc`} limit 1)`);
  const jobs = rows.flatMap(({ id, figure: its, scanned }) => (scanned ? [] : [{ id, figure: its }]));
  return { jobs, upto: rows.find(({ scanned }) => scanned)?.id ?? null };
}

/** The ids of a page by time begin behind the page before. */
export function startOf(order: JobOrder): SQL[] {
  if (order.by !== 'created' || order.after === null) return [];
  return [order.descending ? sql`j.id < ${order.after}` : sql`j.id > ${order.after}`];
}

function isAfter(order: JobOrder): SQL {
  if (order.by === 'created' || order.after === null) return sql`true`;
  const [figure, id] = order.after;
  const last = sql`(${figure}::float8, ${id}::uuid)`;
  return order.descending ? sql`(l.figure, l.id) < ${last}` : sql`(l.figure, l.id) > ${last}`;
}

function says(q: string): SQL {
  const contains = (text: SQL): SQL => sql`strpos(lower(${text}), lower(${q}::text)) > 0`;
  const input = sql`(select string_agg(b.block ->> 'text', E'\\n' order by b.place)
    from json_array_elements(i.content) with ordinality b(block, place) where b.block ->> 'type' = 'text')`;
  return sql`(${contains(sql`l.text`)} or exists (
    select 1 from messages i where i.id = l.message_id and ${contains(input)}))`;
}
