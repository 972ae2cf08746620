/** On which jobs the selection, or a key in the list, acts. */
import { isFinished, type Job } from 'nightshift/client';
import { shortId } from '../../../data/format.ts';
import { isRetriable, type JobTarget } from '../../../data/retry-jobs.ts';

export type BulkAct = { does: 'cancel' | 'retry'; target: JobTarget };

/** All of them: the answer says why some are left out. Null: none of them can be retried, or cancelled. */
export function actOn(does: 'cancel' | 'retry', jobs: readonly Job[]): BulkAct | null {
  const unfinished = jobs.filter((job) => !isFinished(job));
  if (does === 'retry' ? !jobs.some(isRetriable) : unfinished.length === 0) return null;
  return { does, target: { kind: 'selected', ids: idsOf(jobs), unfinished: idsOf(unfinished) } };
}

function idsOf(jobs: readonly Job[]): string[] {
  return jobs.map(({ id }) => id);
}

type Titles = { one: (id: string) => string; selected: string; matching: string };

/** Names a single job, so that it is seen on which one a key acts. */
export function titleOf(target: JobTarget, titles: Titles): string {
  if (target.kind === 'matching') return titles.matching;
  const [id] = target.ids;
  return id !== undefined && target.ids.length === 1 ? titles.one(shortId(id)) : titles.selected;
}
