/** What every tab shows of the job: its status and its main numbers, and why it failed. */
import type { Job } from 'nightshift/client';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { Duration, RelativeTime } from '../../ui/text/time.tsx';
import { Tokens } from '../../ui/text/tokens.tsx';
import { jobWords } from '../../words.ts';
import { Fact } from './fact.tsx';
import css from './job.module.css';

const { facts } = jobWords;

export function Head({ job }: { job: Job }) {
  return (
    <>
      <dl className={css.facts}>
        <Fact name={facts.status}>
          <StatusBadge status={job.status} />
        </Fact>
        <Fact name={facts.created}>
          <RelativeTime at={job.created_at} />
        </Fact>
        {job.starts_at !== null && (
          <Fact name={job.status === 'delayed' ? facts.starts : facts.due}>
            <RelativeTime at={job.starts_at} />
          </Fact>
        )}
        <Fact name={facts.duration}>
          <Duration from={job.starts_at ?? job.created_at} to={job.finished_at} />
        </Fact>
        <Fact name={facts.modelCalls}>{job.steps}</Fact>
        <Fact name={facts.tokens}>
          <Tokens usage={job.usage} />
        </Fact>
      </dl>
      {job.error !== null && (
        <p className={css.failed} role="status">
          {job.error.message} (<code>{job.error.code}</code>)
        </p>
      )}
    </>
  );
}
