/**
 * Which lines of two texts differ, and which words of them. A line is removed, added or the same. If as many lines are
 * added as are removed in one place, they are compared word by word, pair by pair. Bounded in time: texts that have too
 * little in common are shown as removed and added as a whole. Pure.
 */
import { diffArrays, diffWordsWithSpace } from 'diff';

/** A part of a line. `changed`: the other text does not have it. */
export type LinePart = { text: string; changed: boolean };

/** `before` and `after`: the number of the line in its text, from 1. */
export type DiffLine =
  | { kind: 'same'; before: number; after: number; text: string }
  | { kind: 'removed'; before: number; parts: LinePart[] }
  | { kind: 'added'; after: number; parts: LinePart[] };

/** Lines that are next to each other. `hidden`: the same in both texts, and far from what differs. */
export type DiffStretch = { kind: 'shown' | 'hidden'; lines: DiffLine[] };

/** More differences than these, of lines and of words in a line, are not looked for. */
const MOST_LINES = 1_000;
const MOST_WORDS = 400;

/** Longer lines are not compared word by word. */
const MOST_CHARACTERS = 5_000;

export function diffLines(before: string, after: string): DiffLine[] {
  const old = linesOf(before);
  const now = linesOf(after);
  const changes = diffArrays(old, now, { maxEditLength: MOST_LINES }) ?? [
    { value: old, added: false, removed: true },
    { value: now, added: true, removed: false },
  ];
  const lines: DiffLine[] = [];
  const at = { before: 0, after: 0 };
  let removed: string[] = [];
  const flush = (added: readonly string[]): void => {
    lines.push(...differing(removed, added, at));
    removed = [];
  };
  for (const change of changes) {
    if (change.removed) removed = change.value;
    else if (change.added) flush(change.value);
    else {
      flush([]);
      lines.push(...change.value.map((text) => ({ kind: 'same' as const, ...next(at), text })));
    }
  }
  flush([]);
  return lines;
}

/** Hides lines that are the same and more than `near` lines away from what differs, unless that saves fewer than two. */
export function stretchesOf(lines: readonly DiffLine[], near = 3): DiffStretch[] {
  const stretches: DiffStretch[] = [];
  const changed = lines.flatMap(({ kind }, at) => (kind === 'same' ? [] : [at]));
  let from = 0;
  const add = (kind: DiffStretch['kind'], to: number): void => {
    const last = stretches.at(-1);
    const added = lines.slice(from, to);
    if (last?.kind === kind) last.lines.push(...added);
    else if (added.length > 0) stretches.push({ kind, lines: added });
    from = to;
  };
  for (const at of changed) {
    const start = Math.max(from, at - near);
    add(start - from < 2 ? 'shown' : 'hidden', start);
    add('shown', Math.min(lines.length, at + near + 1));
  }
  add(lines.length - from < 2 ? 'shown' : 'hidden', lines.length);
  return stretches;
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/\r?\n/);
}

type Position = { before: number; after: number };

function next(at: Position): Position {
  at.before += 1;
  at.after += 1;
  return { ...at };
}

function differing(removed: readonly string[], added: readonly string[], at: Position): DiffLine[] {
  const pairs = removed.length === added.length ? removed.map((line, pair) => words(line, added[pair] ?? '')) : null;
  return [
    ...removed.map((text, line): DiffLine => {
      at.before += 1;
      return { kind: 'removed', before: at.before, parts: pairs?.[line]?.before ?? plain(text) };
    }),
    ...added.map((text, line): DiffLine => {
      at.after += 1;
      return { kind: 'added', after: at.after, parts: pairs?.[line]?.after ?? plain(text) };
    }),
  ];
}

const plain = (text: string): LinePart[] => [{ text, changed: false }];

/** Null: the lines are too long, or have no word in common, so that marks in them would tell nothing. */
function words(before: string, after: string): { before: LinePart[]; after: LinePart[] } | null {
  if (before.length > MOST_CHARACTERS || after.length > MOST_CHARACTERS) return null;
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MOST_WORDS });
  if (changes === undefined) return null;
  const same = changes.filter(({ added, removed }) => !added && !removed);
  if (!same.some(({ value }) => value.trim() !== '')) return null;
  const partsWithout = (left: 'added' | 'removed'): LinePart[] =>
    changes
      .filter((change) => !change[left])
      .map(({ value, added, removed }) => ({ text: value, changed: added || removed }));
  return { before: partsWithout('added'), after: partsWithout('removed') };
}
