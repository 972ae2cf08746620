/** What a tool wrote to the log of its call. Nothing if it wrote nothing. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { client } from '../data/client.ts';
import { keys } from '../data/query/keys.ts';
import { allOf, at, byCursor } from '../data/query/pages-of.ts';
import { LongList } from '../ui/layout/long-list.tsx';
import { Button } from '../ui/forms/button.tsx';
import { callLogWords, commonWords } from '../words.ts';
import css from './call-log.module.css';
import { LogLine } from './log-line.tsx';

/** How often the log of a running call is read, in milliseconds. */
const EVERY_MS = 1_000;

/** Reads after the first one once the call is over: its last entries are stored a moment after its result. */
const READS_AFTER = 3;

type Props = { jobId: string; callId: string; isOver: boolean; title: string };

export function CallLog({ jobId, callId, isOver, title }: Props) {
  const { data, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: keys.callLog(jobId, callId, isOver),
    queryFn: ({ pageParam, signal }) =>
      client.jobs.logs(jobId, { tool_call_id: callId, limit: 200, ...at(pageParam) }, { signal }).page(),
    ...byCursor,
    placeholderData: (before) => before,
    refetchInterval: ({ state: { dataUpdateCount, errorUpdateCount } }) =>
      isOver && dataUpdateCount + errorUpdateCount > READS_AFTER ? false : EVERY_MS,
  });
  const entries = allOf(data);
  if (entries.length === 0) return null;
  return (
    <section className={css.log} aria-label={title}>
      <h3>{title}</h3>
      <LongList
        ordered
        scrolls
        label={callLogWords.entries}
        items={entries}
        itemKey={({ id }) => id}
        more={hasNextPage}
      >
        {(entry, place) => <LogLine key={entry.id} place={place} entry={entry} />}
      </LongList>
      {hasNextPage && (
        <Button size="small" onClick={() => void fetchNextPage()}>
          {commonWords.showMore}
        </Button>
      )}
    </section>
  );
}
