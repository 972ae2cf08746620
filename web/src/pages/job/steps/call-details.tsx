/** The arguments and the result of a tool call, who decided on it and when, what it waited for, and its log. */
import { useQuery } from '@tanstack/react-query';
import type { Job, JobStep, ToolResultBlock } from 'nightshift/client';
import type { ReactNode } from 'react';
import { CallLog } from '../../../call-log/call-log.tsx';
import { CallProgress } from '../../../call-log/call-progress.tsx';
import { actorName, useKeyNames } from '../../../data/actors.ts';
import { stepCallQuery, type StepCall } from '../../../data/jobs/step-calls.ts';
import { useMay } from '../../../data/query/session.ts';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { Sentence } from '../../../ui/text/sentence.tsx';
import { Duration, Time } from '../../../ui/text/time.tsx';
import { jobWords, timelineWords, waitWords } from '../../../words.ts';
import css from './steps.module.css';

const words = jobWords.steps;

/** Longer texts scroll within this height, in pixels. */
const MOST = 240;

type Props = { job: Job; step: JobStep; callId: string };

export function CallDetails({ job, step, callId }: Props) {
  const { data, isError, error, refetch } = useQuery(stepCallQuery(job.context_id, callId, step));
  return (
    <>
      {step.approval !== null && <Decision approval={step.approval} />}
      {step.waits?.map(({ for: kind, asked_at, ended_at }) => (
        <p key={`${kind} ${asked_at}`} className={css.facts}>
          {waitWords[kind]} · <Duration from={asked_at} to={ended_at} />
        </p>
      ))}
      {step.ended_at === null && step.progress !== null && <CallProgress progress={step.progress} />}
      {data === undefined && !isError && <Skeleton lines={2} />}
      {isError && <ErrorState error={error} onRetry={() => void refetch()} />}
      {data !== undefined && <Stored read={data} isOver={step.ended_at !== null} />}
      {/* A call that waits writes nothing. */}
      {(step.status === 'running' || (step.log?.entries ?? 0) > 0) && (
        <CallLog jobId={job.id} callId={callId} isOver={step.status !== 'running'} title={timelineWords.details.log} />
      )}
    </>
  );
}

function Stored({ read, isOver }: { read: StepCall; isOver: boolean }) {
  if (read.call === null) return <p className={css.facts}>{words.notStored}</p>;
  const { call, result } = read;
  const edited = call.approval?.input ?? null;
  return (
    <div className={css.parts}>
      <Part name={words.arguments}>
        <Json value={call.input} label={words.arguments} most={MOST} />
      </Part>
      {edited !== null && (
        <Part name={words.edited}>
          <Json value={edited} label={words.edited} most={MOST} />
        </Part>
      )}
      {result !== null && (
        <Part name={result.is_error ? words.error : words.result}>
          <Json value={textOf(result)} label={result.is_error ? words.error : words.result} most={MOST} />
        </Part>
      )}
      {result === null && !isOver && <p className={css.facts}>{words.noResult}</p>}
    </div>
  );
}

function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={css.part}>
      <h3>{name}</h3>
      {children}
    </div>
  );
}

function Decision({ approval }: { approval: NonNullable<JobStep['approval']> }) {
  const { decision, reason, input, decided_at: at, actor } = approval;
  // Only keys that the API made have names.
  const isNamed = actor !== null && actor.id !== null && !actor.id.startsWith('env:') && actor.kind !== 'token';
  const names = useKeyNames(useMay('keys') && isNamed);
  const decided = `${words.decisions[decision]}${input === null ? '' : words.withEdited}`;
  const gaps = { decision: decided, when: <Time at={at} as="second" /> };
  return (
    <p className={css.facts}>
      <span>
        {actor === null ? (
          <Sentence text={words.decidedByTimeout} gaps={gaps} />
        ) : (
          <Sentence text={words.decidedBy} gaps={{ ...gaps, actor: actorName(actor, names) }} />
        )}
        {reason !== null && `: ${reason}`}
      </span>
    </p>
  );
}

function textOf({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : words.image)).join('\n');
}
