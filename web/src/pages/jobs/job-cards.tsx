/** The job list on narrow screens. */
import { MOST_ROWS, useRowWindow } from '../../ui/layout/row-window.ts';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { Checkbox } from '../../ui/forms/checkbox.tsx';
import { Tokens } from '../../ui/text/tokens.tsx';
import { ContextLink, InputPreview, JobLine, JobLink, SelectJob, Took } from './job-parts.tsx';
import { jobsWords, placeWords } from '../../words.ts';
import css from './jobs.module.css';
import type { ListProps } from './job-table.tsx';

export function JobCards({ jobs, selection, more }: ListProps) {
  const { first, before, after } = useRowWindow(jobs.length);
  return (
    <div>
      <div className={css.selectAll}>
        <Checkbox label={jobsWords.selection.all} checked={selection.all} onChange={selection.setAll} />
      </div>
      <ul className={css.cards} aria-label={placeWords.jobs}>
        {before > 0 && <li aria-hidden="true" style={{ height: before }} />}
        {jobs.slice(first, first + MOST_ROWS).map((job, at) => (
          <li
            key={job.id}
            className={css.card}
            data-row={job.id}
            aria-setsize={more ? -1 : jobs.length}
            aria-posinset={first + at + 1}
          >
            <div className={css.cardHead}>
              <SelectJob job={job} selection={selection} />
              <JobLink job={job} />
              <StatusBadge status={job.status} />
            </div>
            <InputPreview job={job} />
            <JobLine job={job} />
            <p className={css.facts}>
              <RelativeTime at={job.created_at} /> · <Took job={job} /> · <Tokens usage={job.usage} /> ·{' '}
              <ContextLink job={job} />
            </p>
          </li>
        ))}
        {after > 0 && <li aria-hidden="true" style={{ height: after }} />}
      </ul>
    </div>
  );
}
