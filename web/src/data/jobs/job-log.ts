/** What the tools of a job wrote to their logs, in the cache: each read adds what is new. */
import { queryOptions } from '@tanstack/react-query';
import type { LogEntry } from 'nightshift/client';
import { client } from '../client.ts';
import { keys } from '../query/keys.ts';
import type { JobLog, LogReader } from './log-reader.ts';

export type LogLevel = LogEntry['level'];

/** How often the log is read while a call runs, in milliseconds. */
const EVERY_MS = 2_000;
const PAGE = 200;

export function jobLogQuery(id: string, level: LogLevel, reader: LogReader, isCallRunning: boolean) {
  const queryKey = keys.jobLog(id, level);
  return queryOptions({
    queryKey,
    queryFn: ({ signal, client: cache }): Promise<JobLog> =>
      reader.read(cache.getQueryData<JobLog>(queryKey), async (last) => {
        const query = { level, limit: PAGE, ...(last === undefined ? {} : { after: last }) };
        const page = await client.jobs.logs(id, query, { signal }).page();
        return { entries: page.data, next: page.next_cursor };
      }),
    refetchInterval: () => (reader.isActive(isCallRunning) ? EVERY_MS : false),
    structuralSharing: false,
  });
}
