/** Details of one row of the chart. */
import { Link, useParams } from '@tanstack/react-router';
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
import { STRETCHES, type Row } from './rows.ts';

export function RowDetails({ row, now, onZoom }: { row: Row; now: number; onZoom: () => void }) {
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
        {row.stretches.map(({ kind, from, to, expires }) => (
          <Fact key={`${kind} ${from}`} name={STRETCHES[kind]}>
            {formatDuration((to ?? now) - from)}
            {to === null && expires !== undefined && `, expires ${format(expires, 'second')}`}
          </Fact>
        ))}
        {row.kind === 'step' && <StepFacts step={row.step} />}
        {row.kind === 'child' && (
          <Fact name="Tokens">
            <Tokens usage={row.job.usage} />
          </Fact>
        )}
      </dl>
      {row.kind === 'step' && <StepLog step={row.step} isOver={row.to !== null} />}
      <div className={css.acts}>
        <Button size="small" onClick={onZoom}>
          <ZoomIn /> Zoom to row
        </Button>
        {row.kind === 'step' && row.step.n !== null && <Prompt n={row.step.n} />}
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

function StepLog({ step: { tool_call_id: callId }, isOver }: { step: JobStep; isOver: boolean }) {
  const { jobId } = useParams({ from: '/jobs/$jobId' });
  return callId === null ? null : <CallLog jobId={jobId} callId={callId} isOver={isOver} title="Log of the tool" />;
}

function Prompt({ n }: { n: number }) {
  const { jobId } = useParams({ from: '/jobs/$jobId' });
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)}>
        <FileText /> Show prompt
      </Button>
      {isOpen && <PromptDialog jobId={jobId} n={n} onClose={() => setOpen(false)} />}
    </>
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
