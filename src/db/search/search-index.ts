/**
 * Builds the search index after the append, in every worker process: an append only stores how far its context has
 * come. The expressions for searched text here and in `search.ts` must stay the same. It stores the beginning of the
 * first input of a context, too, which lists show as its title.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, TenantId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { STORED_MARK } from '../connection/codec.ts';

/**
 * The text search configuration: word splitting and stemming. Stored entries depend on it; another one needs a rebuild.
 */
export const LANGUAGE: SQL = sql.raw(`'english'::regconfig`);

/** Characters of a message that are searched. A `tsvector` is limited to one megabyte. */
const LONGEST = 50_000;

/** Rows of the backlog, and messages per context, that one statement processes. They limit its duration. */
const ROWS = 200;
const MESSAGES = 50;

/** Limits for all contexts together: messages, and bytes as stored (compressed). Long texts take long to index. */
const AT_ONCE = 1_000;
const AT_ONCE_BYTES = 4 * 1024 * 1024;

/** An arbitrary lock number that is used only here: one process at a time builds the index. */
const LOCK = 7_227_002;

/** The searched text of a message; null: none. `content`: its blocks. */
export function searchedText(content: SQL): SQL {
  return sql`(select left(regexp_replace(string_agg(b ->> 'text', chr(10)), ${STORED_MARK}, ' ', 'g'), ${LONGEST})
    from json_array_elements(${content}) b where b ->> 'type' = 'text')`;
}

/** Characters of a first input that lists show, and those of it that are looked at. */
const BEGINNING = 120;
const READ = 1_000;

/** The beginning of a text, on one line. */
function beginning(text: SQL): SQL {
  return sql`left(btrim(regexp_replace(left(${text}, ${READ}), '[[:space:]]+', ' ', 'g')), ${BEGINNING})`;
}

/** The mark of a tenant or context in a document. Words of texts never start with `@`. */
export function ownerMark(owner: TenantId | ContextId): string {
  return `@${owner}`;
}

/**
 * Queues messages of a context for the search index that came by no append. Call it in the transaction that wrote them.
 */
export async function leaveToSearch(tx: Executor, tenantId: TenantId, contextId: ContextId): Promise<void> {
  await tx.execute(sql`/* search.add_backlog */
    insert into search_backlog (context_id, tenant_id, upto_seq)
    select id, tenant_id, head_seq from contexts where id = ${contextId} and tenant_id = ${tenantId}`);
}

/**
 * Processes the backlog, oldest first: adds entries for inputs and answers with text, and deletes each backlog row when
 * all messages up to its number are indexed. A pass that ends before has an entry for its last message: without text,
 * one that is never found. Skips a context that is being deleted, because its entries would remain, and one that has no
 * first input yet while a command changes its worker: a later pass takes it. True: progress was made, and more is left. `onTitled`: called with each context whose first input was stored.
 */
export async function indexBacklog(
  executor: Executor,
  onTitled: (contextId: ContextId) => void = () => undefined,
): Promise<boolean> {
  const [row] = await executor.execute<{ goes_on: boolean; titled: ContextId[] }>(sql`/* search.index_backlog */
    with backlog as materialized (
      select b.id, b.context_id, b.upto_seq from search_backlog b
      where (select pg_try_advisory_xact_lock(${LOCK})) order by b.id limit ${ROWS}
    ), locked as materialized (
      select c.id from contexts c where c.id in (select context_id from backlog) for key share skip locked
    ), reach as (
      select b.context_id, max(b.upto_seq) as upto
      from backlog b join locked h on h.id = b.context_id group by b.context_id
    ), lacking as materialized (
      select m.*, row_number() over line <= ${AT_ONCE} and sum(m.size) over line - m.size < ${AT_ONCE_BYTES} as taken
      from reach r cross join lateral (
        select m.context_id, m.seq, m.id, pg_column_size(m.content) as size from messages m
        where m.context_id = r.context_id and m.seq <= r.upto and m.role in ('user', 'assistant') and m.seq > coalesce(
          (select max(e.seq) from search_entries e where e.context_id = r.context_id), 0)
        order by m.seq limit ${MESSAGES}) m
      window line as (order by m.context_id, m.seq)
    ), come as (
      -- Counts the missing messages, not the inserted ones: the previous lock owner may have inserted those, invisible
      -- to this snapshot. Without an end, the next pass begins after seq.
      select context_id, at_end, case when at_end then upto else taken end as seq from (
        select r.context_id, r.upto, count(m.seq) < ${MESSAGES} and bool_and(m.taken) is not false as at_end,
          max(m.seq) filter (where m.taken) as taken
        from reach r left join lacking m on m.context_id = r.context_id group by r.context_id, r.upto) r
    ), said as materialized (
      select m.context_id, m.seq, m.tenant_id, m.id, m.role, m.status, m.created_at, m.text
      from lacking l cross join lateral (
        select m.*, ${searchedText(sql`m.content`)} as text from messages m where m.id = l.id limit 1) m
      where l.taken
    ), first as materialized (
      -- The first input of the history, which begins after the last clear.
      select distinct on (s.context_id) s.context_id, w.id, w.xmin as version, ${beginning(sql`s.text`)} as text
      from said s join workers w on w.context_id = s.context_id
        left join branches b on b.context_id = s.context_id and b.name = 'main'
      where w.first_input is null and s.role = 'user' and s.status = 'completed' and s.text is not null
        and s.seq > coalesce((b.spans -> 0 ->> 'after')::bigint, 0)
      order by s.context_id, s.seq
    ), untitled as (
      -- Skips a row that a command has locked, so that it never waits for one, or has changed since this statement
      -- began: it may have ended the history.
      select w.id, w.context_id, f.text from workers w join first f on f.id = w.id
      where w.xmin = f.version and f.text <> '' for no key update of w skip locked
    ), skipped as materialized (
      select f.context_id from first f where f.text <> '' and f.context_id not in (select context_id from untitled)
    ), made as (
      insert into search_entries (context_id, seq, tenant_id, message_id, role, created_at, document)
      select m.context_id, m.seq, m.tenant_id, m.id, m.role, m.created_at, coalesce(
        array_to_tsvector(array['@' || m.tenant_id::text, '@' || m.context_id::text])
          || to_tsvector(${LANGUAGE}, m.text), ''::tsvector)
      from said m join come on come.context_id = m.context_id
      where (m.text is not null or m.seq = come.seq and not come.at_end)
        and m.context_id not in (select context_id from skipped)
      on conflict do nothing
      returning context_id, seq
    ), titled as (
      update workers w set first_input = u.text from untitled u where w.id = u.id returning w.context_id
    ), gone as (
      delete from search_backlog b using backlog w
        left join come on come.context_id = w.context_id left join contexts c on c.id = w.context_id
      where b.id = w.id and (w.upto_seq <= come.seq or c.id is null)
        and w.context_id not in (select context_id from skipped)
      returning b.id
    )
    select (exists (select 1 from gone) or exists (select 1 from made))
        and (b.rows = ${ROWS} or b.rows > (select count(*) from gone)) as goes_on,
      (select coalesce(jsonb_agg(t.context_id), '[]') from titled t) as titled
    from (select count(*) as rows from backlog) b`);
  for (const contextId of row?.titled ?? []) onTitled(contextId);
  return row?.goes_on ?? false;
}
