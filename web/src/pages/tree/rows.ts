/** Builds the visible rows of a worker tree, and its totals. */
import type { WorkerTree, WorkerTreeNode } from 'nightshift/client';
import { addCosts } from '../../ui/text/cost.ts';

export type Row = {
  node: WorkerTreeNode;
  /** Starts at 1. */
  level: number;
  parentId: string | null;
  position: number;
  siblings: number;
  /** `unknown`: the answer was truncated here and may lack children. */
  below: 'none' | 'open' | 'closed' | 'unknown';
};

/**
 * `deepest`: the depth at which the answer was truncated: it may lack workers there and lacks all below; null if
 * complete. `loaded`: subtrees that were fetched separately, by the id of their top worker.
 */
export function rowsOf(
  top: WorkerTreeNode,
  closed: ReadonlySet<string>,
  deepest: number | null,
  loaded: ReadonlyMap<string, WorkerTree>,
): Row[] {
  const rows: Row[] = [];
  const add = (given: WorkerTreeNode, place: Omit<Row, 'node' | 'below'>, cut: number | null): void => {
    const apart = loaded.get(given.id);
    const node = apart ?? given;
    const lowest = apart === undefined ? cut : deepestOf(apart);
    const isCut = lowest !== null && node.depth >= lowest - 1 && apart === undefined;
    rows.push({ ...place, node, below: belowOf(node, isCut, closed) });
    if (closed.has(node.id)) return;
    const siblings = node.children.length;
    for (const [index, child] of node.children.entries())
      add(child, { level: place.level + 1, parentId: node.id, position: index + 1, siblings }, lowest);
  };
  add(top, { level: 1, parentId: null, position: 1, siblings: 1 }, deepest);
  return rows;
}

function belowOf(node: WorkerTreeNode, isCut: boolean, closed: ReadonlySet<string>): Row['below'] {
  if (node.children.length > 0) return closed.has(node.id) ? 'closed' : isCut ? 'unknown' : 'open';
  return isCut ? 'unknown' : 'none';
}

/** The depth at which an answer was truncated; null if it is complete. */
export function deepestOf(tree: WorkerTree): number | null {
  return tree.truncated ? depthOf(tree) : null;
}

function depthOf(node: WorkerTreeNode): number {
  return node.children.reduce((deepest, child) => Math.max(deepest, depthOf(child)), node.depth);
}

export function findNode(node: WorkerTreeNode, id: string): WorkerTreeNode | null {
  if (node.id === id) return node;
  for (const child of node.children) {
    const found = findNode(child, id);
    if (found !== null) return found;
  }
  return null;
}

/** Totals over the workers in the answer. `cost` is null if no price is known. */
export function sumOf(node: WorkerTreeNode): {
  workers: number;
  atWork: number;
  tokens: number;
  cost: string | null;
} {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost } = node.usage;
  const own = {
    workers: 1,
    atWork: node.state === 'working' || node.state === 'waiting' ? 1 : 0,
    tokens: input_tokens + output_tokens + cache_read_tokens + cache_write_tokens,
    cost,
  };
  return node.children.map(sumOf).reduce(
    (sum, one) => ({
      workers: sum.workers + one.workers,
      atWork: sum.atWork + one.atWork,
      tokens: sum.tokens + one.tokens,
      cost: addCosts(sum.cost, one.cost),
    }),
    own,
  );
}
