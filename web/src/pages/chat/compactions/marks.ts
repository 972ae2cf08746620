/** Which compactions hold of a branch, and between which messages they are marked. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Branch, ContextCompaction } from 'nightshift/client';
import { branchesQuery, compactionsQuery } from '../../../data/contexts.ts';

/** By the messages they stand for, oldest first. `branch`: the active one, as a rule. */
export function useCompactionMarks(contextId: string, branch: string | undefined): ContextCompaction[] {
  const { data: compactions } = useQuery(compactionsQuery(contextId));
  const { data: branches } = useQuery({
    ...branchesQuery(contextId),
    enabled: compactions !== undefined && compactions.length > 0,
  });
  return useMemo(() => {
    if (compactions === undefined || branches === undefined || branch === undefined) return [];
    return marksOf(compactions, branches, branch);
  }, [compactions, branches, branch]);
}

/** An older summary has gone into the newest one, and so has what was shown shorter before it. */
export function marksOf(
  compactions: readonly ContextCompaction[],
  branches: readonly Branch[],
  branch: string,
): ContextCompaction[] {
  const read = readOf(branches, branch);
  const held = compactions
    .filter((one) => one.upto_seq <= (read.get(one.branch) ?? -1))
    .toSorted((one, other) => one.upto_seq - other.upto_seq || one.seq - other.seq);
  const newest = held.findLastIndex(({ type }) => type === 'llm');
  return held.slice(Math.max(newest, 0));
}

/** Up to which number a branch reads itself and those that it came from. */
function readOf(branches: readonly Branch[], branch: string): Map<string, number> {
  const read = new Map<string, number>();
  let upto = Infinity;
  let at = branches.find(({ name }) => name === branch);
  while (at !== undefined && !read.has(at.name)) {
    read.set(at.name, upto);
    const { parent, fork_seq: fork } = at;
    upto = Math.min(upto, fork ?? 0);
    at = branches.find(({ name }) => name === parent);
  }
  return read;
}

/** Those that stand between a message and the one before it; null: nothing is before it, or nothing behind. */
export function marksBetween(
  marks: readonly ContextCompaction[],
  before: number | null,
  after: number | null,
): ContextCompaction[] {
  return marks.filter(({ upto_seq: at }) => at >= (before ?? -1) && at < (after ?? Infinity));
}
