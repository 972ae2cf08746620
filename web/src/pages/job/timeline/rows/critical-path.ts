/**
 * The critical path: the chain of rows that decided when a job ended, each of which began where the one before it ended.
 * It is found from the end: what ended last, then what ended last before that began, and so on.
 */
import { extentOf, type Row } from './rows.ts';
import type { Branches } from './tree.ts';

/** A part of a row, which is on the path; `to` is `LATER` if it is unfinished. */
export type Part = { from: number; to: number };

/** By the key of a shown row: its parts, the latest first. Rows that are not on the path have none. */
export type CriticalPath = ReadonlyMap<string, readonly Part[]>;

/** `waits`: in it the row waited for workers. */
type Piece = Part & { row: Row; waits: boolean };

/** When unfinished rows end, as long as it is not known: a path does not change as time passes. */
export const LATER = Number.MAX_SAFE_INTEGER;

/** Below child workers it continues in those whose steps are loaded. */
export function criticalPath(jobId: string, rows: readonly Row[], branches: Branches): CriticalPath {
  const path = new Map<string, Part[]>();
  const follow = (of: string, list: readonly Row[], within: Part): void => {
    for (const { row, from, to } of pathWithin(list, within)) {
      const key = `${of} ${row.id}`;
      const parts = path.get(key);
      if (parts === undefined) path.set(key, [{ from, to }]);
      else parts.push({ from, to });
      if (row.kind !== 'child') continue;
      const branch = branches.get(row.job.job_id);
      if (branch?.kind === 'loaded') follow(row.job.job_id, branch.rows, { from, to });
    }
  };
  // A child that its parent does not wait for may end later.
  const own = rows.filter(({ kind }) => kind !== 'child');
  follow(jobId, rows, extentOf(own, LATER));
  return path;
}

function pathWithin(rows: readonly Row[], { from: start, to: end }: Part): Piece[] {
  const found: Record<'own' | 'waits' | 'children', Piece[]> = { own: [], waits: [], children: [] };
  for (const row of rows) {
    for (const piece of piecesOf(row)) {
      if (piece.from >= piece.to || piece.from >= end || piece.to <= start) continue;
      found[piece.waits ? 'waits' : row.kind === 'child' ? 'children' : 'own'].push(piece);
    }
  }
  const [own, waits, children] = [byEnd(found.own), byEnd(found.waits), byEnd(found.children)];
  const path: Piece[] = [];
  let at = end;
  const take = (piece: Piece, after: number): void => {
    const from = Math.max(after, piece.from);
    path.push({ ...piece, from, to: Math.min(at, piece.to) });
    at = from;
  };
  while (at > start) {
    const next = own.nearest(at);
    const wait = waits.nearest(at);
    const isWait = wait !== null && (next === null || Math.abs(wait.to - at) < Math.abs(next.to - at));
    if (!isWait) {
      if (next === null) break;
      take(next, start);
      continue;
    }
    // While a call waits for workers, the one that ended last decides.
    at = Math.min(at, wait.to);
    const child = children.ended(at);
    if (child === null || child.to <= wait.from) take(wait, start);
    else {
      if (child.to < at) take(wait, child.to);
      take(child, start);
    }
  }
  return path;
}

/** A row is one piece, unless it waited for workers: then each stretch is one. */
function piecesOf(row: Row): Piece[] {
  const hasWait = row.stretches.some(({ kind }) => kind === 'workers');
  if (!hasWait) return [{ row, from: row.from, to: row.to ?? LATER, waits: false }];
  return row.stretches.map(({ kind, from, to }) => ({ row, from, to: to ?? LATER, waits: kind === 'workers' }));
}

type Finder = {
  /** The piece that began before a time, and ended nearest to it: a step may begin a little before its cause ends. */
  nearest(at: number): Piece | null;
  /** The piece that ended last by a time. */
  ended(at: number): Piece | null;
};

/** The times that are asked for only decrease. */
function byEnd(pieces: readonly Piece[]): Finder {
  const sorted = pieces.toSorted((one, other) => one.to - other.to || other.from - one.from);
  let count = sorted.length;
  const ended = (at: number): Piece | null => {
    while ((sorted[count - 1]?.to ?? 0) > at) count -= 1;
    return sorted[count - 1] ?? null;
  };
  return {
    ended,
    nearest(at) {
      const before = ended(at);
      const distance = before === null ? Infinity : at - before.to;
      for (let next = count; next < sorted.length; next += 1) {
        const piece = sorted[next];
        if (piece === undefined || piece.to - at >= distance) break;
        if (piece.from < at) return piece;
      }
      return before;
    },
  };
}
