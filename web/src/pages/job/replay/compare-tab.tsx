/** Two jobs beside each other, and what differs between their outputs. `?compare=` names the other one. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { isFinished, type Job } from 'nightshift/client';
import { useCallback } from 'react';
import { FollowJob } from '../../../data/live/follow-job.tsx';
import { jobQuery } from '../../../data/query/jobs.ts';
import { useMay } from '../../../data/query/session.ts';
import { TextDiff } from '../../../diff/text-diff.tsx';
import { buttonClass } from '../../../ui/forms/button.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { jobWords } from '../../../words.ts';
import css from '../job.module.css';
import { PromptDiff } from '../prompt/prompt-diff.tsx';
import { Compared } from './compared.tsx';
import styles from './replay.module.css';

const words = jobWords.compare;

export function CompareTab({ job, otherId }: { job: Job; otherId: string }) {
  // `FollowJob` reads it again after events.
  const other = useQuery({ ...jobQuery(otherId), refetchInterval: false });
  return (
    <div className={css.stack}>
      <p className={styles.close}>
        <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={buttonClass({ size: 'small' })}>
          <X aria-hidden="true" /> {words.close}
        </Link>
      </p>
      {other.data === undefined &&
        (other.isError ? (
          <ErrorState error={other.error} onRetry={() => void other.refetch()} />
        ) : (
          <Skeleton lines={8} />
        ))}
      {other.data !== undefined && <Pair job={job} other={other.data} />}
    </div>
  );
}

function Pair({ job, other }: { job: Job; other: Job }) {
  const mayConfigure = useMay('configure');
  const ignore = useCallback(() => undefined, []);
  return (
    <>
      {!isFinished(other) && <FollowJob jobId={other.id} contextId={other.context_id} onFirstToken={ignore} />}
      <div className={styles.pair}>
        <Compared job={job} title={words.this} />
        <Compared job={other} title={words.other} />
      </div>
      <Card title={words.differences}>
        <Differences job={job} other={other} />
      </Card>
      {mayConfigure && job.steps > 0 && other.steps > 0 && (
        <PromptDiff
          title={words.prompts}
          open={words.showPrompts}
          close={words.hidePrompts}
          before={{ jobId: job.id, n: 1 }}
          after={{ jobId: other.id, n: 1 }}
        />
      )}
    </>
  );
}

function Differences({ job, other }: { job: Job; other: Job }) {
  const [before, after] = [textOf(job), textOf(other)];
  if (before === null || after === null)
    return (
      <p className={css.soft} role="status">
        {[job, other].some(hasNoOutput) ? words.noOutput : words.wait}
      </p>
    );
  return <TextDiff before={before} after={after} label={words.differences} most={720} />;
}

function hasNoOutput(job: Job): boolean {
  return isFinished(job) && job.output === null;
}

/** Structured output is compared member by member, a line for each. */
function textOf({ output }: Job): string | null {
  if (output === null) return null;
  return output.data === null ? output.text : JSON.stringify(output.data, null, 2);
}
