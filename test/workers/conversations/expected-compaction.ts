// The messages that a compaction replaces, by the reference. Messages are long enough that any new one is worth a
// compaction.
import type { Reference, Branch, Compaction } from './reference.ts';
import { isLong, type Entry } from './entries.ts';

/** `upto`: the last message that it replaces. `texts`: those to be summarised, in order. */
export type CompactionPlan = { upto: Entry; texts: string[] };

/** Compacts everything before the last turns, except for earlier compactions. Null: there is nothing new. */
export function planCompaction(
  reference: Reference,
  branch: Branch,
  { type, keepTurns }: Compaction,
): CompactionPlan | null {
  const { list } = branch;
  const cut = turnBegins(list).at(-keepTurns) ?? 0;
  const upto = list.slice(0, cut).findLast(({ role }) => role !== 'system');
  const { summary, shortened } = reference.standsFor(branch);
  const summarised = summary === null ? -1 : list.indexOf(summary.upto);
  const short = shortened === null ? -1 : list.indexOf(shortened);
  const done = type === 'llm' ? summarised : Math.max(summarised, short);
  if (upto === undefined || list.indexOf(upto) <= done) return null;
  if (type === 'threshold' && !list.slice(done + 1, cut).some((entry) => isLong(entry))) return null;
  const words = list.slice(summarised + 1, cut).flatMap((entry) => marksIn(entry.words));
  return { upto, texts: [...(summary === null ? [] : [summary.words]), ...words] };
}

/** Text of users and models, and summaries. */
export function marksIn(text: string): string[] {
  return [...text.matchAll(/\b(?:in|said|reply|sum) \d+\b/g)].map(([words]) => words);
}

/** Indexes of the messages with which turns begin. */
function turnBegins(list: readonly Entry[]): number[] {
  let last = '';
  return list.flatMap(({ role, turn }, index) => {
    if (role === 'system' || turn.slice(1) === last) return [];
    last = turn.slice(1);
    return [index];
  });
}
