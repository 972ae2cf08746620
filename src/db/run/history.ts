/** Reads the history of a context, branch by branch. Only the run that owns the lease writes it. */
import { sql, type SQL } from 'drizzle-orm';
import type { Block } from '../../core/conversation/blocks.ts';
import { NOTHING_COMPACTED, type Compacted, type Unread } from '../../core/compaction/compacted.ts';
import { callSpans, unseparated } from '../../core/compaction/cuts.ts';
import type { ContextId, JobId } from '../../core/ids.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Message, MessageRole } from '../../core/conversation/message.ts';
import type { Turn } from '../../core/conversation/turn.ts';
import type { Executor } from '../connection/client.ts';
import { WHOLE, applicableCompactions, toCompacted, type CompactedColumns } from './compactions.ts';
import { ReadLimitExceeded } from '../connection/read-limit.ts';
import { columnsWith, messageColumns, toMessage, type MessageRow } from './message-rows.ts';
import { byContext, places, type OfContext, type Place } from './places.ts';
import { spansOf } from './spans.ts';

/** The history and compactions of a branch that a run keeps in memory. */
export type Remembered = { history: Message[]; compacted: Compacted; unread: Unread | null };

export const NOTHING_REMEMBERED: Remembered = { history: [], compacted: NOTHING_COMPACTED, unread: null };

/** All visible messages of a branch, in order. Rejects with `ReadLimitExceeded` if they are too large. */
export async function readHistory(executor: Executor, place: Place, branch: string): Promise<Message[]> {
  const read = await readMemories(executor, { at: places([{ ...place, branch }]), compactions: WHOLE });
  return whole(read).get(place.contextId)?.history ?? [];
}

/** A past state of a context: entries up to the number `upto`, including those of the job that ran then. */
type HistoryPoint = { upto: number; jobId: JobId };

/**
 * A branch as of a past state. Messages of earlier jobs that were retracted since are missing. Rejects with
 * `ReadLimitExceeded` beyond `most` bytes.
 */
export async function readPast(
  executor: Executor,
  of: Place & { branch: string },
  { upto, jobId }: HistoryPoint,
  most: number,
): Promise<Remembered> {
  const shown = sql`m.seq <= ${upto} and (m.status = 'completed' or m.status = 'retracted' and m.job_id = ${jobId})`;
  const read = await readMemories(executor, {
    at: places([of]),
    compactions: applicableCompactions(upto),
    shown,
    most,
  });
  return whole(read).get(of.contextId) ?? NOTHING_REMEMBERED;
}

/**
 * The compactions of a branch, and its messages from the last summarised one on. If these are too long, only their
 * beginning is read (`Unread`). Null: there are none.
 */
export async function readBranch(executor: Executor, place: Place, branch: string): Promise<Remembered | null> {
  const read = await readMemories(executor, {
    at: places([{ ...place, branch }]),
    compactions: applicableCompactions(),
    beginning: LIMITS.beginningBytes,
  });
  return read.get(place.contextId) ?? null;
}

/** `tooLong`: contexts whose histories were not read. */
export type ReadTogether = {
  histories: ReadonlyMap<ContextId, Remembered>;
  tooLong: ReadonlySet<ContextId>;
};

export const NOTHING_READ: ReadTogether = { histories: new Map(), tooLong: new Set() };

/**
 * For each of these contexts, the branch in use: of its active job, else of its next job, else the given one. Contexts
 * without messages are missing. The shortest histories are read, as many as fit in `most` bytes, as stored.
 */
export async function readHistories(executor: Executor, at: SQL, most: number): Promise<ReadTogether> {
  const compactions = applicableCompactions();
  const read = await readMemories(executor, { at: workedOn(at), compactions, most, isTogether: true });
  const histories = new Map<ContextId, Remembered>();
  const tooLong = new Set<ContextId>();
  for (const [contextId, { isRead, ...memory }] of read) {
    if (isRead) histories.set(contextId, memory);
    else tooLong.add(contextId);
  }
  return { histories, tooLong };
}

function workedOn(at: SQL): SQL {
  const job = sql`select j.branch from jobs j where j.context_id = at.context_id and j.tenant_id = at.tenant`;
  // Offset 0: the branch is looked up once per context, not at each place where it is named.
  return sql`(
    select at.context_id, at.tenant, coalesce(
      (${job} and j.status in ('running', 'waiting')),
      (${job} and j.status = 'queued' order by j.priority, j.position, j.id limit 1),
      at.branch) as branch
    from ${at} offset 0) at`;
}

/** `content`: null if it was not read. */
type SizedRow = Omit<MessageRow, 'content'> & { bytes: number; content: Block[] | null };
type MemoryRow = OfContext & CompactedColumns & (SizedRow | { id: null });

/** `isRead`: the content of all its messages. */
type Read = Remembered & { isRead: boolean };

function whole(read: Map<ContextId, Read>): Map<ContextId, Read> {
  if ([...read.values()].some(({ unread }) => unread !== null)) throw new ReadLimitExceeded();
  return read;
}

/**
 * `at`: the branches. `compactions`: those that apply (see compactions.ts). `shown`: a condition on messages. `beginning`:
 * bytes to read of a history that is longer than `most`, and at least its first message; 0: none. `isTogether`: `most` is
 * of all branches, of which the shortest are read whole, and the others not at all.
 */
type MemoryQuery = {
  at: SQL;
  compactions: SQL;
  shown?: SQL;
  most?: number;
  beginning?: number;
  isTogether?: boolean;
};

const VISIBLE: SQL = sql`m.status = 'completed'`;

/**
 * The messages of branches that match `shown`, and the compactions of each branch as a separate row. One statement, so
 * that all rows come from one snapshot. The rows are sorted here, because PostgreSQL would write long ones to disk.
 * Of messages beyond the limits only the size is read: of a context that exceeds them, the result is the beginning.
 */
async function readMemories(
  executor: Executor,
  { at, compactions, shown = VISIBLE, most = LIMITS.historyBytes, beginning = 0, isTogether = false }: MemoryQuery,
): Promise<Map<ContextId, Read>> {
  const of = sql`m.context_id = at.context_id and m.tenant_id = at.tenant and m.branch = s.branch
    and m.seq > s.after and m.seq <= s.upto and m.seq >= at.upto and ${shown}`;
  const spans = spansOf(sql`at.context_id`, sql`at.tenant`, sql`at.branch`);
  const { isRead, span } = beginning === 0 ? upto(most) : wholeOr(beginning, most, of);
  const sizedPlaces = sql`sized_places as materialized (
      select at.*, sum(z.bytes) over (order by z.bytes, at.context_id) <= ${most} as fits
      from compacted_places at cross join lateral (
        select coalesce(sum(m.bytes), 0) as bytes from (${spans}) s cross join messages m where ${of}) z
    )`;
  const rows = await executor.execute<MemoryRow>(sql`/* history.read */
    with compacted_places as materialized (
      select at.context_id, at.tenant, at.branch, k.upto, k.summary, k.shortening from ${at} cross join ${compactions}
    )${isTogether ? sql`, ${sizedPlaces}` : sql``}
    select m.*, null::jsonb as summary, null::jsonb as shortening
    from ${sql.raw(isTogether ? 'sized_places' : 'compacted_places')} at cross join lateral (${spans}) s
    cross join lateral (
      select m.context_id, m.bytes, ${columnsWith(sql`case when ${isTogether ? sql`at.fits` : isRead} then m.content end`)} from (
        select span.room, m.*, sum(m.bytes) over (order by m.seq rows unbounded preceding) as upto_here
        from ${span} span cross join messages m where ${of} order by m.seq) m) m
    union all
    select at.context_id, 0, ${messageColumns}, at.summary, at.shortening
    from compacted_places at left join messages m on false
    where at.summary is not null or at.shortening is not null`);
  const compactionRows = rows.filter(({ id }) => id === null);
  const messages = inOrder(rows.flatMap((row) => (row.id === null ? [] : [row])));
  const compacted = byContext(compactionRows, toCompacted);
  const histories = byContext(messages, (row) => row);
  return new Map(
    [...histories].map(([contextId, of]) => {
      // The statement alone decides what is read.
      const isWhole = of.every(({ content }) => content !== null);
      const memory = bytesOf(of) > most ? beginningOf(of) : { history: of.map(toMessage), unread: null };
      return [contextId, { ...memory, isRead: isWhole, compacted: compacted.get(contextId)?.[0] ?? NOTHING_COMPACTED }];
    }),
  );
}

/** Which messages of a span are read, as a condition on `m`; and how many bytes of them, as the column `room` of a row. */
type ReadMessages = { isRead: SQL; span: SQL };

function upto(most: number): ReadMessages {
  return { isRead: sql`m.upto_here <= m.room`, span: sql.raw(`(select ${most}::bigint as room)`) };
}

/** All of the span, or if it is longer than `most`, the first message and as many more as fit in `beginning`. */
function wholeOr(beginning: number, most: number, of: SQL): ReadMessages {
  const room = sql.raw(`case when sum(m.bytes) <= ${most} then ${most} else ${beginning} end::bigint`);
  return {
    isRead: sql`(m.upto_here <= m.room or m.upto_here = m.bytes)`,
    span: sql`(select ${room} as room from messages m where ${of})`,
  };
}

/** The messages to summarise next, and the last message, which `decide` needs to choose the next step. */
function beginningOf(rows: readonly SizedRow[]): Pick<Remembered, 'history' | 'unread'> {
  const read = rows.slice(0, howManyFit(rows, Infinity)).map(toMessage);
  const fit = Math.min(read.length, Math.max(1, howManyFit(rows, LIMITS.beginningBytes)));
  const end = unseparated(fit, callSpans(read));
  const last = rows.slice(end).findLast(({ role }) => role !== 'system');
  return {
    history: [...read.slice(0, end), ...(last === undefined ? [] : [toMessage({ ...last, content: null })])],
    unread: { messages: end, readBytes: bytesOf(rows.slice(0, end)), bytes: bytesOf(rows.slice(end)) },
  };
}

/** How many of the first rows have content and hold at most `room` bytes together. */
function howManyFit(rows: readonly SizedRow[], room: number): number {
  let used = 0;
  const end = rows.findIndex(({ content, bytes }) => {
    used += bytes;
    return content === null || used > room;
  });
  return end < 0 ? rows.length : end;
}

function bytesOf(rows: readonly { bytes: number }[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

function inOrder<Row extends { seq: number }>(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => a.seq - b.seq);
}

/** The visible messages that a job added to the history. */
export async function readAdded(executor: Executor, { contextId, tenantId }: Place, jobId: JobId): Promise<Message[]> {
  const rows = await executor.execute<MessageRow>(sql`
    select ${messageColumns} from jobs j join messages m on m.context_id = j.context_id and m.branch = j.branch
      and m.seq > j.first_seq and m.job_id = j.id
    where j.id = ${jobId} and j.context_id = ${contextId} and j.tenant_id = ${tenantId} and m.status = 'completed'
    order by m.seq`);
  return rows.map(toMessage);
}

/** The last visible message of a branch that belongs to a turn. Used when the history itself is not read. */
export async function readLastTurn(
  executor: Executor,
  { contextId, tenantId }: Place,
  branch: string,
): Promise<Pick<Message, 'role' | 'turn'>[]> {
  return executor.execute<{ role: MessageRole; turn: Turn }>(sql`
    select m.role, m.turn from (${spansOf(sql`${contextId}::uuid`, sql`${tenantId}`, sql`${branch}`)}) s
    cross join lateral (
      select m.role, m.turn, m.seq from messages m where m.context_id = ${contextId} and m.tenant_id = ${tenantId}
        and m.branch = s.branch and m.seq > s.after and m.seq <= s.upto and m.status = 'completed' and m.role <> 'system'
      order by m.seq desc limit 1) m
    order by m.seq desc limit 1`);
}
