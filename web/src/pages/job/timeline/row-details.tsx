/** Details of one row of the chart. */
import { Link } from '@tanstack/react-router';
import { FileText, ZoomIn } from 'lucide-react';
import type { JobStep } from 'nightshift/client';
import type { ReactNode } from 'react';
import { CallLog } from '../../../call-log/call-log.tsx';
import { CallProgress } from '../../../call-log/call-progress.tsx';
import { Button, buttonClass } from '../../../ui/forms/button.tsx';
import { CopyButton } from '../../../ui/text/copy-button.tsx';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import { useTimeFormat } from '../../../ui/text/time-format.ts';
import { formatDuration } from '../../../ui/text/time.tsx';
import { Tokens, formatCount } from '../../../ui/text/tokens.tsx';
import { Fact } from '../fact.tsx';
import css from './chart.module.css';
import type { Row } from './rows/rows.ts';
import { statusWords, stretchWords, timelineWords, type StretchKind } from '../../../words.ts';

const { details: words, facts } = timelineWords;

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
        <Fact name={facts.status}>
          <StatusBadge status={row.status} />
        </Fact>
        <Fact name={facts.started}>{format(row.from, 'second')}</Fact>
        <Fact name={facts.ended}>{row.to === null ? facts.notEnded : format(row.to, 'second')}</Fact>
        {row.stretches.map(({ kind, from, to, expires, note }) => (
          <Fact key={`${kind} ${from}`} name={stretchWords[kind]}>
            {formatDuration((to ?? now) - from)}
            {note !== undefined && !isTold(row, kind) && `: ${note}`}
            {to === null && expires !== undefined && `, ${words.expires(format(expires, 'second'))}`}
          </Fact>
        ))}
        {row.kind === 'step' && row.failed.map((step) => <FailedAttempt key={step.attempt} step={step} />)}
        {row.kind === 'step' && <StepFacts step={row.step} />}
        {row.kind === 'child' && (
          <Fact name={facts.tokens}>
            <Tokens usage={row.job.usage} />
          </Fact>
        )}
      </dl>
      {row.kind === 'step' && <StepLog jobId={jobId} step={row.step} isOver={row.to !== null} />}
      <div className={css.acts}>
        <Button size="small" onClick={onZoom}>
          <ZoomIn /> {words.zoom}
        </Button>
        {row.kind === 'step' &&
          row.failed.map(
            ({ n, attempt }) =>
              n !== null && (
                <Prompt key={n} jobId={jobId} n={n}>
                  {attempt === null ? words.showPrompt : words.showPromptOf(attempt)}
                </Prompt>
              ),
          )}
        {row.kind === 'step' && row.step.n !== null && (
          <Prompt jobId={jobId} n={row.step.n}>
            {words.showPrompt}
          </Prompt>
        )}
        {row.kind === 'child' && (
          <>
            <Link to="/jobs/$jobId" params={{ jobId: row.job.job_id }} search={{ tab: 'timeline' }}>
              {words.childTimeline}
            </Link>
            <Link to="/contexts/$contextId" params={{ contextId: row.job.context_id }}>
              {words.childChat}
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
  return callId === null ? null : <CallLog jobId={jobId} callId={callId} isOver={isOver} title={words.log} />;
}

function Prompt({ jobId, n, children }: { jobId: string; n: number; children: ReactNode }) {
  return (
    <Link
      to="/jobs/$jobId"
      params={{ jobId }}
      search={{ tab: 'prompt', call: n }}
      className={buttonClass({ size: 'small' })}
    >
      <FileText aria-hidden="true" /> {children}
    </Link>
  );
}

function FailedAttempt({ step: { attempt, error } }: { step: JobStep }) {
  return (
    <Fact name={attempt === null ? facts.attempt : facts.attemptOf(attempt)}>
      {error === null ? statusWords.failed : `${error.message} `}
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
      {attempt !== null && <Fact name={facts.attempt}>{attempt}</Fact>}
      {usage !== null && (
        <Fact name={facts.tokens}>
          <Tokens usage={usage} />
        </Fact>
      )}
      {before !== null && after !== null && (
        <Fact name={facts.prompt}>{facts.compacted(formatCount(before), formatCount(after))}</Fact>
      )}
      {executions !== null && executions.length > 1 && <Fact name={facts.executions}>{executions.length}</Fact>}
      {approval !== null && (
        <Fact name={facts.decision}>
          {words.decisions[approval.decision]}
          {approval.reason !== null && `: ${approval.reason}`}
        </Fact>
      )}
      {lost !== null && <Fact name={facts.promptCache}>{words.cacheLost(lost)}</Fact>}
      {error !== null && (
        <Fact name={facts.error}>
          {error.message} (<code>{error.code}</code>)
        </Fact>
      )}
      {callId !== null && <IdFact name={facts.callId} id={callId} copy={facts.copyCallId} />}
      {callId === null && messageId !== null && (
        <IdFact name={facts.messageId} id={messageId} copy={facts.copyMessageId} />
      )}
    </>
  );
}

function IdFact({ name, id, copy }: { name: string; id: string; copy: string }) {
  return (
    <Fact name={name}>
      <code>{id}</code> <CopyButton read={() => id} label={copy} />
    </Fact>
  );
}
