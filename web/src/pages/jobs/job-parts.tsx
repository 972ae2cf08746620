/** What a table and a card both show of a job. */
import { Link } from '@tanstack/react-router';
import { isFinished } from 'nightshift/client';
import type { Job } from 'nightshift/client';
import { useRef } from 'react';
import { shortId } from '../../data/format.ts';
import { Duration } from '../../ui/time.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import css from './jobs.module.css';
import type { Selection } from './use-selection.ts';

export function JobLink({ job }: { job: Job }) {
  return (
    <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={css.name}>
      {job.kind === 'input' ? 'Job' : job.kind === 'retry' ? 'Retry' : 'Compaction'} {shortId(job.id)}
    </Link>
  );
}

/** The one line that says most: what it said, why it failed, what it waits for. */
export function JobLine({ job }: { job: Job }) {
  return <span className={css.line}>{lineOf(job)}</span>;
}

function lineOf({ error, output, waiting_for, retry_at }: Job): string {
  if (error !== null) return `${error.code}: ${error.message}`;
  if (waiting_for.length > 0) return waiting_for.map(waited).join(', ');
  if (retry_at !== null) return 'is tried again soon';
  return output?.text.slice(0, 300) ?? '';
}

function waited({ kind, name }: Job['waiting_for'][number]): string {
  switch (kind) {
    case 'approval':
      return `waits for a person to decide on ${name ?? 'a call'}`;
    case 'input':
      return name === 'ask_user' ? 'waits for an answer' : `waits for the result of ${name ?? 'a call'}`;
    case 'worker':
      return 'waits for another worker';
    case 'timer':
      return 'sleeps';
  }
}

export function Took({ job: { started_at, finished_at } }: { job: Job }) {
  return started_at === null ? <>–</> : <Duration from={started_at} to={finished_at} />;
}

export function SelectJob({ job, selection }: { job: Job; selection: Selection }) {
  const shift = useRef(false);
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- notes only whether shift was held; the checkbox within is pressed
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
