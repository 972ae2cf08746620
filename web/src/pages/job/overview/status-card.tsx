/** The status of the job and the reason for it, and for how long it was queued, ran and waited. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isFinished, type Job, type JobStep } from 'nightshift/client';
import { useMemo } from 'react';
import { contextStateQuery } from '../../../data/query/contexts.ts';
import { Card } from '../../../ui/layout/card.tsx';
import { useNow } from '../../../ui/state/clock.ts';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import { useTimeFormat } from '../../../ui/text/time-format.ts';
import { formatDuration, RelativeTime, Time } from '../../../ui/text/time.tsx';
import { withTimes } from '../../../ui/text/with-times.ts';
import { jobWords, type SpentOn } from '../../../words.ts';
import { Fact } from '../fact.tsx';
import css from '../job.module.css';
import type { Row } from '../timeline/rows/rows.ts';
import { spentUntil, timeSpent, type Spent } from '../timeline/rows/time-spent.ts';

const words = jobWords.overview;
const { facts } = jobWords;

/** Poll interval of the reason: no event tells the position in the queue, or a throttle. */
const ASK_AGAIN_MS = 2_000;

/** Effectively disables the clock: the times of a finished job do not change. */
const NEVER_MS = 1e15;

const QUEUED: readonly SpentOn[] = ['queue', 'delay'];
const RUNNING: readonly SpentOn[] = ['model', 'tools', 'failed', 'other'];

/** `steps` null: they are not loaded yet. `firstTokenAt`: of the answer in progress. */
type Props = {
  job: Job;
  steps: readonly JobStep[] | null;
  rows: readonly Row[];
  firstTokenAt: number | null;
};

export function StatusCard({ job, steps, rows, firstTokenAt }: Props) {
  return (
    <Card title={words.status}>
      <dl className={css.list}>
        <Fact name={facts.status}>
          <StatusBadge status={job.status} />
        </Fact>
        {!isFinished(job) && <Why job={job} />}
        <Fact name={words.attempt}>{job.attempt}</Fact>
        {job.retry_at !== null && !isFinished(job) && (
          <Fact name={words.nextAttempt}>
            <RelativeTime at={job.retry_at} />
          </Fact>
        )}
        <Fact name={facts.created}>
          <Time at={job.created_at} as="second" />
        </Fact>
        <Fact name={facts.started}>
          <At at={job.started_at} />
        </Fact>
        <Fact name={facts.ended}>
          <At at={job.finished_at} />
        </Fact>
        {steps !== null && <Spans job={job} steps={steps} rows={rows} firstTokenAt={firstTokenAt} />}
        {rows.some(({ kind }) => kind === 'child') && (
          <Fact name={words.childJobs}>
            <Link to="/jobs" search={{ parent_job_id: job.id }}>
              {words.listChildJobs}
            </Link>
          </Fact>
        )}
      </dl>
    </Card>
  );
}

/** The context tells the reason for its current job only. */
function Why({ job }: { job: Job }) {
  const format = useTimeFormat();
  const { data } = useQuery({ ...contextStateQuery(job.context_id), refetchInterval: ASK_AGAIN_MS });
  return data === undefined || data.job_id !== job.id ? null : (
    <Fact name={words.why}>{withTimes(data.why, format)}</Fact>
  );
}

type SpansProps = Props & { steps: readonly JobStep[] };

/** How long the job did what. */
function Spans({ job, steps, rows, firstTokenAt }: SpansProps) {
  const now = useNow(isFinished(job) ? NEVER_MS : 1_000);
  const known = useMemo(() => timeSpent(rows), [rows]);
  const spent = spentUntil(known, now);
  const isWait = ({ on }: Spent): boolean => !QUEUED.includes(on) && !RUNNING.includes(on);
  return (
    <>
      <Fact name={words.firstToken}>{firstTokenOf(job, steps, firstTokenAt)}</Fact>
      <Fact name={words.queued}>{sum(spent.filter(({ on }) => QUEUED.includes(on)))}</Fact>
      <Fact name={words.running}>{sum(spent.filter(({ on }) => RUNNING.includes(on)))}</Fact>
      <Fact name={words.waiting}>{sum(spent.filter(isWait))}</Fact>
    </>
  );
}

function firstTokenOf(job: Job, steps: readonly JobStep[], live: number | null): string {
  const stored = steps.find(({ first_token_at: at }) => at !== null)?.first_token_at ?? null;
  const at = stored === null ? live : Date.parse(stored);
  if (at === null || job.started_at === null) return isFinished(job) ? facts.none : facts.notYet;
  return words.afterStart(formatDuration(at - Date.parse(job.started_at)));
}

function At({ at }: { at: string | null }) {
  return at === null ? facts.notYet : <Time at={at} as="second" />;
}

function sum(spent: readonly Spent[]): string {
  return formatDuration(spent.reduce((total, { ms }) => total + ms, 0));
}
