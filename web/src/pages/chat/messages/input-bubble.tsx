/** An input from a person or from another worker. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ContentBlock, Context, Message } from 'nightshift/client';
import { useSending } from '../../../data/query/use-sending.ts';
import { workerQuery } from '../../../data/query/workers.ts';
import { classes } from '../../../ui/classes.ts';
import { Badge } from '../../../ui/text/badge.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import { Sentence } from '../../../ui/text/sentence.tsx';
import { FileBlock } from '../../../message-content/file-block.tsx';
import { messageWords } from '../../../words.ts';
import css from '../bubbles.module.css';
import { MessageActions } from './message-actions.tsx';
import { RetractedMark } from './retracted-mark.tsx';

export function InputBubble({ message, context }: { message: Message; context: Context }) {
  const isRetracted = message.status === 'retracted';
  return (
    <article
      className={classes(css.row, css.input, isRetracted && css.retracted)}
      aria-label={isRetracted ? messageWords.retracted.input : messageWords.input}
      data-message={message.id}
    >
      {message.sender_worker_id !== null && <Sender id={message.sender_worker_id} />}
      <Content content={message.content} />
      <footer className={css.foot}>
        <RetractedMark message={message} />
        {message.steered && <Badge title={messageWords.steeredHint}>{messageWords.steered}</Badge>}
        <RelativeTime at={message.created_at} />
        <MessageActions context={context} message={message} />
      </footer>
    </article>
  );
}

/** Inputs that are being sent, until the message lists contain them. */
export function BeingSent({ contextId }: { contextId: string }) {
  return useSending(contextId).map(({ key, content, sent }) => (
    <article key={key} className={classes(css.row, css.input, css.sending)} aria-label={messageWords.beingSent}>
      <Content content={typeof content === 'string' ? [{ type: 'text', text: content }] : content} />
      <footer className={css.foot}>{sent === null ? messageWords.sending : messageWords.sent}</footer>
    </article>
  ));
}

function Content({ content }: { content: readonly ContentBlock[] }) {
  return (
    <div className={css.bubble}>
      {content.map((block, at) =>
        block.type === 'text' ? (
          <div key={at} className={css.plain}>
            {block.text}
          </div>
        ) : (
          <FileBlock key={at} block={block} />
        ),
      )}
    </div>
  );
}

function Sender({ id }: { id: string }) {
  const { data } = useQuery({ ...workerQuery(id), staleTime: 60_000 });
  const worker =
    data === undefined ? (
      messageWords.otherWorker
    ) : (
      <Link to="/contexts/$contextId" params={{ contextId: data.context_id }}>
        {data.name}
      </Link>
    );
  return (
    <p className={css.sender}>
      <Sentence text={messageWords.sender} gaps={{ worker }} />
    </p>
  );
}
