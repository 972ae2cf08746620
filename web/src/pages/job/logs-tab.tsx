/** What the tools of the job wrote to their logs, oldest first, while it runs and afterwards. */
import { useQuery } from '@tanstack/react-query';
import { FileText } from 'lucide-react';
import { isFinished, type Job } from 'nightshift/client';
import { useEffect, useMemo, useState } from 'react';
import callLog from '../../call-log/call-log.module.css';
import { LogLine } from '../../call-log/log-line.tsx';
import { jobLogQuery, type LogLevel } from '../../data/jobs/job-log.ts';
import { LogReader } from '../../data/jobs/log-reader.ts';
import { jobStepsQuery } from '../../data/live/job-steps.ts';
import { shortId } from '../../data/format.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Select } from '../../ui/forms/select.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { LongList } from '../../ui/layout/long-list.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { callLogWords, commonWords, jobWords } from '../../words.ts';
import css from './job.module.css';

const words = jobWords.logs;

const LEVELS = (['debug', 'info', 'warn', 'error'] as const).map((value) => ({ value, label: words.levels[value] }));

export function LogsTab({ job }: { job: Job }) {
  const [level, setLevel] = useState<LogLevel>('debug');
  return (
    <div className={css.stack}>
      <div className={css.bar}>
        <Select label={words.level} value={level} options={LEVELS} onChange={setLevel} />
        {!isFinished(job) && <p className={css.soft}>{words.live}</p>}
      </div>
      <Entries key={level} job={job} level={level} />
    </div>
  );
}

function Entries({ job, level }: { job: Job; level: LogLevel }) {
  const { nameOf, isCallRunning, changes } = useCalls(job.id);
  const [reader] = useState(() => new LogReader());
  const { data, isError, error, refetch, isFetching } = useQuery(jobLogQuery(job.id, level, reader, isCallRunning));
  useEffect(() => {
    reader.renew(changes);
    void refetch({ cancelRefetch: false });
  }, [reader, refetch, changes]);
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
      <LongList
        ordered
        scrolls
        label={callLogWords.entries}
        items={data.entries}
        itemKey={({ id }) => id}
        more={!data.isWhole}
      >
        {(entry, place) => <LogLine key={entry.id} place={place} entry={entry} of={nameOf(entry.tool_call_id)} />}
      </LongList>
      {!data.isWhole && (
        <Button
          size="small"
          busy={isFetching}
          onClick={() => {
            reader.more(data.entries.length);
            void refetch();
          }}
        >
          {commonWords.showMore}
        </Button>
      )}
    </section>
  );
}

type Calls = {
  /** The name of the tool of a call, else the end of its id. */
  nameOf: (callId: string) => string;
  isCallRunning: boolean;
  /** Another text after a call began or ended. */
  changes: string;
};

function useCalls(jobId: string): Calls {
  const { data } = useQuery(jobStepsQuery(jobId));
  return useMemo(() => {
    const calls = (data?.steps ?? []).filter(({ kind }) => kind === 'tool');
    const names = new Map(calls.map(({ tool_call_id: id, name }) => [id, name]));
    const running = calls.filter(({ status }) => status === 'running').length;
    const ended = calls.filter(({ ended_at: at }) => at !== null).length;
    return {
      nameOf: (callId) => names.get(callId) ?? shortId(callId),
      isCallRunning: running > 0,
      changes: `${calls.length} ${running} ${ended}`,
    };
  }, [data]);
}
