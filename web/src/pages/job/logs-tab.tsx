/** What the tools of the job wrote to their logs, oldest first, while it runs and afterwards. */
import { useQuery } from '@tanstack/react-query';
import { FileText } from 'lucide-react';
import { isFinished, type Job } from 'nightshift/client';
import { useMemo, useState } from 'react';
import callLog from '../../call-log/call-log.module.css';
import { LogLine } from '../../call-log/log-line.tsx';
import { jobLogQuery, type LogLevel } from '../../data/jobs/job-log.ts';
import { jobStepsQuery } from '../../data/live/job-steps.ts';
import { shortId } from '../../data/format.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Select } from '../../ui/forms/select.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { callLogWords, commonWords, jobWords } from '../../words.ts';
import css from './job.module.css';

const words = jobWords.logs;

const LEVELS = (['debug', 'info', 'warn', 'error'] as const).map((value) => ({ value, label: words.levels[value] }));

export function LogsTab({ job }: { job: Job }) {
  const [level, setLevel] = useState<LogLevel>('debug');
  const isOver = isFinished(job);
  return (
    <div className={css.stack}>
      <div className={css.bar}>
        <Select label={words.level} value={level} options={LEVELS} onChange={setLevel} />
        {!isOver && <p className={css.soft}>{words.live}</p>}
      </div>
      <Entries key={`${level} ${String(isOver)}`} job={job} level={level} isOver={isOver} />
    </div>
  );
}

type Props = { job: Job; level: LogLevel; isOver: boolean };

function Entries({ job, level, isOver }: Props) {
  const [query] = useState(() => jobLogQuery(job.id, level, isOver));
  const { data, isError, error, refetch, isFetching } = useQuery(query);
  const nameOf = useCallNames(job.id);
  if (data === undefined)
    return isError ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Skeleton lines={6} />;
  if (data.entries.length === 0)
    return (
      <Empty icon={<FileText aria-hidden="true" />} title={words.empty}>
        {words.emptyAbout}
      </Empty>
    );
  return (
    <section className={callLog.log} data-whole="" aria-label={words.title}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
      <ol tabIndex={0} aria-label={callLogWords.entries}>
        {data.entries.map((entry) => (
          <LogLine key={entry.id} entry={entry} of={nameOf(entry.tool_call_id)} />
        ))}
      </ol>
      {!data.isWhole && (
        <Button size="small" busy={isFetching} onClick={() => void refetch()}>
          {commonWords.showMore}
        </Button>
      )}
    </section>
  );
}

/** The name of the tool of a call, else the end of its id. */
function useCallNames(jobId: string): (callId: string) => string {
  const { data } = useQuery(jobStepsQuery(jobId));
  return useMemo(() => {
    const names = new Map((data?.steps ?? []).map(({ tool_call_id: id, name }) => [id, name]));
    return (callId) => names.get(callId) ?? shortId(callId);
  }, [data]);
}
