/** Keeps jobs and their steps current while they are shown. */
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { keys } from '../query/keys.ts';
import { JobReads, type Part } from './job-reads.ts';
import { useLive } from './live.ts';
import { refetch } from './refetch.ts';

/** How often a job is read while no stream of its context is open. */
const POLL_MS = 2_000;
/** How often the child jobs of a job are read: events of their contexts do not reach the stream of their parent. */
const CHILDREN_MS = 6_000;

/**
 * Renders nothing. Follows the stream of the context of an unfinished job; each event makes the job, and the job above
 * it, be read again.
 */
export function FollowJob({
  jobId,
  contextId,
  parentId = null,
  onFirstToken,
}: {
  jobId: string;
  contextId: string;
  /** The steps of this job tell the status of the followed one. */
  parentId?: string | null;
  /** Of the answer in progress, in milliseconds since 1970; null: none arrived. Must be stable. */
  onFirstToken: (at: number | null) => void;
}) {
  const { connection, changes, firstToken } = useLive(contextId);
  const cache = useQueryClient();
  const read = useCallback(() => {
    const reads = readsOf(cache);
    reads.ask(jobId, 'all');
    if (parentId !== null) reads.ask(parentId, 'steps');
  }, [cache, jobId, parentId]);
  const isOpen = connection === 'open';
  // The queries have just been read.
  const state = `${changes} ${String(isOpen)}`;
  const known = useRef(state);
  useEffect(() => {
    if (known.current === state) return;
    known.current = state;
    read();
  }, [read, state]);
  usePolling(read, isOpen ? null : POLL_MS);
  const at = firstToken?.jobId === jobId ? firstToken.at : null;
  useEffect(() => onFirstToken(at), [onFirstToken, at]);
  // What ended the job is read once more: the last read may have begun before.
  useEffect(
    () => () => {
      read();
      onFirstToken(null);
    },
    [read, onFirstToken],
  );
  return null;
}

/** Renders nothing. For a job with child jobs that have not ended. */
export function FollowChildren({ jobId }: { jobId: string }) {
  const cache = useQueryClient();
  const read = useCallback(() => readsOf(cache).ask(jobId, 'steps'), [cache, jobId]);
  usePolling(read, CHILDREN_MS);
  return null;
}

/** Null: not at all. A hidden tab does not poll. */
function usePolling(read: () => void, everyMs: number | null): void {
  useEffect(() => {
    if (everyMs === null) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && read(), everyMs);
    return () => clearInterval(timer);
  }, [read, everyMs]);
}

const readsOfCache = new WeakMap<QueryClient, JobReads>();

function readsOf(cache: QueryClient): JobReads {
  const read = (jobId: string, part: Part): Promise<void> =>
    refetch(cache, part === 'all' ? keys.job(jobId) : keys.steps(jobId));
  const reads = readsOfCache.get(cache) ?? new JobReads(read);
  readsOfCache.set(cache, reads);
  return reads;
}
