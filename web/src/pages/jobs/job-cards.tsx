/** The job list on narrow screens. */
import { LongList } from '../../ui/layout/long-list.tsx';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { Checkbox } from '../../ui/forms/checkbox.tsx';
import { Tokens } from '../../ui/text/tokens.tsx';
import { ContextLink, InputPreview, JobLine, JobLink, SelectJob, Took } from './job-parts.tsx';
import { jobsWords, placeWords } from '../../words.ts';
import css from './jobs.module.css';
import type { ListProps } from './job-table.tsx';

export function JobCards({ jobs, selection, more }: ListProps) {
  return (
    <div>
      <div className={css.selectAll}>
        <Checkbox label={jobsWords.selection.all} checked={selection.all} onChange={selection.setAll} />
      </div>
      <LongList label={placeWords.jobs} className={css.cards} items={jobs} itemKey={({ id }) => id} more={more}>
        {(job, place) => (
          <li key={job.id} {...place} className={css.card}>
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
        )}
      </LongList>
    </div>
  );
}
