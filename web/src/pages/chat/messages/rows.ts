/** Builds the rows of the list from completed messages, partial messages and compactions. Pure functions. */
import type { ContextCompaction, PartialMessage, Message, ToolResultBlock } from 'nightshift/client';
import { isCall } from '../../../data/live/message-window.ts';

/** The result of a call, and when it was added to the history. */
export type CallResult = { block: ToolResultBlock; at: string };

export type Row =
  | { kind: 'message'; key: string; message: Message; results: ReadonlyMap<string, CallResult> }
  | { kind: 'partial'; key: string; partial: PartialMessage }
  | { kind: 'compaction'; key: string; compaction: ContextCompaction }
  /** The day of the messages below it. */
  | { kind: 'day'; key: string; at: string };

/** The day of a time, in milliseconds, in the zone that the user chose. */
export type DayOf = (at: number) => string;

const NO_RESULTS: ReadonlyMap<string, CallResult> = new Map();

export function rowsOf(
  messages: readonly Message[],
  partial: readonly PartialMessage[],
  marks: readonly ContextCompaction[],
  days: { of: DayOf; today: string },
): Row[] {
  const known = new Set(messages.map(({ id }) => id));
  const results = resultsOf(messages);
  const callIds = new Set(messages.flatMap(({ content }) => content.filter(isCall).map(({ id }) => id)));
  const messageRows = messages
    .filter((message) => !isShownByItsCall(message, callIds))
    .map((message) => ({ seq: message.seq ?? 0, row: toRow(message, results) }));
  const compacted = marks.map((compaction) => ({
    seq: compaction.upto_seq,
    row: { kind: 'compaction' as const, key: compaction.id, compaction },
  }));
  const first = messageRows[0]?.seq ?? 0;
  const before = compacted.filter(({ seq, row }) => seq >= first || row.compaction.type === 'llm');
  const sorted = [...messageRows, ...before].toSorted((a, b) => a.seq - b.seq).map(({ row }): Row => row);
  const rows = withDays(sorted, days);
  const visiblePartials = partial.filter(
    ({ message_id, text, thinking }) => !known.has(message_id) && text + thinking !== '',
  );
  return [...rows, ...visiblePartials.map((one): Row => ({ kind: 'partial', key: one.message_id, partial: one }))];
}

/** When it became part of the history: its place is that of this time. */
export function timeOf({ completed_at, created_at }: Message): string {
  return completed_at ?? created_at;
}

/** A row before the first message of each day; none for today if all shown messages are of today. */
function withDays(rows: readonly Row[], { of, today }: { of: DayOf; today: string }): Row[] {
  let shown = today;
  let isFirst = true;
  return rows.flatMap((row): Row[] => {
    if (row.kind !== 'message') return [row];
    const { id } = row.message;
    const at = timeOf(row.message);
    const day = of(Date.parse(at));
    const isNew = day !== shown && (isFirst || day > shown);
    if (isNew || isFirst) shown = day;
    isFirst = false;
    // Named after the message, so that the row moves with it when older messages are read.
    return isNew ? [{ kind: 'day', key: `day-${id}`, at }, row] : [row];
  });
}

function toRow(message: Message, results: ReadonlyMap<string, CallResult>): Row {
  const has = message.content.some(isCall);
  return { kind: 'message', key: message.id, message, results: has ? results : NO_RESULTS };
}

function resultsOf(messages: readonly Message[]): ReadonlyMap<string, CallResult> {
  const results = new Map<string, CallResult>();
  for (const { content, created_at, completed_at } of messages)
    for (const block of content)
      if (block.type === 'tool_result') results.set(block.tool_use_id, { block, at: completed_at ?? created_at });
  return results;
}

function isShownByItsCall({ role, content }: Message, callIds: ReadonlySet<string>): boolean {
  return role === 'tool' && content.every((block) => block.type === 'tool_result' && callIds.has(block.tool_use_id));
}
