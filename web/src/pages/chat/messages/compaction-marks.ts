/** Selects the compactions that apply to a branch, and their positions between messages. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Branch, ContextCompaction } from 'nightshift/client';
import { branchesQuery, compactionsQuery } from '../../../data/query/contexts.ts';

/** Ordered by the messages that they replace, oldest first. `branch` is usually the active branch. */
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

/** The newest summary includes all older summaries and shortenings, so only it and later compactions remain. */
function marksOf(
  compactions: readonly ContextCompaction[],
  branches: readonly Branch[],
  branch: string,
): ContextCompaction[] {
  const read = readOf(branches, branch);
  const included = compactions
    .filter((one) => one.upto_seq <= (read.get(one.branch) ?? -1))
    .toSorted((one, other) => one.upto_seq - other.upto_seq || one.seq - other.seq);
  const newest = included.findLastIndex(({ type }) => type === 'llm');
  return included.slice(Math.max(newest, 0));
}

/** For a branch and each of its ancestors: the last `seq` that the branch includes. */
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
