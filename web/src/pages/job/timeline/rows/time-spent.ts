/** Where the time of a job went: each moment counts for one thing, also if several run at once. */
import { spentWords, type SpentOn, type StretchKind } from '../../../../words.ts';
import type { Row } from './rows.ts';

const SPENT_ON = {
  first: 'model',
  model: 'model',
  compact: 'model',
  tool: 'tools',
  failed: 'failed',
  throttle: 'throttled',
  retry: 'retry',
  approval: 'people',
  answer: 'people',
  outcome: 'people',
  client: 'client',
  workers: 'workers',
  child: 'workers',
  timer: 'timer',
  queue: 'queue',
  delay: 'delay',
  open: 'other',
} as const satisfies Record<StretchKind, SpentOn>;

const ORDER = Object.keys(spentWords) as SpentOn[];
const OTHER = ORDER.indexOf('other');
const PLACE = new Map(ORDER.map((on, place) => [on, place]));

export type Spent = { on: SpentOn; ms: number };

/** `unfinished`: what the time counts for from `since` on. Null: nothing continues. */
export type TimeSpent = { known: readonly Spent[]; unfinished: { on: SpentOn; since: number } | null };

type Change = { at: number; place: number; by: 1 | -1 };

/** In the order of `spentWords`; the parts add up to the whole. What child workers did counts as waiting for them. */
export function timeSpent(rows: readonly Row[]): TimeSpent {
  const changes = changesOf(rows).toSorted((one, other) => one.at - other.at);
  const running = ORDER.map(() => 0);
  const spent = ORDER.map(() => 0);
  let last = changes[0]?.at ?? 0;
  let current = OTHER;
  for (const { at, place, by } of changes) {
    spent[current] = (spent[current] ?? 0) + (at - last);
    last = at;
    running[place] = (running[place] ?? 0) + by;
    const first = running.findIndex((count) => count > 0);
    current = first < 0 ? OTHER : first;
  }
  const goesOn = running.some((count) => count > 0) ? ORDER[current] : undefined;
  return {
    known: ORDER.flatMap((on, place) => ((spent[place] ?? 0) > 0 ? [{ on, ms: spent[place] ?? 0 }] : [])),
    unfinished: goesOn === undefined ? null : { on: goesOn, since: last },
  };
}

function changesOf(rows: readonly Row[]): Change[] {
  const changes: Change[] = [];
  for (const row of rows) {
    // A worker that its parent does not wait for costs the parent no time.
    if (row.kind === 'child') continue;
    for (const { kind, from, to } of row.stretches) {
      const place = PLACE.get(SPENT_ON[kind]) ?? OTHER;
      changes.push({ at: from, place, by: 1 });
      if (to !== null) changes.push({ at: to, place, by: -1 });
    }
  }
  return changes;
}

/** With the time that has passed until `now`. */
export function spentUntil({ known, unfinished }: TimeSpent, now: number): Spent[] {
  if (unfinished === null) return [...known];
  const { on, since } = unfinished;
  const more = Math.max(0, now - since);
  const ms = (known.find((one) => one.on === on)?.ms ?? 0) + more;
  return ORDER.flatMap((one) => (one === on ? [{ on, ms }] : known.filter((other) => other.on === one)));
}
