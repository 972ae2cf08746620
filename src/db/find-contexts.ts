/**
 * Contexts that say what is looked for: in their title, in the name or role of their worker, in an id, or in the metadata of
 * their newest jobs. A page looks at a bounded number of contexts and a bounded amount of metadata, however few of them say it:
 * what it costs does not grow with the tenant. The metadata is measured as it is stored, before any of it is read.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { ContextId } from '../core/ids.ts';
import type { Executor } from './client.ts';

/** Contexts that one page looks at. */
export const SCANNED = 2_000;
/** Jobs of each whose metadata is looked at. */
const JOBS = 20;
/** Bytes of metadata that one page looks at, and those of one more context. */
const METADATA_BYTES = 16 * 1024 * 1024;

/** The size of compressed metadata is not known without reading it: an estimate from its compressed size, at most what a job may carry. */
const EXPANSION = 16;
const MOST_BYTES = 64 * 1024;

/** The size of the metadata of a job `j`, without reading it. */
const metadataBytes: SQL = sql`case when pg_column_compression(j.metadata) is null then pg_column_size(j.metadata)
  else least(${MOST_BYTES}, ${EXPANSION} * pg_column_size(j.metadata)) end`;

/** `upto`: the last that was looked at; null: there are no more. */
export type FoundContexts = { ids: ContextId[]; upto: ContextId | null };

/** Newest first, at most `limit`. `conditions`: of contexts `c` and their workers `w`. Upper or lower case does not matter, as far as the locale of the database knows letters. */
export async function findContexts(
  executor: Executor,
  q: string,
  conditions: SQL,
  limit: number,
): Promise<FoundContexts> {
  const says = (text: SQL): SQL => sql`strpos(lower(${text}), lower(${q}::text)) > 0`;
  const rows = await executor.execute<{ id: ContextId; scanned: boolean }>(sql`/* contexts.find */
    with scanned as materialized (
      select c.id, concat_ws(E'\\n', w.title, w.name, w.role, c.id, w.id) as text
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
