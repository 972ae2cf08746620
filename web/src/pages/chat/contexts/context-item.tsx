/** One row of the context list: name, preview of the last message, state. */
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import type { Context } from 'nightshift/client';
import { contextName } from '../../../data/format.ts';
import { keys } from '../../../data/query/keys.ts';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import { contextsWords } from '../../../words.ts';
import css from './contexts-pane.module.css';

const words = contextsWords.item;

type Props = {
  context: Context;
  isOpen: boolean;
  /** Below another row: the list is not refreshed around it. */
  isBelow?: boolean;
};

export function ContextItem({ context, isOpen, isBelow = false }: Props) {
  const { id, last_message } = context;
  const state = useStateOf(context, isOpen);
  return (
    <Link
      to="/contexts/$contextId"
      params={{ contextId: id }}
      className={css.item}
      data-context={id}
      data-row={isBelow ? undefined : id}
      data-open={isOpen}
      aria-current={isOpen ? 'page' : undefined}
    >
      <span className={css.line}>
        <span className={css.name}>{contextName(context)}</span>
        <span className={css.when}>
          <RelativeTime at={context.updated_at} />
        </span>
      </span>
      <span className={css.line}>
        <span className={css.preview}>{last_message === null ? words.noMessages : preview(last_message)}</span>
        {state !== 'Idle' && <StatusBadge status={state} />}
      </span>
    </Link>
  );
}

function preview({ role, text }: NonNullable<Context['last_message']>): string {
  const plainText = text.replaceAll(/[\s#*`|]+/g, ' ').trim();
  if (plainText === '') return words.noPreview;
  return role === 'assistant' ? plainText : `› ${plainText}`;
}

/** For the open context the stream delivers the state sooner than the list. */
function useStateOf({ id, state }: Context, isOpen: boolean): string {
  const cache = useQueryClient();
  const streamedState = useSyncExternalStore(
    (listener) => cache.getQueryCache().subscribe(listener),
    () => cache.getQueryData<Context>(keys.contextRecord(id))?.state,
  );
  return isOpen ? (streamedState ?? state) : state;
}
