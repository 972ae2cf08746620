/**
 * Possible cuts. Messages before a cut are compacted; messages after it stay whole. A cut never separates a call from
 * its result. It lies between turns, and inside the last turn only where that turn alone is too long.
 */
import { isToolResult, isToolUse } from '../conversation/blocks.ts';
import type { ToolCallId } from '../ids.ts';
import type { Message } from '../conversation/message.ts';

/** How many answers of the last turn to keep, tried in order, where the last turn itself has to be cut. */
const KEPT_ANSWERS = [16, 8, 4, 2, 1];

/** Indexes into history, from the cut that keeps most to the one that keeps least. 0 means no cut. */
export function cutsOf(history: readonly Message[], keepTurns: number): number[] {
  const begins = turnBegins(history);
  const answers = lastAnswers(history, begins.at(-1) ?? 0);
  return unseparatedAll(history, [
    ...halves(keepTurns).map((keep) => begins.at(-keep) ?? 0),
    ...KEPT_ANSWERS.map((keep) => answers.at(-keep) ?? 0),
  ]);
}

/**
 * The cut that keeps exactly this many turns; 0 keeps only the last answer. Empty if history has no more turns than
 * that.
 */
export function cutBefore(history: readonly Message[], keepTurns: number): number[] {
  const begins = turnBegins(history);
  const cut = keepTurns === 0 ? lastAnswers(history, 0).at(-1) : begins.at(-keepTurns);
  return unseparatedAll(history, [cut ?? 0]);
}

function unseparatedAll(history: readonly Message[], cuts: readonly number[]): number[] {
  const spans = callSpans(history);
  const possible = cuts.map((cut) => unseparated(cut, spans)).filter((cut) => cut > 0);
  return [...new Set(possible)].sort((a, b) => a - b);
}

/** `keepTurns`, half of it, a quarter, … 1. */
function halves(keepTurns: number): number[] {
  return keepTurns < 1 ? [] : [keepTurns, ...halves(Math.floor(keepTurns / 2))];
}

/** Indexes of the answers after the start of the last turn. */
function lastAnswers(history: readonly Message[], begin: number): number[] {
  return indexesOf(history, ({ role }, index) => index > begin && role === 'assistant');
}

/** Where each turn starts: the first message with its number. `system` messages of the platform belong to no turn. */
export function turnBegins(history: readonly Message[]): number[] {
  let highest = 0;
  return indexesOf(history, ({ role, turn }) => {
    const number = role === 'system' ? 0 : Number(turn.slice(1));
    if (number <= highest) return false;
    highest = number;
    return true;
  });
}

function indexesOf(history: readonly Message[], isWanted: (message: Message, index: number) => boolean): number[] {
  return history.flatMap((message, index) => (isWanted(message, index) ? [index] : []));
}

/** The indexes of a call and its result: the lower one, then the higher one. */
type CallSpan = { first: number; last: number };

export function callSpans(history: readonly Message[]): CallSpan[] {
  const results = new Map<ToolCallId, number>();
  for (const [index, { role, content }] of history.entries()) {
    if (role !== 'tool') continue;
    for (const { tool_use_id: id } of content.filter(isToolResult)) {
      if (!results.has(id)) results.set(id, index);
    }
  }
  return history.flatMap(({ role, content }, index) => {
    if (role !== 'assistant') return [];
    return content.filter(isToolUse).flatMap(({ id }) => {
      const result = results.get(id);
      return result === undefined ? [] : [{ first: Math.min(index, result), last: Math.max(index, result) }];
    });
  });
}

/** The nearest cut at or before this one that separates no call from its result. */
export function unseparated(cut: number, spans: readonly CallSpan[]): number {
  const open = spans.filter(({ first, last }) => first < cut && cut <= last);
  return open.length === 0 ? cut : unseparated(Math.min(...open.map(({ first }) => first)), spans);
}
