/** The rows that are shown: those of a job, and below the row of a child worker, if it is open, those of its job. */
import type { ChildRow, Row } from './rows.ts';

/** What is known of the steps of a child job. */
export type Branch =
  | { kind: 'loading' }
  | { kind: 'failed'; error: unknown }
  | { kind: 'loaded'; rows: readonly Row[] };

/** By the id of the child job; those that are missing are being read. */
export type Branches = ReadonlyMap<string, Branch>;

export type ShownRow = {
  /** Unique among all rows. */
  key: string;
  jobId: string;
  /** 1: of the job itself. */
  level: number;
} & (
  | { kind: 'row'; row: Row; isOpen: boolean }
  /** In place of rows of an open child job: they are being read, could not be read, or there are none. */
  | { kind: 'note'; of: ChildRow; note: 'loading' | 'failed' | 'empty' }
);

/** `open`: the ids of the child jobs that are open. */
export function shownRows(
  jobId: string,
  rows: readonly Row[],
  open: ReadonlySet<string>,
  branches: Branches,
): ShownRow[] {
  const shown: ShownRow[] = [];
  const add = (of: string, level: number, list: readonly Row[]): void => {
    for (const row of list) {
      const isOpen = row.kind === 'child' && open.has(row.job.job_id);
      shown.push({ kind: 'row', key: `${of} ${row.id}`, jobId: of, level, row, isOpen });
      if (isOpen) addBelow(row, level + 1);
    }
  };
  const addBelow = (child: ChildRow, level: number): void => {
    const id = child.job.job_id;
    const branch = branches.get(id) ?? { kind: 'loading' };
    const note = branch.kind !== 'loaded' ? branch.kind : branch.rows.length === 0 ? 'empty' : null;
    if (note !== null) shown.push({ kind: 'note', key: `${id}/note`, jobId: id, level, of: child, note });
    if (branch.kind === 'loaded') add(id, level, branch.rows);
  };
  add(jobId, 1, rows);
  return shown;
}
