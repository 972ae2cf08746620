/** What can be done with the selected jobs. */
import { Button } from '../../../ui/forms/button.tsx';
import { jobsWords } from '../../../words.ts';
import css from '../jobs.module.css';
import { actOn, type BulkAct } from './target.ts';
import type { Selection } from './use-selection.ts';

const words = jobsWords.selection;

type Props = { selection: Selection; onAct: (act: BulkAct) => void };

export function SelectionBar({ selection: { jobs, clear }, onAct }: Props) {
  const [retry, cancel] = [actOn('retry', jobs), actOn('cancel', jobs)];
  return (
    <div className={css.selected} role="region" aria-label={words.region}>
      <span role="status">{words.selected(jobs.length)}</span>
      <Button size="small" aria-keyshortcuts="r" disabled={retry === null} onClick={() => retry && onAct(retry)}>
        {words.retry}
      </Button>
      <Button
        variant="risky"
        size="small"
        aria-keyshortcuts="c"
        disabled={cancel === null}
        onClick={() => cancel && onAct(cancel)}
      >
        {words.cancel}
      </Button>
      <Button variant="quiet" size="small" onClick={clear}>
        {words.clear}
      </Button>
    </div>
  );
}
