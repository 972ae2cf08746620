/**
 * Full text over what was said. Of all that is met the newest are ranked among each other, a stretch of so many at a time,
 * and after them those that are older: so that a page costs the same however much is met, and none is ever left out.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { ContextId, MessageId, TenantId } from '../core/ids.ts';
import type { Millis } from '../core/time.ts';
import type { Turn } from '../core/turn.ts';
import { isRead } from './branches.ts';
import type { Executor } from './client.ts';
import { millis, toTimestamp } from './instant.ts';
import { LANGUAGE, ownerMark, searchedText } from './search-index.ts';

/** Entries that are ranked among each other. */
export const STRETCH = 1_000;

/** Of Postgres' headline: marks that no text holds, put in place of what is shown (see `shown`). */
const BEGIN = '\u0001';
const END = '\u0002';
const HEADLINE = `StartSel="${BEGIN}", StopSel="${END}", MaxFragments=2, MaxWords=24, MinWords=8, ShortWord=0, FragmentDelimiter=" … "`;

/** What is null is not asked for. */
export type SearchFilter = {
  /** As `websearch_to_tsquery` reads it: words, "a phrase", or, -not. */
  text: string;
  /** Found in all of these at once. */
  contextIds: readonly ContextId[];
  /** Of the worker. */
  workerRole: string | null;
  messageRole: 'user' | 'assistant' | null;
  createdAfter: Millis | null;
  createdBefore: Millis | null;
};

/** An entry's place in time; the id tells apart what was made in the same millisecond. */
type Moment = { at: Millis; id: MessageId };

/** Where to go on. `before`: the end of the stretch, null: now. `after`: the last one read of it. */
export type SearchPlace = { before: Moment | null; after: (Moment & { rank: number }) | null };

export type Found = {
  contextId: ContextId;
  messageId: MessageId;
  turn: Turn;
  role: 'user' | 'assistant';
  /** Empty: it holds no text, and met what was asked for by not holding a word. */
  snippet: string;
  rank: number;
  createdAt: Millis;
};

export type Stretch = {
  /** At most `limit`, by rank. */
  found: Found[];
  /** Its end, for whoever goes on in it. Null: it is empty. */
  before: Moment | null;
  /** Its beginning, where older ones follow. */
  older: Moment | null;
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
 * One stretch, or the rest of one. Found is what is history on some branch. Inside a transaction: it is told there that
 * the index is to be used, whatever the planner believes.
 */
export async function searchStretch(
  tx: Executor,
  tenantId: TenantId,
  filter: SearchFilter,
  place: SearchPlace,
  limit: number,
): Promise<Stretch> {
  const [, rows] = await Promise.all([
    tx.execute(sql`select set_config('enable_seqscan', 'off', true)`),
    tx.execute<Row>(statement(tenantId, filter, place, limit)),
  ]);
  const [first] = rows;
  const found = rows.flatMap((row): Found[] =>
    row.context_id === null ? [] : [toFound(row, row.context_id)],
  );
  const end =
    place.before ?? (first?.before_at == null ? null : { at: first.before_at, id: FIRST_ID as MessageId });
  const older =
    first?.older_at == null || first.older_id === null ? null : { at: first.older_at, id: first.older_id };
  return { found, before: end, older };
}

function statement(
  tenantId: TenantId,
  filter: SearchFilter,
  { before, after }: SearchPlace,
  limit: number,
): SQL {
  const anyWord = singleWords(filter.text);
  return sql`/* search.find */
    with met as materialized (
      select e.context_id, e.seq, e.message_id, e.created_at, e.document from search_entries e
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
 * The words of a query, any of them; null: it only excludes words. For rank and headline, whose time and memory grow with the
 * square of a phrase's length and more: a phrase of twelve words over one long text took all the memory there was.
 */
function singleWords(text: string): SQL {
  const words = sql`querytree(websearch_to_tsquery(${LANGUAGE}, ${text}))`;
  return sql`nullif(nullif(regexp_replace(${words}, '<->|<[0-9]+>|&', '|', 'g'), 'T'), '')::tsquery`;
}

function conditionsOf(tenantId: TenantId, filter: SearchFilter, before: Moment | null): SQL[] {
  const { text, contextIds, workerRole, messageRole, createdAfter, createdBefore } = filter;
  const owners = [tenantId, ...contextIds].map((owner) => `'${ownerMark(owner)}'`).join(' & ');
  const words = sql`websearch_to_tsquery(${LANGUAGE}, ${text})`;
  return [
    sql`e.tenant_id = ${tenantId}`,
    sql`numnode(${words}) > 0`,
    sql`e.document @@ (${owners}::tsquery && ${words})`,
    ...(messageRole === null ? [] : [sql`e.role = ${messageRole}`]),
    ...(createdAfter === null ? [] : [sql`e.created_at > ${toTimestamp(createdAfter)}::timestamptz`]),
    ...(createdBefore === null ? [] : [sql`e.created_at < ${toTimestamp(createdBefore)}::timestamptz`]),
    ...(workerRole === null
      ? []
      : [
          sql`exists (select 1 from workers w where w.context_id = e.context_id and w.tenant_id = ${tenantId}
            and w.role = ${workerRole})`,
        ]),
    ...(before === null
      ? []
      : [sql`(e.created_at, e.message_id) < (${toTimestamp(before.at)}::timestamptz, ${before.id}::uuid)`]),
  ];
}

/** Some branch reads it: what was cleared, or was on a branch that is gone, is not found. */
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

/** Words that were met stand between `**`; what the text itself had of them is left out. */
function shown(headline: string): string {
  return headline.replaceAll('**', '').replaceAll(BEGIN, '**').replaceAll(END, '**');
}
