/** One step: a line with its status, which opens to its details. */
import { Link } from '@tanstack/react-router';
import * as Icon from 'lucide-react';
import type { Job, JobStep } from 'nightshift/client';
import { useId } from 'react';
import type { Place } from '../../../ui/layout/long-list.tsx';
import { Duration, Time } from '../../../ui/text/time.tsx';
import { formatCount, Tokens } from '../../../ui/text/tokens.tsx';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import { jobWords, stretchWords } from '../../../words.ts';
import { CallDetails } from './call-details.tsx';
import css from './steps.module.css';

const words = jobWords.steps;

const ICONS = {
  model: Icon.Sparkles,
  tool: Icon.Wrench,
  wait: Icon.Hourglass,
  compact: Icon.FoldVertical,
} as const satisfies Record<JobStep['kind'], unknown>;

type Props = { place: Place; job: Job; step: JobStep; isOpen: boolean; onTurn: () => void };

export function StepItem({ place, job, step, isOpen, onTurn }: Props) {
  const detailsId = useId();
  const Kind = ICONS[step.kind];
  return (
    <li {...place} className={css.step}>
      <button type="button" className={css.line} aria-expanded={isOpen} aria-controls={detailsId} onClick={onTurn}>
        <Icon.ChevronRight className={css.turn} data-open={isOpen} aria-hidden="true" />
        <Kind aria-hidden="true" />
        <span className={css.name}>{nameOf(step)}</span>
        <span className={css.about}>{aboutOf(step)}</span>
        <span className={css.took}>
          <Duration from={step.started_at} to={step.ended_at} />
        </span>
        <StatusBadge status={step.status} />
      </button>
      <div id={detailsId} className={css.details} hidden={!isOpen}>
        {isOpen && <Details job={job} step={step} />}
      </div>
    </li>
  );
}

function Details({ job, step }: Pick<Props, 'job' | 'step'>) {
  const { usage, error, tokens_before: before, tokens_after: after, n, message_id: messageId, child } = step;
  return (
    <>
      <p className={css.facts}>
        <Time at={step.started_at} as="second" />
        {usage !== null && <Tokens usage={usage} />}
        {before !== null && after !== null && <span>{words.compacted(formatCount(before), formatCount(after))}</span>}
        {step.executions !== null && step.executions.length > 1 && (
          <span>{words.executions(step.executions.length)}</span>
        )}
        {n !== null && (
          <Link to="/jobs/$jobId" params={{ jobId: job.id }} search={{ tab: 'prompt', call: n }}>
            {words.showPrompt}
          </Link>
        )}
        {messageId !== null && step.kind === 'model' && (
          <Link to="/contexts/$contextId" params={{ contextId: job.context_id }} search={{ message: messageId }}>
            {words.openAnswer}
          </Link>
        )}
        {child !== null && (
          <Link to="/jobs/$jobId" params={{ jobId: child.job_id }}>
            {words.childJob(child.name)}
          </Link>
        )}
      </p>
      {error !== null && (
        <p className={css.error}>
          {error.message} (<code>{error.code}</code>)
        </p>
      )}
      {step.kind === 'tool' && step.tool_call_id !== null && (
        <CallDetails job={job} step={step} callId={step.tool_call_id} />
      )}
    </>
  );
}

function nameOf({ kind, name }: JobStep): string {
  return kind === 'wait' ? stretchWords[name === 'throttle' ? 'throttle' : 'retry'] : name;
}

function aboutOf({ kind, n, attempt }: JobStep): string {
  const call = n === null ? [] : [words.call(n)];
  const again = kind === 'model' && attempt !== null && attempt > 1 ? [words.attempt(attempt)] : [];
  return [...call, ...again].join(', ');
}
