/** All contexts, the newest first, narrowed down by what is looked for. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { MessagesSquare, Search } from 'lucide-react';
import { useDeferredValue, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import type { Context } from 'nightshift/client';
import { VList } from 'virtua';
import type { VListHandle } from 'virtua';
import { contextsQuery } from '../../data/contexts.ts';
import { contextName } from '../../data/format.ts';
import { allOf } from '../../data/pages-of.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { TextField } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Spinner } from '../../ui/spinner.tsx';
import { ContextItem } from './context-item.tsx';
import { SHOWN, filterOf } from './context-filter.ts';
import type { Shown } from './context-filter.ts';
import css from './contexts-pane.module.css';
import { NewWorker } from './new-worker.tsx';

/** So near to the end more are asked for, in pixels. */
const NEAR = 400;
/** What is looked for is looked for in so many; further back only if asked. */
const MOST_SCANNED = 500;

export function ContextsPane({ openId }: { openId: string | undefined }) {
  const [shown, setShown] = useState<Shown>('all');
  const [sought, setSought] = useState('');
  return (
    <section className={css.pane} aria-label="Contexts">
      <header className={css.head}>
        <h1>Chat</h1>
        <NewWorker variant="primary" size="small" />
      </header>
      <div className={css.filters}>
        <TextField
          label="Find a context"
          hideLabel
          type="search"
          placeholder="Find a context"
          value={sought}
          onChange={({ target }) => setSought(target.value)}
        />
        <Select label="Which contexts" value={shown} options={SHOWN} onChange={setShown} />
      </div>
      <Found key={shown} shown={shown} sought={useDeferredValue(sought.trim())} openId={openId} />
    </section>
  );
}

function Found({ shown, sought, openId }: { shown: Shown; sought: string; openId: string | undefined }) {
  const contexts = useInfiniteQuery(contextsQuery(filterOf(shown)));
  const all = allOf(contexts.data);
  const rows = all.filter((context) => meets(context, sought));
  const list = useRef<VListHandle>(null);
  const mayGoOn = contexts.hasNextPage && !contexts.isFetchingNextPage;
  const fill = (): void => {
    const at = list.current;
    if (at === null || !mayGoOn || (sought !== '' && all.length >= MOST_SCANNED)) return;
    if (at.scrollSize - at.scrollOffset - at.viewportSize < NEAR) void contexts.fetchNextPage();
  };
  if (contexts.isPending) return <Skeleton lines={8} height={52} />;
  if (contexts.isError && all.length === 0)
    return <ErrorState error={contexts.error} onRetry={() => void contexts.refetch()} />;
  if (all.length === 0) return <Nothing shown={shown} />;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- arrow keys go between its links
    <nav className={css.list} aria-label="Contexts" onKeyDown={moveFocus}>
      {rows.length > 0 && (
        <VList ref={list} className={css.rows} onScroll={fill} onResize={fill}>
          {rows.map((context) => (
            <ContextItem key={context.id} context={context} isOpen={context.id === openId} />
          ))}
        </VList>
      )}
      {rows.length === 0 && <p className={css.none}>No context is called so.</p>}
      <footer className={css.foot} role="status">
        {contexts.isFetchingNextPage && <Spinner label="Loading more" />}
        {sought !== '' && mayGoOn && (
          <Button size="small" variant="quiet" onClick={() => void contexts.fetchNextPage()}>
            Look further back
          </Button>
        )}
        {sought !== '' && (
          <Link
            to="/search"
            search={{ q: sought }}
            className={buttonClass({ variant: 'quiet', size: 'small' })}
          >
            <Search aria-hidden="true" /> Search all messages
          </Link>
        )}
      </footer>
    </nav>
  );
}

function meets(context: Context, sought: string): boolean {
  if (sought === '') return true;
  const text = [
    contextName(context),
    context.worker_name,
    context.role,
    context.last_message?.text,
    context.id,
  ];
  return text.join('\n').toLowerCase().includes(sought.toLowerCase());
}

/** Arrow keys go from one to the next. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a[data-context]')];
  const at = links.findIndex((link) => link === document.activeElement);
  links[at + step]?.focus();
  event.preventDefault();
}

function Nothing({ shown }: { shown: Shown }) {
  if (shown !== 'all') return <p className={css.none}>None is like that now.</p>;
  return (
    <Empty icon={<MessagesSquare aria-hidden="true" />} title="No context yet">
      Make a worker: its context is where you talk to it.
    </Empty>
  );
}
