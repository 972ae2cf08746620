import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleHelp, Puzzle, ShieldCheck, TriangleAlert } from 'lucide-react';
import type { InboxItem } from 'nightshift/client';
import { Decided } from '../../answers/decided.tsx';
import { ToolWait } from '../../answers/tool-wait.tsx';
import { useDecision, type Decision } from '../../data/query/decisions.ts';
import { toolCallQuery } from '../../data/live/tool-calls.ts';
import { shortId } from '../../data/format.ts';
import { useContextName } from '../../data/names.ts';
import { Badge, type Tone } from '../../ui/text/badge.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Markdown } from '../../ui/text/markdown.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { Sentence } from '../../ui/text/sentence.tsx';
import { inboxWords, type InboxKind } from '../../words.ts';
import css from './inbox.module.css';
import { kindOf, questionOf } from './kinds.ts';

const words = inboxWords.card;

const TONES: Readonly<Record<InboxKind, Tone>> = {
  approval: 'amber',
  question: 'accent',
  client_tool: 'blue',
  unknown_outcome: 'red',
};

/** `isOver`: the call no longer waits; the card keeps its position and shows the decision. */
export function InboxCard({ item, isOver }: { item: InboxItem; isOver: boolean }) {
  const kind = kindOf(item);
  const question = questionOf(item);
  return (
    <article
      className={css.card}
      tabIndex={-1}
      aria-label={words.name(kind, item.name)}
      data-call={item.tool_call_id}
      data-waits={!isOver}
      data-over={isOver}
    >
      <header className={css.head}>
        <Icon kind={kind} />
        <h2>{question === null ? <code>{item.name}</code> : words.question}</h2>
        <Badge tone={TONES[kind]}>{inboxWords.one[kind]}</Badge>
        <span className={css.since}>
          <RelativeTime at={item.requested_at} />
        </span>
      </header>
      <p className={css.where}>
        <Sentence
          text={words.where}
          gaps={{
            context: <ContextLink id={item.context_id} />,
            job: (
              <Link to="/jobs/$jobId" params={{ jobId: item.job_id }}>
                {words.job(shortId(item.job_id))}
              </Link>
            ),
          }}
        />
      </p>
      {question !== null && (
        <div className={css.question}>
          <Markdown text={question} />
        </div>
      )}
      {isOver ? <Over item={item} /> : <Open item={item} />}
    </article>
  );
}

function Open({ item }: { item: InboxItem }) {
  const call = useQuery(toolCallQuery(item.context_id, item.tool_call_id));
  return (
    <>
      {call.isPending && (
        <div className={css.loading}>
          <Skeleton lines={2} />
        </div>
      )}
      {call.isError && call.data === undefined && (
        <ErrorState error={call.error} onRetry={() => void call.refetch()} busy={call.isFetching} />
      )}
      {call.data !== undefined && <ToolWait call={call.data} />}
    </>
  );
}

const ELSEWHERE: Decision = { state: 'sent', label: words.decidedElsewhere };

function Over({ item }: { item: InboxItem }) {
  const decision = useDecision({ callId: item.tool_call_id, since: item.requested_at });
  return <Decided decision={decision ?? ELSEWHERE} />;
}

function ContextLink({ id }: { id: string }) {
  const name = useContextName(id);
  return (
    <Link to="/contexts/$contextId" params={{ contextId: id }}>
      {name}
    </Link>
  );
}

function Icon({ kind }: { kind: InboxKind }) {
  switch (kind) {
    case 'approval':
      return <ShieldCheck aria-hidden="true" />;
    case 'question':
      return <CircleHelp aria-hidden="true" />;
    case 'client_tool':
      return <Puzzle aria-hidden="true" />;
    case 'unknown_outcome':
      return <TriangleAlert aria-hidden="true" />;
  }
}
