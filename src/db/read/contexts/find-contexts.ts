/**
 * Finds contexts by their title, their first input, the name or role of their worker, their ids, or the metadata of their newest jobs. One
 * page scans a bounded number of contexts and a bounded amount of metadata, however few of them match, so its cost does
 * not grow with the tenant. The size of the metadata is measured as stored, before it is read.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';

/** Contexts scanned per page. */
export const SCANNED = 2_000;
/** Newest jobs per context whose metadata is searched. */
const JOBS = 20;
/** Bytes of metadata searched per page; the last context may exceed the limit. */
const METADATA_BYTES = 16 * 1024 * 1024;

/**
 * The size of compressed metadata is only known after reading it. It is estimated from the compressed size, up to the
 * maximum that a job may have.
 */
const EXPANSION = 16;
const MOST_BYTES = 64 * 1024;

/** The size of the metadata of a job `j`, without reading it. */
const metadataBytes: SQL = sql`case when pg_column_compression(j.metadata) is null then pg_column_size(j.metadata)
  else least(${MOST_BYTES}, ${EXPANSION} * pg_column_size(j.metadata)) end`;

/** `upto`: the last context that was scanned; null: there are no more. */
type FoundContexts = { ids: ContextId[]; upto: ContextId | null };

/**
 * Newest first, at most `limit`. `conditions`: on contexts `c` and their workers `w`. Ignores upper and lower case for
 * the letters that the database's locale knows.
 */
export async function findContexts(
  executor: Executor,
  q: string,
  conditions: SQL,
  limit: number,
): Promise<FoundContexts> {
  const says = (text: SQL): SQL => sql`strpos(lower(${text}), lower(${q}::text)) > 0`;
  const rows = await executor.execute<{ id: ContextId; scanned: boolean }>(sql`/* contexts.find */
    with scanned as materialized (
      select c.id, concat_ws(E'\\n', w.title, w.first_input, w.name, w.role, c.id, w.id) as text
      from contexts c join workers w on w.context_id = c.id
      where ${conditions} order by c.id desc limit ${SCANNED}
    ), measured as (
      select s.id, s.text, sum(m.bytes) over (order by s.id desc rows unbounded preceding) - m.bytes as before
      from scanned s cross join lateral (
        select coalesce(sum(j.bytes), 0) as bytes from (
          select ${metadataBytes} as bytes from jobs j where j.context_id = s.id order by j.id desc limit ${JOBS}) j) m
    ), looked as materialized (
      select m.id, m.text from measured m where m.before < ${METADATA_BYTES}
    )
    (select l.id, false as scanned from looked l
      where ${says(sql`l.text`)} or exists (
        select 1 from (select j.metadata from jobs j where j.context_id = l.id order by j.id desc limit ${JOBS}) j
        where j.metadata <> '{}' and ${says(sql`j.metadata::text`)})
      order by l.id desc limit ${limit})
    union all
    (select l.id, true from looked l
      where (select count(*) from scanned) = ${SCANNED} or (select count(*) from looked) < (select count(*) from scanned)
      order by l.id limit 1)`);
  return {
    ids: rows.filter(({ scanned }) => !scanned).map(({ id }) => id),
    upto: rows.find(({ scanned }) => scanned)?.id ?? null,
  };
}
