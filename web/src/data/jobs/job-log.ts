/** What the tools of a job wrote to their logs, in the cache: each read adds what is new. */
import { queryOptions } from '@tanstack/react-query';
import type { LogEntry } from 'nightshift/client';
import { client } from '../client.ts';
import { keys } from '../query/keys.ts';

export type LogLevel = LogEntry['level'];

/** `isWhole`: there was nothing more at the last read. */
export type JobLog = { entries: readonly LogEntry[]; isWhole: boolean };

/** How often the log of an unfinished job is read, in milliseconds. */
const EVERY_MS = 2_000;
/** Reads after the job has ended: the last entries of a call are stored a moment after its result. */
const READS_AFTER = 3;
const PAGE = 200;
/** Pages of one read. */
const MOST_PAGES = 5;

/** `isOver`: the job has ended. */
export function jobLogQuery(id: string, level: LogLevel, isOver: boolean) {
  const queryKey = keys.jobLog(id, level);
  let readsAfter = 0;
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client: cache }): Promise<JobLog> => {
      if (isOver) readsAfter += 1;
      const entries = [...(cache.getQueryData<JobLog>(queryKey)?.entries ?? [])];
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const last = entries.at(-1);
        const query = { level, limit: PAGE, ...(last === undefined ? {} : { after: last.id }) };
        const read = await client.jobs.logs(id, query, { signal }).page();
        entries.push(...read.data);
        if (read.next_cursor === null) return { entries, isWhole: true };
      }
      return { entries, isWhole: false };
    },
    refetchInterval: () => (isOver && readsAfter > READS_AFTER ? false : EVERY_MS),
    structuralSharing: false,
  });
}
