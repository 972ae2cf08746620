/**
 * What search finds is made behind the append, by every worker process: an append only leaves a row that says how far its context
 * has come. What is said of a text here is asked of it in `search.ts`, to the letter.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { ContextId, TenantId } from '../core/ids.ts';
import type { Executor } from './client.ts';
import { STORED_MARK } from './codec.ts';

/** How words are told apart and what is the same word. Stored with every entry: another one needs all of them anew. */
export const LANGUAGE: SQL = sql.raw(`'english'::regconfig`);

/** Characters of a message that are searched. A `tsvector` holds no more than a megabyte. */
const LONGEST = 50_000;

/** Rows of the backlog, and messages of each context, that one statement goes through: so that none takes long. */
const ROWS = 200;
const MESSAGES = 50;

/** Of all of them together: messages, and bytes as they are stored, compressed. Long texts take their time. */
const AT_ONCE = 1_000;
const AT_ONCE_BYTES = 4 * 1024 * 1024;

/** An arbitrary number that only this uses: one process at a time does it. */
const LOCK = 7_227_002;

/** The text of a message, as far as it is searched; null: none. `content`: its blocks. */
export function searchedText(content: SQL): SQL {
  return sql`(select left(regexp_replace(string_agg(b ->> 'text', chr(10)), ${STORED_MARK}, ' ', 'g'), ${LONGEST})
    from json_array_elements(${content}) b where b ->> 'type' = 'text')`;
}

/** Stands in each document for whose it is. No word of a text begins so. */
export function ownerMark(owner: TenantId | ContextId): string {
  return `@${owner}`;
}

/** A context has messages that search does not know: those that came by no append. In the transaction that wrote them. */
export async function leaveToSearch(tx: Executor, tenantId: TenantId, contextId: ContextId): Promise<void> {
  await tx.execute(sql`/* search.add_backlog */
    insert into search_backlog (context_id, tenant_id, upto_seq)
    select id, tenant_id, head_seq from contexts where id = ${contextId} and tenant_id = ${tenantId}`);
}

/**
 * Goes on with the backlog, oldest first: what inputs and answers say becomes entries; a row is gone when all up to its
 * number is there. A context that somebody is removing is passed by: its entries would stay behind. True: something was
 * done, and more is left.
 */
export async function indexBacklog(executor: Executor): Promise<boolean> {
  const [row] = await executor.execute<{ goes_on: boolean }>(sql`/* search.index_backlog */
    with backlog as materialized (
      select b.id, b.context_id, b.upto_seq from search_backlog b
      where (select pg_try_advisory_xact_lock(${LOCK})) order by b.id limit ${ROWS}
    ), held as materialized (
      select c.id from contexts c where c.id in (select context_id from backlog) for key share skip locked
    ), reach as (
      select b.context_id, max(b.upto_seq) as upto from backlog b join held h on h.id = b.context_id group by b.context_id
    ), lacking as materialized (
      select m.*, row_number() over line <= ${AT_ONCE} and sum(m.size) over line - m.size < ${AT_ONCE_BYTES} as taken
      from reach r cross join lateral (
        select m.context_id, m.seq, m.id, pg_column_size(m.content) as size from messages m
        where m.context_id = r.context_id and m.seq <= r.upto and m.role in ('user', 'assistant') and m.seq > coalesce(
          (select max(e.seq) from search_entries e where e.context_id = r.context_id), 0)
        order by m.seq limit ${MESSAGES}) m
      window line as (order by m.context_id, m.seq)
    ), made as (
      insert into search_entries (context_id, seq, tenant_id, message_id, role, created_at, document)
      select m.context_id, m.seq, m.tenant_id, m.id, m.role, m.created_at,
        array_to_tsvector(array['@' || m.tenant_id, '@' || m.context_id::text])
          || coalesce(to_tsvector(${LANGUAGE}, ${searchedText(sql`m.content`)}), ''::tsvector)
      from lacking l cross join lateral (select * from messages m where m.id = l.id limit 1) m where l.taken
      on conflict do nothing
      returning context_id, seq
    ), come as (
      -- By what was lacking, not by what was made: whoever had the lock before may have made that, unseen by this statement.
      select r.context_id, case when count(m.seq) < ${MESSAGES} and bool_and(m.taken) is not false then r.upto
        else max(m.seq) filter (where m.taken) end as seq
      from reach r left join lacking m on m.context_id = r.context_id group by r.context_id, r.upto
    ), gone as (
      delete from search_backlog b using backlog w
        left join come on come.context_id = w.context_id left join contexts c on c.id = w.context_id
      where b.id = w.id and (w.upto_seq <= come.seq or c.id is null)
      returning b.id
    )
    select exists (select 1 from gone) or exists (select 1 from made) as goes_on from (
      select count(*) as rows from backlog) b
    where b.rows = ${ROWS} or b.rows > (select count(*) from gone)`);
  return row?.goes_on ?? false;
}
