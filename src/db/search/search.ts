/**
 * Full-text search over messages. The newest matches are ranked in one stretch of a fixed size, then the next older
 * ones in the next stretch. So a page costs the same however many matches there are, and no match is left out.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, MessageId, TenantId } from '../../core/ids.ts';
import type { Millis } from '../../core/time.ts';
import type { Turn } from '../../core/conversation/turn.ts';
import type { PageRequest } from '../read/page.ts';
import { isVisible, type Visible } from '../read/reach.ts';
import { isRead } from '../write/contexts/branches.ts';
import { isLimited, type Executor } from '../connection/client.ts';
import { millis, toTimestamp } from '../connection/instant.ts';
import { LANGUAGE, ownerMark, searchedText } from './search-index.ts';

/** Entries that are ranked together. */
export const STRETCH = 1_000;

/** Marks for PostgreSQL's `ts_headline` that no text contains. `shown` replaces them. */
const BEGIN = '\u0001';
const END = '\u0002';
const HEADLINE = `StartSel="${BEGIN}", StopSel="${END}", MaxFragments=2, MaxWords=24, MinWords=8, ShortWord=0, FragmentDelimiter=" … "`;

/** Null members do not filter. */
export type SearchFilter = Visible & {
  /** In the syntax of `websearch_to_tsquery`: words, "a phrase", or, -not. */
  text: string;
  /** The entry must belong to all of these. */
  contextIds: readonly ContextId[];
  /** The role of the worker. */
  workerRole: string | null;
  messageRole: 'user' | 'assistant' | null;
  createdAfter: Millis | null;
  createdBefore: Millis | null;
};

/** A position in time; the id orders entries of the same millisecond. */
type SearchPosition = { at: Millis; id: MessageId };

/** The cursor. `before`: the newer end of the stretch; null: now. `after`: the last entry read in it. */
export type SearchPlace = {
  before: SearchPosition | null;
  after: (SearchPosition & { rank: number }) | null;
};

export type Found = {
  contextId: ContextId;
  messageId: MessageId;
  turn: Turn;
  role: 'user' | 'assistant';
  snippet: string;
  rank: number;
  createdAt: Millis;
};

type Stretch = {
  /** At most `limit`, by rank. */
  found: Found[];
  /** Its newer end, to continue in it. Null: it is empty. */
  before: SearchPosition | null;
  /** Its older end, if older entries follow. */
  older: SearchPosition | null;
};

type Row = {
  before_at: Millis | null;
  older_at: Millis | null;
  older_id: MessageId | null;
  context_id: ContextId | null;
  id: MessageId;
  turn: Turn;
  role: Found['role'];
  snippet: string;
  rank: number;
  created_at: Millis;
};

const FIRST_ID = '00000000-0000-7000-8000-000000000000';

/**
 * Searches one stretch, or the rest of one. Finds only messages that a branch reads. Must run in a transaction, because
 * it sets `enable_seqscan` off so that the planner uses the index, and JIT off: a plan that counts as expensive would be
 * compiled for longer than it runs.
 */
export async function searchStretch(
  tx: Executor,
  tenantId: TenantId,
  filter: SearchFilter,
  page: PageRequest<SearchPlace>,
): Promise<Stretch> {
  const [, rows] = await Promise.all([
    tx.execute(sql`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`),
    tx.execute<Row>(statement(tx, tenantId, filter, page)),
  ]);
  const [first] = rows;
  const found = rows.flatMap((row): Found[] => (row.context_id === null ? [] : [toFound(row, row.context_id)]));
  const end =
    page.after.before ?? (first?.before_at == null ? null : { at: first.before_at, id: FIRST_ID as MessageId });
  const older = first?.older_at == null || first.older_id === null ? null : { at: first.older_at, id: first.older_id };
  return { found, before: end, older };
}

function statement(
  executor: Executor,
  tenantId: TenantId,
  filter: SearchFilter,
  { after: { before, after }, limit }: PageRequest<SearchPlace>,
): SQL {
  const entries = isLimited(executor) ? sql`tenant_search_entries` : sql`search_entries`;
  const anyWord = singleWords(filter.text);
  return sql`/* search.find */
    with met as materialized (
      select e.context_id, e.seq, e.message_id, e.created_at, e.document from ${entries} e
      where ${sql.join(conditionsOf(tenantId, filter, before), sql` and `)}
      order by e.created_at desc, e.message_id desc limit ${STRETCH}
    ), stretch as (
      select floor(extract(epoch from max(created_at)) * 1000)::float8 + 1 as before_at, count(*) as entries from met
    ), oldest as (
      select ${millis(sql`created_at`)} as older_at, message_id as older_id from met
      order by created_at, message_id limit 1
    ), ranked as (
      select met.*, coalesce(ts_rank(met.document, ${anyWord}), 0)::float8 as rank from met
    ), page as (
      select r.context_id, r.message_id, r.created_at, r.rank, m.turn, m.role, m.content
      from ranked r join messages m on m.id = r.message_id and m.status = 'completed'
      where ${isShown} ${
        after === null
          ? sql``
          : sql`and (r.rank, r.created_at, r.message_id)
        < (${after.rank}::float8, ${toTimestamp(after.at)}::timestamptz, ${after.id}::uuid)`
      }
      order by r.rank desc, r.created_at desc, r.message_id desc limit ${limit}
    )
    select stretch.before_at, case when stretch.entries = ${STRETCH} then oldest.older_at end as older_at,
      oldest.older_id, p.context_id, p.message_id as id, p.turn, p.role, p.rank,
      ${millis(sql`p.created_at`)} as created_at,
      coalesce(ts_headline(${LANGUAGE}, translate(${searchedText(sql`p.content`)}, ${BEGIN + END}, '  '),
        coalesce(${anyWord}, ''::tsquery), ${HEADLINE}), '') as snippet
    from stretch left join oldest on true left join page p on true
    order by p.rank desc, p.created_at desc, p.message_id desc`;
}

/**
 * The words of a query, joined by OR; null: the query only excludes words. Used for rank and headline, whose time and
 * memory grow with the square of a phrase's length or more: a phrase of twelve words over one long text used all
 * available memory.
 */
function singleWords(text: string): SQL {
  const query = sql`querytree(websearch_to_tsquery(${LANGUAGE}, ${text}))`;
  return sql`nullif(nullif(regexp_replace(${query}, '<->|<[0-9]+>|&', '|', 'g'), 'T'), '')::tsquery`;
}

function conditionsOf(tenantId: TenantId, filter: SearchFilter, before: SearchPosition | null): SQL[] {
  const { text, contextIds, workerRole, messageRole, createdAfter, createdBefore } = filter;
  const ofWorker = [...isVisible(filter), ...(workerRole === null ? [] : [sql`w.role = ${workerRole}`])];
  const owners = [tenantId, ...contextIds].map((owner) => `'${ownerMark(owner)}'`).join(' & ');
  const query = sql`websearch_to_tsquery(${LANGUAGE}, ${text})`;
  return [
    sql`e.tenant_id = ${tenantId}`,
    sql`numnode(${query}) > 0`,
    sql`e.document @@ (${owners}::tsquery && ${query})`,
    ...(messageRole === null ? [] : [sql`e.role = ${messageRole}`]),
    ...(createdAfter === null ? [] : [sql`e.created_at > ${toTimestamp(createdAfter)}::timestamptz`]),
    ...(createdBefore === null ? [] : [sql`e.created_at < ${toTimestamp(createdBefore)}::timestamptz`]),
    ...(ofWorker.length === 0
      ? []
      : [
          sql`exists (select 1 from workers w where w.context_id = e.context_id and w.tenant_id = ${tenantId}
            and ${sql.join(ofWorker, sql` and `)})`,
        ]),
    ...(before === null
      ? []
      : [sql`(e.created_at, e.message_id) < (${toTimestamp(before.at)}::timestamptz, ${before.id}::uuid)`]),
  ];
}

/** At least one branch reads it: cleared messages and messages of deleted branches are not found. */
const isShown: SQL = sql`exists (
  select 1 from branches b where b.context_id = m.context_id and ${isRead(sql`m.branch`, sql`m.seq`)})`;

function toFound(row: Row, contextId: ContextId): Found {
  return {
    contextId,
    messageId: row.id,
    turn: row.turn,
    role: row.role,
    snippet: shown(row.snippet),
    rank: row.rank,
    createdAt: row.created_at,
  };
}

/** Puts matched words between `**`, and removes `**` from the text itself. */
function shown(headline: string): string {
  return headline.replaceAll('**', '').replaceAll(BEGIN, '**').replaceAll(END, '**');
}
