/** Full-text search in the messages of all contexts. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { SearchX, Telescope } from 'lucide-react';
import { spanOf } from '../../data/days.ts';
import { useZone, type Zone } from '../../ui/state/zone.ts';
import type { SearchFilter } from '../../data/query/keys.ts';
import { allOf } from '../../data/query/pages-of.ts';
import { searchQuery } from '../../data/query/system.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { LongList } from '../../ui/layout/long-list.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Found } from './found.tsx';
import { AUTHORS, SearchFilters, type SearchSearch } from './search-filters.tsx';
import { SearchBox } from './search-box.tsx';
import { commonWords, placeWords, searchWords } from '../../words.ts';
import { Sentence } from '../../ui/text/sentence.tsx';
import css from './search.module.css';

const { hints } = searchWords;

export function SearchPage() {
  const search = useSearch({ from: '/search' });
  const navigate = useNavigate();
  const change = (next: SearchSearch): void => void navigate({ to: '/search', search: next, replace: true });
  const [zone] = useZone();
  return (
    <Page title={placeWords.search} about={searchWords.about}>
      <SearchBox
        value={search.q ?? ''}
        onChange={(q) => {
          const { q: _, ...rest } = search;
          change(q === '' ? rest : { ...rest, q });
        }}
      />
      <SearchFilters search={search} onChange={change} />
      {search.q === undefined ? <Hints /> : <Results filter={toFilter(search.q, search, zone)} />}
    </Page>
  );
}

function toFilter(q: string, { from, to, message_role, ...rest }: SearchSearch, zone: Zone): SearchFilter {
  const role = AUTHORS.find(({ value }) => value === message_role)?.value;
  return { ...rest, ...(role === undefined ? {} : { message_role: role }), ...spanOf(from, to, zone), q };
}

function Hints() {
  return (
    <Empty icon={<Telescope aria-hidden="true" />} title={hints.title}>
      <ul className={css.hints}>
        <li>
          <Sentence text={hints.both} gaps={{ example: <code>{hints.bothExample}</code> }} />
        </li>
        <li>
          <Sentence text={hints.phrase} gaps={{ example: <code>{hints.phraseExample}</code> }} />
        </li>
        <li>
          <Sentence text={hints.either} gaps={{ example: <code>{hints.eitherExample}</code> }} />
        </li>
        <li>
          <Sentence
            text={hints.without}
            gaps={{ example: <code>{hints.withoutExample}</code>, word: <code>{hints.withoutWord}</code> }}
          />
        </li>
      </ul>
    </Empty>
  );
}

function Results({ filter }: { filter: SearchFilter }) {
  const found = useInfiniteQuery(searchQuery(filter));
  const rows = allOf(found.data);
  if (found.isPending) return <Skeleton lines={4} height={64} />;
  if (found.isError && rows.length === 0)
    return <ErrorState error={found.error} onRetry={() => void found.refetch()} busy={found.isFetching} />;
  return (
    <>
      <p className={css.count} role="status">
        {rows.length === 0 ? '' : searchWords.found(rows.length, found.hasNextPage)}
      </p>
      {rows.length === 0 && (
        <Empty icon={<SearchX aria-hidden="true" />} title={searchWords.none}>
          {searchWords.noneAbout}
        </Empty>
      )}
      <LongList
        ordered
        label={searchWords.results}
        className={css.list}
        busy={found.isPlaceholderData}
        items={rows}
        itemKey={({ message_id }) => message_id}
        more={found.hasNextPage}
      >
        {(result, place) => (
          <li key={result.message_id} {...place}>
            <Found result={result} />
          </li>
        )}
      </LongList>
      {found.hasNextPage && (
        <Button className={css.more} busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {commonWords.showMore}
        </Button>
      )}
    </>
  );
}
