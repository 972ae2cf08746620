/**
 * Event streams of signed-in browsers. A stream ends when its session ends. If this process signs the session out, it
 * ends the streams at once. It finds sessions that other processes signed out with one query a second for all streams.
 */
import { Poller } from '../../events/poller.ts';

const ASK_MS = 1_000;

type SessionStreams = {
  /** Calls `end` once, when the session has ended. Returns a function that the stream calls when it closes first. */
  add(tokenHash: string, end: () => void): () => void;
  /** Ends the streams of a session that this process signed out. */
  end(tokenHash: string): void;
};

/** `findLive` returns those of the given sessions that have not ended. */
export function openSessionStreams(
  findLive: (tokenHashes: readonly string[]) => Promise<ReadonlySet<string>>,
): SessionStreams {
  const open = new Map<string, Set<() => void>>();
  const poller = new Poller(ASK_MS, poll);

  /** If PostgreSQL does not answer, the streams stay open: they get no stored events then. */
  async function poll(): Promise<void> {
    const tokenHashes = [...open.keys()];
    const live = await findLive(tokenHashes).catch(() => null);
    if (live !== null) for (const tokenHash of tokenHashes) if (!live.has(tokenHash)) end(tokenHash);
  }

  function end(tokenHash: string): void {
    const ends = open.get(tokenHash) ?? [];
    open.delete(tokenHash);
    for (const one of ends) one();
    poller.use(open.size > 0);
  }

  function remove(tokenHash: string, ends: Set<() => void>, one: () => void): void {
    ends.delete(one);
    if (ends.size === 0 && open.get(tokenHash) === ends) open.delete(tokenHash);
    poller.use(open.size > 0);
  }

  return {
    end,
    add(tokenHash, endStream) {
      // A new function for each stream: two streams may pass the same `endStream`.
      const one = (): void => endStream();
      const ends = open.get(tokenHash) ?? new Set();
      open.set(tokenHash, ends.add(one));
      poller.use(true);
      return () => remove(tokenHash, ends, one);
    },
  };
}
