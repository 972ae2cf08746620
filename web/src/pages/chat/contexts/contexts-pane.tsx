/** The list of contexts, most recently active first, with search and filter. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { MessagesSquare, Search } from 'lucide-react';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { VList, type VListHandle } from 'virtua';
import { contextQuery, contextsQuery, contextsRefresh } from '../../../data/query/contexts.ts';
import type { ContextFilter } from '../../../data/query/keys.ts';
import { allOf } from '../../../data/query/pages-of.ts';
import { useRefreshed } from '../../../data/query/use-refreshed.ts';
import { buttonClass } from '../../../ui/forms/button.tsx';
import { Empty } from '../../../ui/layout/empty.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { TextField } from '../../../ui/forms/field.tsx';
import { useSettled } from '../../../ui/state/settled.ts';
import { Select } from '../../../ui/forms/select.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { middleRow } from '../../../ui/state/middle-row.ts';
import { Spinner } from '../../../ui/state/spinner.tsx';
import { contextsWords, placeWords } from '../../../words.ts';
import { ContextBranch } from './context-branch.tsx';
import { ContextItem } from './context-item.tsx';
import { SHOWN, filterOf, type Shown } from './context-filter.ts';
import css from './contexts-pane.module.css';
import { NewWorker } from './new-worker.tsx';

/** Minimum number of rows to load, if there are as many. */
const LEAST = 20;
/** Distance to the end of the list, in pixels, at which the next page is fetched. */
const NEAR = 400;
/** Contexts in a list by activity: the API leaves out older ones. */
const NEWEST = 2_000;
/** Maximum length of the search text in the API. */
const LONGEST = 200;

export function ContextsPane({ openId }: { openId: string | undefined }) {
  const [shown, setShown] = useState<Shown>('all');
  const [sought, setSought] = useState('');
  return (
    <section className={css.pane} aria-label={contextsWords.list}>
      <header className={css.head}>
        <h1>{placeWords.chat}</h1>
        <NewWorker variant="primary" size="small" />
      </header>
      <div className={css.filters}>
        <TextField
          label={contextsWords.find}
          hideLabel
          type="search"
          placeholder={contextsWords.find}
          value={sought}
          maxLength={LONGEST}
          onChange={({ target }) => setSought(target.value)}
        />
        <Select label={contextsWords.filter} value={shown} options={SHOWN} onChange={setShown} />
      </div>
      <Found key={shown} shown={shown} sought={useSettled(sought.trim())} openId={openId} />
    </section>
  );
}

function Found({ shown, sought, openId }: { shown: Shown; sought: string; openId: string | undefined }) {
  // Below their parents; what is filtered or sought is found wherever it is.
  const isNested = shown === 'all' && sought === '';
  const filter: ContextFilter = isNested
    ? { spawned: false, sort: 'activity' }
    : { ...filterOf(shown), ...(sought === '' ? {} : { q: sought }) };
  const open = useQuery({ ...contextQuery(openId ?? ''), enabled: openId !== undefined });
  const openParentId = open.data?.parent_worker_id ?? null;
  const contexts = useInfiniteQuery(contextsQuery(filter));
  useRefreshed(contextsRefresh(filter), middleRow);
  const rows = allOf(contexts.data);
  const list = useRef<VListHandle>(null);
  const mayGoOn = contexts.hasNextPage && !contexts.isFetchingNextPage && !contexts.isPlaceholderData;
  const fill = (): void => {
    const at = list.current;
    if (at === null || !mayGoOn) return;
    if (at.scrollSize - at.scrollOffset - at.viewportSize < NEAR) void contexts.fetchNextPage();
  };
  // A page of search results can be short or empty and still have a next page.
  const isShort = rows.length < LEAST && mayGoOn && !contexts.isError;
  const { fetchNextPage } = contexts;
  useEffect(() => {
    if (isShort) void fetchNextPage();
  }, [isShort, fetchNextPage]);
  if (contexts.isPending) return <Skeleton lines={8} height={52} />;
  if (contexts.isError && rows.length === 0)
    return <ErrorState error={contexts.error} onRetry={() => void contexts.refetch()} />;
  if (rows.length === 0 && sought === '') return <Nothing shown={shown} />;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- arrow keys move between its links
    <nav className={css.list} aria-label={contextsWords.list} onKeyDown={moveFocus}>
      {rows.length > 0 && (
        <VList ref={list} className={css.rows} onScroll={fill} onResize={fill}>
          {rows.map((context) =>
            isNested ? (
              <ContextBranch key={context.id} context={context} openId={openId} openParentId={openParentId} />
            ) : (
              <ContextItem key={context.id} context={context} isOpen={context.id === openId} />
            ),
          )}
          {isNested && !contexts.hasNextPage && rows.length >= NEWEST && (
            <p className={css.end}>{contextsWords.listEnds(NEWEST)}</p>
          )}
        </VList>
      )}
      {rows.length === 0 && !contexts.hasNextPage && <p className={css.none}>{contextsWords.noMatch}</p>}
      <footer className={css.foot} role="status">
        {contexts.isFetchingNextPage && <Spinner label={contextsWords.loadingMore} />}
        {sought !== '' && (
          <Link to="/search" search={{ q: sought }} className={buttonClass({ variant: 'quiet', size: 'small' })}>
            <Search aria-hidden="true" /> {contextsWords.searchAll}
          </Link>
        )}
      </footer>
    </nav>
  );
}

/** Arrow keys move the focus between the rows, and open and close what is below one. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
    const fold = document.activeElement?.parentElement?.querySelector<HTMLElement>(':scope > button[aria-expanded]');
    if ((fold?.ariaExpanded === 'true') === (event.key === 'ArrowLeft')) fold?.click();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a[data-context]')];
  const at = links.findIndex((link) => link === document.activeElement);
  links[at + step]?.focus();
  event.preventDefault();
}

function Nothing({ shown }: { shown: Shown }) {
  if (shown !== 'all') return <p className={css.none}>{contextsWords.noneShown}</p>;
  return (
    <Empty icon={<MessagesSquare aria-hidden="true" />} title={contextsWords.none}>
      {contextsWords.noneAbout}
    </Empty>
  );
}
