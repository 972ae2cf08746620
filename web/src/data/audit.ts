/** The audit log of the tenant, newest first. */
import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys, type AuditFilter } from './query/keys.ts';
import { at, byCursor } from './query/pages-of.ts';

const reader = (filter: AuditFilter) => (cursor: string | undefined, signal: AbortSignal) =>
  client.audit.list({ ...filter, ...at(cursor), limit: 50 }, { signal }).page();

/** Polled by `useRefreshed`. */
export function auditQuery(filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: keys.audit(filter),
    queryFn: ({ pageParam, signal }) => reader(filter)(pageParam, signal),
    ...byCursor,
    placeholderData: keepPreviousData,
  });
}

export function auditRefresh(filter: AuditFilter) {
  return { queryKey: keys.audit(filter), readPage: reader(filter), pollMs: 20_000 };
}
