/** A tool call: arguments, status, duration and result, and the form to answer it if it waits for a person. */
import { useQuery } from '@tanstack/react-query';
import { ChevronRight, CircleHelp, Users, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Context, Message, ToolCall, ToolResultBlock, ToolUseBlock } from 'nightshift/client';
import { toolCallQuery } from '../../../data/live/tool-calls.ts';
import { classes } from '../../../ui/classes.ts';
import { Json } from '../../../ui/text/json.tsx';
import { Markdown } from '../../../ui/text/markdown.tsx';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import { Duration } from '../../../ui/text/time.tsx';
import { unfolded } from './marks.ts';
import type { CallResult } from './rows.ts';
import { SpawnedWorkers } from '../contexts/spawned-workers.tsx';
import { CallLog } from '../../../call-log/call-log.tsx';
import { CallProgress } from '../../../call-log/call-progress.tsx';
import { ToolWait } from '../../../answers/tool-wait.tsx';
import { answerWords, toolWords } from '../../../words.ts';
import css from './tool-card.module.css';

const words = toolWords;

const { approval: approvalWords } = answerWords;

type Props = { context: Context; message: Message; block: ToolUseBlock; result: CallResult | undefined };

/** Tools that act on workers; their cards link to the workers. */
const OF_WORKERS = ['spawn_worker', 'send_message', 'wait_for_workers', 'stop_worker'];

export function ToolCard({ context, message, block, result }: Props) {
  const isOpen = unfolded.useIsSet(block.id);
  const isOdd = result?.block.is_error === true;
  const { data: call } = useQuery({
    ...toolCallQuery(context.id, block.id),
    enabled: result === undefined || isOpen || isOdd,
    // Its message brought it along.
    staleTime: Infinity,
  });
  const status = statusOf(call, result);
  const question = questionOf(block);
  const waits = result === undefined && call !== undefined && call.waits_for !== null;
  return (
    <section
      className={classes(css.card, waits && css.waits)}
      aria-label={words.card(block.name)}
      data-call={block.id}
      data-waits={waits}
      tabIndex={-1}
    >
      <button type="button" className={css.head} aria-expanded={isOpen} onClick={() => unfolded.set(block.id, !isOpen)}>
        <ChevronRight className={css.turn} data-open={isOpen} aria-hidden="true" />
        <Icon name={block.name} />
        <code className={css.name}>{block.name}</code>
        {question === null && !isOpen && <span className={css.brief}>{brief(block.input)}</span>}
        <span className={css.took}>
          <Took from={message.completed_at ?? message.created_at} result={result} call={call} />
        </span>
        <StatusBadge status={status} />
      </button>
      {result === undefined && call !== undefined && call.progress !== null && (
        <div className={css.progress}>
          <CallProgress progress={call.progress} />
        </div>
      )}
      {question !== null && (
        <div className={css.question}>
          <Markdown text={question} />
        </div>
      )}
      {OF_WORKERS.includes(block.name) && <SpawnedWorkers context={context} block={block} result={result?.block} />}
      {isOpen && <Details block={block} call={call} result={result?.block} />}
      {waits && <ToolWait call={call} />}
      {question !== null && result !== undefined && (
        <p className={css.answer}>
          <span>{words.answered}</span> {textOfResult(result.block)}
        </p>
      )}
    </section>
  );
}

/** A result whose call is not in the loaded window. */
export function ToolResultCard({ block }: { block: ToolResultBlock }) {
  return (
    <section className={css.card} aria-label={words.resultCard}>
      <div className={css.details}>
        <Part name={block.is_error ? words.error : words.output}>
          <Json value={textOfResult(block)} label={words.output} />
        </Part>
      </div>
    </section>
  );
}

function Details({
  block,
  call,
  result,
}: {
  block: ToolUseBlock;
  call: ToolCall | undefined;
  result: ToolResultBlock | undefined;
}) {
  const changed = call?.approval?.input ?? null;
  return (
    <div className={css.details}>
      <Part name={answerWords.arguments}>
        <Json value={block.input} label={answerWords.arguments} />
      </Part>
      {changed !== null && (
        <Part name={approvalWords.editedArguments}>
          <Json value={changed} label={approvalWords.editedArguments} />
        </Part>
      )}
      {call?.approval !== undefined && call.approval !== null && (
        <Part name={call.approval.decision === 'approve' ? approvalWords.approved : approvalWords.denied}>
          {call.approval.reason !== null && <p>{call.approval.reason}</p>}
        </Part>
      )}
      {call !== undefined && (
        <CallLog jobId={call.job_id} callId={call.id} isOver={result !== undefined} title={words.log} />
      )}
      {result !== undefined && (
        <Part name={result.is_error ? words.error : words.output}>
          <Json value={textOfResult(result)} label={words.output} />
        </Part>
      )}
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

function Icon({ name }: { name: string }) {
  if (name === 'ask_user') return <CircleHelp aria-hidden="true" />;
  return OF_WORKERS.includes(name) ? <Users aria-hidden="true" /> : <Wrench aria-hidden="true" />;
}

/** Duration of the execution, or of the wait while the call has no result. */
function Took({ from, result, call }: { from: string; result: CallResult | undefined; call: ToolCall | undefined }) {
  if (result === undefined) return <Duration from={call?.waits_since ?? from} to={null} />;
  const began = call?.executions[0]?.began_at;
  const ended = call?.executions.at(-1)?.ended_at ?? null;
  return began !== undefined && ended !== null ? (
    <Duration from={began} to={ended} />
  ) : (
    <Duration from={from} to={result.at} />
  );
}

/** Derives the status from the result if the tool call itself is not loaded. */
function statusOf(call: ToolCall | undefined, result: CallResult | undefined): string {
  if (result === undefined) return call === undefined ? 'pending' : shown(call);
  if (!result.block.is_error) return 'completed';
  return call === undefined || !isOver(call) ? 'failed' : call.status;
}

function shown({ status, waits_for, progress }: ToolCall): string {
  // Of a call that runs before its answer is stored, only its reports tell that it runs.
  if (status === 'pending' && progress !== null) return 'running';
  if (status !== 'waiting') return status;
  switch (waits_for) {
    case 'approval':
      return 'AwaitingToolApproval';
    case 'answer':
      return 'AwaitingInput';
    case 'outcome':
      return 'unknown';
    case 'workers':
      return 'AwaitingWorkers';
    case 'timer':
    case null:
      return 'waiting';
  }
}

function isOver({ status }: ToolCall): boolean {
  return !['pending', 'started', 'waiting'].includes(status);
}

function questionOf({ name, input }: ToolUseBlock): string | null {
  if (name !== 'ask_user' || typeof input !== 'object' || input === null || Array.isArray(input)) return null;
  const question = input['question'];
  return typeof question === 'string' ? question : null;
}

/** The arguments on one line. */
function brief(input: ToolUseBlock['input']): string {
  if (typeof input !== 'object' || input === null) return String(input ?? '');
  const pairs = Object.entries(input).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return pairs.join(', ').slice(0, 200);
}

function textOfResult({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : words.image)).join('\n');
}
