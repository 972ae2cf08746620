/** Details of one row of the chart. */
import { Link } from '@tanstack/react-router';
import { FileText, ZoomIn } from 'lucide-react';
import type { JobStep } from 'nightshift/client';
import { useState, type ReactNode } from 'react';
import { CallLog } from '../../call-log/call-log.tsx';
import { CallProgress } from '../../call-log/call-progress.tsx';
import { Button } from '../../ui/forms/button.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { useTimeFormat } from '../../ui/text/time-format.ts';
import { formatDuration } from '../../ui/text/time.tsx';
import { Tokens, formatCount } from '../../ui/text/tokens.tsx';
import css from './chart.module.css';
import { LOST_AT, PromptDialog } from './prompt.tsx';
import type { Row } from './rows/rows.ts';
import { timelineWords } from '../../words.ts';
import type { StretchKind } from './rows/kinds.ts';

type Props = {
  /** The job that has the row. */
  jobId: string;
  row: Row;
  now: number;
  onZoom: () => void;
};

export function RowDetails({ jobId, row, now, onZoom }: Props) {
  const format = useTimeFormat();
  return (
    <>
      {row.kind === 'step' && row.to === null && row.step.progress !== null && (
        <CallProgress progress={row.step.progress} />
      )}
      <dl className={css.facts}>
        <Fact name="Status">
          <StatusBadge status={row.status} />
        </Fact>
        <Fact name="Started">{format(row.from, 'second')}</Fact>
        <Fact name="Ended">{row.to === null ? 'not yet' : format(row.to, 'second')}</Fact>
        {row.stretches.map(({ kind, from, to, expires, note }) => (
          <Fact key={`${kind} ${from}`} name={timelineWords.stretches[kind]}>
            {formatDuration((to ?? now) - from)}
            {note !== undefined && !isTold(row, kind) && `: ${note}`}
            {to === null && expires !== undefined && `, expires ${format(expires, 'second')}`}
          </Fact>
        ))}
        {row.kind === 'step' && row.failed.map((step) => <FailedAttempt key={step.attempt} step={step} />)}
        {row.kind === 'step' && <StepFacts step={row.step} />}
        {row.kind === 'child' && (
          <Fact name="Tokens">
            <Tokens usage={row.job.usage} />
          </Fact>
        )}
      </dl>
      {row.kind === 'step' && <StepLog jobId={jobId} step={row.step} isOver={row.to !== null} />}
      <div className={css.acts}>
        <Button size="small" onClick={onZoom}>
          <ZoomIn /> Zoom to row
        </Button>
        {row.kind === 'step' &&
          row.failed.map(
            ({ n, attempt }) =>
              n !== null && (
                <Prompt key={n} jobId={jobId} n={n}>
                  Show prompt of attempt {attempt}
                </Prompt>
              ),
          )}
        {row.kind === 'step' && row.step.n !== null && (
          <Prompt jobId={jobId} n={row.step.n}>
            Show prompt
          </Prompt>
        )}
        {row.kind === 'child' && (
          <>
            <Link to="/jobs/$jobId" params={{ jobId: row.job.job_id }}>
              Timeline of the child job
            </Link>
            <Link to="/contexts/$contextId" params={{ contextId: row.job.context_id }}>
              Chat of the child worker
            </Link>
          </>
        )}
      </div>
    </>
  );
}

/** The errors of model calls are facts of their own. */
function isTold(row: Row, kind: StretchKind): boolean {
  return kind === 'failed' && row.kind === 'step' && row.step.kind === 'model';
}

function StepLog({ jobId, step, isOver }: { jobId: string; step: JobStep; isOver: boolean }) {
  const { tool_call_id: callId } = step;
  return callId === null ? null : <CallLog jobId={jobId} callId={callId} isOver={isOver} title="Log of the tool" />;
}

function Prompt({ jobId, n, children }: { jobId: string; n: number; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)}>
        <FileText /> {children}
      </Button>
      {isOpen && <PromptDialog jobId={jobId} n={n} onClose={() => setOpen(false)} />}
    </>
  );
}

function FailedAttempt({ step: { attempt, error } }: { step: JobStep }) {
  return (
    <Fact name={`Attempt ${attempt ?? ''}`}>
      {error === null ? 'Failed' : `${error.message} `}
      {error !== null && (
        <>
          (<code>{error.code}</code>)
        </>
      )}
    </Fact>
  );
}

function StepFacts({ step }: { step: JobStep }) {
  const { attempt, usage, error, tool_call_id: callId, message_id: messageId, approval, executions } = step;
  const { tokens_before: before, tokens_after: after, prefix_lost_at: lost } = step;
  return (
    <>
      {attempt !== null && <Fact name="Attempt">{attempt}</Fact>}
      {usage !== null && (
        <Fact name="Tokens">
          <Tokens usage={usage} />
        </Fact>
      )}
      {before !== null && after !== null && (
        <Fact name="Prompt">
          {formatCount(before)} → {formatCount(after)} tokens
        </Fact>
      )}
      {executions !== null && executions.length > 1 && <Fact name="Executions">{executions.length}</Fact>}
      {approval !== null && (
        <Fact name="Decision">
          {approval.decision === 'approve' ? 'Approved' : 'Denied'}
          {approval.reason !== null && `: ${approval.reason}`}
        </Fact>
      )}
      {lost !== null && <Fact name="Prompt cache">Lost {LOST_AT[lost]}</Fact>}
      {error !== null && (
        <Fact name="Error">
          {error.message} (<code>{error.code}</code>)
        </Fact>
      )}
      {callId !== null && <IdFact name="Call" id={callId} />}
      {callId === null && messageId !== null && <IdFact name="Message" id={messageId} />}
    </>
  );
}

function IdFact({ name, id }: { name: string; id: string }) {
  return (
    <Fact name={`${name} id`}>
      <code>{id}</code> <CopyButton read={() => id} label={`Copy the ${name.toLowerCase()} id`} />
    </Fact>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
