/** Parts that the job table and the job cards share. */
import { Link } from '@tanstack/react-router';
import { isFinished, type Job } from 'nightshift/client';
import { useRef } from 'react';
import { contextName, shortId } from '../../data/format.ts';
import { Duration, RelativeTime } from '../../ui/text/time.tsx';
import { Checkbox } from '../../ui/forms/checkbox.tsx';
import css from './jobs.module.css';
import type { Selection } from './use-selection.ts';

export function JobLink({ job }: { job: Job }) {
  return (
    <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={css.name}>
      {job.kind === 'input' ? 'Job' : job.kind === 'retry' ? 'Retry' : 'Compaction'} {shortId(job.id)}
    </Link>
  );
}

export function ContextLink({ job: { context_id: id, context_title: title, worker_name } }: { job: Job }) {
  return (
    <Link to="/contexts/$contextId" params={{ contextId: id }} className={css.context}>
      {contextName({ id, title, first_input: null, parent_worker_id: null, worker_name })}
    </Link>
  );
}

/** One-line summary: the user, and the start, the error, the wait, the retry, or the output. */
export function JobLine({ job }: { job: Job }) {
  const { user, status, starts_at: startsAt } = job;
  if (status === 'delayed' && startsAt !== null)
    return (
      <span className={css.line}>
        {user === null ? '' : `${user} · `}starts <RelativeTime at={startsAt} />
      </span>
    );
  return <span className={css.line}>{[user, lineOf(job)].filter(Boolean).join(' · ')}</span>;
}

function lineOf({ error, output, waiting_for, retry_at }: Job): string {
  if (error !== null) return `${error.code}: ${error.message}`;
  if (waiting_for.length > 0) return waiting_for.map(waited).join(', ');
  if (retry_at !== null) return 'retry scheduled';
  return output?.text.slice(0, 300) ?? '';
}

function waited({ kind, name }: Job['waiting_for'][number]): string {
  switch (kind) {
    case 'approval':
      return `waits for approval of ${name ?? 'a call'}`;
    case 'input':
      return name === 'ask_user' ? 'waits for an answer' : `waits for the result of ${name ?? 'a call'}`;
    case 'worker':
      return 'waits for another worker';
    case 'timer':
      return 'waits for a timer';
  }
}

export function Took({ job: { started_at, finished_at } }: { job: Job }) {
  return started_at === null ? <>–</> : <Duration from={started_at} to={finished_at} />;
}

export function SelectJob({ job, selection }: { job: Job; selection: Selection }) {
  const shift = useRef(false);
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- only records whether Shift was held; the checkbox handles the click
    <span onClickCapture={(event) => (shift.current = event.shiftKey)}>
      <Checkbox
        label={`Select job ${shortId(job.id)}`}
        hideLabel
        checked={selection.has(job.id) && !isFinished(job)}
        disabled={isFinished(job)}
        onChange={(selected) => selection.set(job.id, selected, shift.current)}
      />
    </span>
  );
}
