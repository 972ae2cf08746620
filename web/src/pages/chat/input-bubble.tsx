/** What was put in: by a person, or by another worker. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Context, Message } from 'nightshift/client';
import { workerQuery } from '../../data/workers.ts';
import { classes } from '../../ui/classes.ts';
import { RelativeTime } from '../../ui/time.tsx';
import css from './bubbles.module.css';
import { FileBlock } from './file-block.tsx';
import { MessageActions } from './message-actions.tsx';

export function InputBubble({ message, context }: { message: Message; context: Context }) {
  return (
    <article className={classes(css.row, css.input)} aria-label="Input" data-message={message.id}>
      {message.sender_worker_id !== null && <Sender id={message.sender_worker_id} />}
      <div className={css.bubble}>
        {message.content.map((block, at) =>
          block.type === 'text' ? (
            <div key={at} className={css.plain}>
              {block.text}
            </div>
          ) : (
            <FileBlock key={at} block={block} />
          ),
        )}
      </div>
      <footer className={css.foot}>
        <RelativeTime at={message.created_at} />
        <MessageActions context={context} message={message} />
      </footer>
    </article>
  );
}

function Sender({ id }: { id: string }) {
  const { data } = useQuery({ ...workerQuery(id), staleTime: 60_000 });
  return (
    <p className={css.sender}>
      from{' '}
      {data === undefined ? (
        'another worker'
      ) : (
        <Link to="/contexts/$contextId" params={{ contextId: data.context_id }}>
          {data.name}
        </Link>
      )}
    </p>
  );
}
