/** Parts that the job table and the job cards share. */
import { Link } from '@tanstack/react-router';
import type { Job } from 'nightshift/client';
import { useRef } from 'react';
import { contextName, shortId } from '../../data/format.ts';
import { classes } from '../../ui/classes.ts';
import { Duration, RelativeTime } from '../../ui/text/time.tsx';
import { Checkbox } from '../../ui/forms/checkbox.tsx';
import { Sentence } from '../../ui/text/sentence.tsx';
import { jobsWords } from '../../words.ts';
import css from './jobs.module.css';
import type { Selection } from './bulk/use-selection.ts';

const words = jobsWords.job;

export function JobLink({ job }: { job: Job }) {
  return (
    <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={css.name}>
      {words.name(job.kind, shortId(job.id))}
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

/** The beginning of the input, on two lines. */
export function InputPreview({ job: { input } }: { job: Job }) {
  const text = input?.text.trim() ?? '';
  return text === '' ? null : <p className={css.preview}>{text}</p>;
}

/** One-line summary: the user, and the start, how long and why it is queued, the error, the wait, the retry, or the output. */
export function JobLine({ job }: { job: Job }) {
  const { user, status, starts_at: startsAt } = job;
  if (status === 'delayed' && startsAt !== null)
    return (
      <span className={css.line}>
        {user === null ? '' : `${user} · `}
        <Sentence text={words.starts} gaps={{ when: <RelativeTime at={startsAt} /> }} />
      </span>
    );
  if (status === 'queued')
    return (
      <span className={classes(css.line, css.why)}>
        {user === null ? '' : `${user} · `}
        <Sentence text={words.queued} gaps={{ time: <Duration from={startsAt ?? job.created_at} to={null} /> }} />
        {job.why === undefined ? '' : ` – ${job.why}`}
      </span>
    );
  return <span className={css.line}>{[user, lineOf(job)].filter(Boolean).join(' · ')}</span>;
}

function lineOf({ error, output, waiting_for, retry_at }: Job): string {
  if (error !== null) return `${error.code}: ${error.message}`;
  if (waiting_for.length > 0) return waiting_for.map(waited).join(', ');
  if (retry_at !== null) return words.retries;
  return output?.text.slice(0, 300) ?? '';
}

function waited({ kind, name }: Job['waiting_for'][number]): string {
  switch (kind) {
    case 'approval':
      return words.waits.approval(name);
    case 'input':
      return name === 'ask_user' ? words.waits.answer : words.waits.result(name);
    case 'worker':
      return words.waits.worker;
    case 'timer':
      return words.waits.timer;
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
        label={words.select(shortId(job.id))}
        hideLabel
        checked={selection.has(job.id)}
        onChange={(selected) => selection.set(job.id, selected, shift.current)}
      />
    </span>
  );
}
