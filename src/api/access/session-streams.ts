/**
 * Event streams of signed-in browsers. A stream ends when its session ends. If this process signs the session out, it
 * ends the streams at once. It finds sessions that other processes signed out with one query a second for all streams.
 */
import type { Database } from '../../db/connection/client.ts';
import { findLiveSessions } from '../../db/write/sessions.ts';

const ASK_MS = 1_000;

export type SessionStreams = {
  /** Calls `end` once, when the session has ended. Returns a function that the stream calls when it closes first. */
  add(tokenHash: string, end: () => void): () => void;
  /** Ends the streams of a session that this process signed out. */
  end(tokenHash: string): void;
};

export function sessionStreamsOf({ db }: Pick<Database, 'db'>): SessionStreams {
  return openSessionStreams((hashes) => findLiveSessions(db, hashes));
}

/** `findLive` returns those of the given sessions that have not ended. */
export function openSessionStreams(
  findLive: (tokenHashes: readonly string[]) => Promise<ReadonlySet<string>>,
): SessionStreams {
  const open = new Map<string, Set<() => void>>();
  let timer: NodeJS.Timeout | null = null;
  let asking = false;

  const schedule = (): void => {
    if (open.size > 0 && !asking) timer ??= setTimeout(() => void ask(), ASK_MS);
  };

  /** If PostgreSQL does not answer, the streams stay open: they get no stored events then. */
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
      // A new function for each stream: two streams may pass the same `endStream`.
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
