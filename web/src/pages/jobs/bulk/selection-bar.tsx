/** What can be done with the selected jobs. */
import { isFinished, type Job } from 'nightshift/client';
import { isRetriable } from '../../../data/retry-jobs.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { jobsWords } from '../../../words.ts';
import css from '../jobs.module.css';
import type { Selection } from './use-selection.ts';

const words = jobsWords.selection;

type Props = { selection: Selection; onAct: (does: 'cancel' | 'retry', ids: readonly string[]) => void };

export function SelectionBar({ selection: { jobs, clear }, onAct }: Props) {
  const unfinished = idsOf(jobs.filter((job) => !isFinished(job)));
  const retriable = idsOf(jobs.filter(isRetriable));
  return (
    <div className={css.selected} role="region" aria-label={words.region}>
      <span role="status">{words.selected(jobs.length)}</span>
      <Button
        size="small"
        aria-keyshortcuts="r"
        disabled={retriable.length === 0}
        onClick={() => onAct('retry', retriable)}
      >
        {words.retry}
      </Button>
      <Button
        variant="risky"
        size="small"
        aria-keyshortcuts="c"
        disabled={unfinished.length === 0}
        onClick={() => onAct('cancel', unfinished)}
      >
        {words.cancel}
      </Button>
      <Button variant="quiet" size="small" onClick={clear}>
        {words.clear}
      </Button>
    </div>
  );
}

function idsOf(jobs: readonly Job[]): string[] {
  return jobs.map(({ id }) => id);
}
