/** The steps of a job: a summary, and a chart and a table of them. Child workers open to the steps of their jobs. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ChildJob, Job } from 'nightshift/client';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { FollowChildren, FollowJob } from '../../../data/live/follow-job.tsx';
import { jobStepsQuery } from '../../../data/live/job-steps.ts';
import { keys } from '../../../data/query/keys.ts';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { useNow } from '../../../ui/state/clock.ts';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { Chart } from './chart.tsx';
import { rowsOf, type Row } from './rows/rows.ts';
import { shownRows, type Branch, type Branches } from './rows/tree.ts';
import { StepsTable } from './steps-table.tsx';
import { Summary } from './summary.tsx';
import css from './timeline.module.css';
import { timelineWords } from '../../../words.ts';

/** Effectively disables the clock: the chart of a finished job is not rendered again. */
const NEVER_MS = 1e15;

/** `firstTokenAt`: of the answer in progress; null: none arrived. */
export function Timeline({ job, firstTokenAt }: { job: Job; firstTokenAt: number | null }) {
  const cache = useQueryClient();
  const steps = useQuery(jobStepsQuery(job.id));
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [branches, onBranch] = useBranches();
  const rows = useMemo(() => rowsOf(job, steps.data?.steps ?? [], firstTokenAt), [job, steps.data, firstTokenAt]);
  const shown = useMemo(() => shownRows(job.id, rows, open, branches), [job.id, rows, open, branches]);
  const isLive = useMemo(() => shown.some((one) => one.kind === 'row' && one.row.to === null), [shown]);
  const now = useNow(isLive ? 1_000 : NEVER_MS);
  const onTurn = (id: string): void => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  return (
    <>
      {hasUnfinishedChildren(rows) && <FollowChildren jobId={job.id} />}
      {shown.map((one) =>
        one.kind === 'row' && one.isOpen && one.row.kind === 'child' ? (
          <OpenBranch key={one.key} job={one.row.job} parentId={one.jobId} onBranch={onBranch} />
        ) : null,
      )}
      {steps.isPending && <Skeleton lines={6} height={28} />}
      {steps.isError && steps.data?.isWhole !== true && (
        <ErrorState error={steps.error} onRetry={() => void steps.refetch()} />
      )}
      {steps.data !== undefined && (
        <>
          <Summary rows={rows} now={now} />
          {!steps.data.isWhole && !steps.isError && (
            <p role="status">{timelineWords.loadingMore(steps.data.steps.length)}</p>
          )}
          <Tabs
            label={timelineWords.views.label}
            tabs={[
              {
                name: 'chart',
                label: timelineWords.views.chart,
                content: (
                  <Chart
                    jobId={job.id}
                    rows={rows}
                    shown={shown}
                    branches={branches}
                    now={now}
                    onTurn={onTurn}
                    onRetry={(id) => void cache.refetchQueries({ queryKey: keys.steps(id) })}
                  />
                ),
              },
              { name: 'table', label: timelineWords.views.table, content: <StepsTable shown={shown} now={now} /> },
            ]}
          />
        </>
      )}
      {rows.some(({ kind }) => kind === 'child') && (
        <p className={css.more}>
          <Link to="/jobs" search={{ parent_job_id: job.id }}>
            {timelineWords.childJobs}
          </Link>
        </p>
      )}
    </>
  );
}

type OnBranch = (jobId: string, branch: Branch | null) => void;

/** Renders nothing. Reads the steps of an open child job, and follows it while it is unfinished. */
function OpenBranch({ job, parentId, onBranch }: { job: ChildJob; parentId: string; onBranch: OnBranch }) {
  const { job_id: id, context_id: contextId, finished_at } = job;
  const { data, isError, error } = useQuery(jobStepsQuery(id));
  const [firstTokenAt, setFirstTokenAt] = useState<number | null>(null);
  const branch = useMemo((): Branch => {
    if (data !== undefined) return { kind: 'loaded', rows: rowsOf(job, data.steps, firstTokenAt) };
    return isError ? { kind: 'failed', error } : { kind: 'loading' };
  }, [job, data, isError, error, firstTokenAt]);
  useEffect(() => onBranch(id, branch), [onBranch, id, branch]);
  useEffect(() => () => onBranch(id, null), [onBranch, id]);
  return (
    <>
      {finished_at === null && (
        <FollowJob jobId={id} contextId={contextId} parentId={parentId} onFirstToken={setFirstTokenAt} />
      )}
      {branch.kind === 'loaded' && hasUnfinishedChildren(branch.rows) && <FollowChildren jobId={id} />}
    </>
  );
}

function hasUnfinishedChildren(rows: readonly Row[]): boolean {
  return rows.some(({ kind, to }) => kind === 'child' && to === null);
}

/** What is known of the open child jobs. */
function useBranches(): [Branches, OnBranch] {
  const [branches, setBranches] = useState<Branches>(new Map());
  const take = useCallback<OnBranch>(
    (jobId, branch) =>
      setBranches((known) => {
        const next = new Map(known);
        if (branch === null) next.delete(jobId);
        else next.set(jobId, branch);
        return next;
      }),
    [],
  );
  return [branches, take];
}
