/**
 * Event streams of browsers that are signed in: each ends with the session that opened it. This process ends them at once when
 * it signs a session out itself. What other processes sign out it learns from Postgres, in one query a second for all streams.
 */
import type { Database } from '../db/client.ts';
import { findLiveSessions } from '../db/sessions.ts';

const ASK_MS = 1_000;

export type SessionStreams = {
  /** `end` is called once, when the session has ended. Returns what the stream calls when it has ended by itself. */
  add(tokenHash: string, end: () => void): () => void;
  /** The session was signed out here. */
  end(tokenHash: string): void;
};

export function sessionStreamsOf({ db }: Pick<Database, 'db'>): SessionStreams {
  return openSessionStreams((hashes) => findLiveSessions(db, hashes));
}

/** `findLive`: those of the sessions that have not ended. */
export function openSessionStreams(
  findLive: (tokenHashes: readonly string[]) => Promise<ReadonlySet<string>>,
): SessionStreams {
  const open = new Map<string, Set<() => void>>();
  let timer: NodeJS.Timeout | null = null;
  let asking = false;

  const schedule = (): void => {
    if (open.size > 0 && !asking) timer ??= setTimeout(() => void ask(), ASK_MS);
  };

  /** While Postgres does not answer the streams go on: they are told nothing then. */
  const ask = async (): Promise<void> => {
    timer = null;
    asking = true;
    const asked = [...open.keys()];
    const live = await findLive(asked).catch(() => null);
    asking = false;
    if (live !== null) for (const tokenHash of asked) if (!live.has(tokenHash)) end(tokenHash);
    schedule();
  };

  const end = (tokenHash: string): void => {
    const ends = open.get(tokenHash) ?? [];
    open.delete(tokenHash);
    for (const one of ends) one();
    unschedule();
  };

  const unschedule = (): void => {
    if (open.size > 0 || timer === null) return;
    clearTimeout(timer);
    timer = null;
  };

  return {
    end,
    add(tokenHash, endStream) {
      // Of its own: two streams may be given the same function.
      const one = (): void => endStream();
      const ends = open.get(tokenHash) ?? new Set();
      open.set(tokenHash, ends.add(one));
      schedule();
      return () => {
        ends.delete(one);
        if (ends.size === 0 && open.get(tokenHash) === ends) open.delete(tokenHash);
        unschedule();
      };
    },
  };
}
