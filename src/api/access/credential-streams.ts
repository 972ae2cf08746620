/**
 * Event streams end with the credential that opened them: a session or an API key. What this process ends itself ends
 * its streams at once. Two queries a second, for all streams of one kind of credential, find what ended elsewhere or
 * expired.
 */
import { Poller } from '../../events/poller.ts';

/** In milliseconds. A stream may begin with a remembered credential that ended up to `FRESH_MS` before. */
export const ASK_MS = 450;

type CredentialStreams = {
  /** Calls `end` once, when the credential has ended. Returns a function that the stream calls when it closes first. */
  add(id: string, end: () => void): () => void;
  /** Ends the streams of a credential that this process ended. */
  end(id: string): void;
};

/** `findLive` returns those of the given credentials that have not ended. */
export function openCredentialStreams(
  findLive: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
): CredentialStreams {
  const open = new Map<string, Set<() => void>>();
  const poller = new Poller(ASK_MS, poll);

  /** If PostgreSQL does not answer, the streams stay open: they get no stored events then. */
  async function poll(): Promise<void> {
    const ids = [...open.keys()];
    const live = await findLive(ids).catch(() => null);
    if (live !== null) for (const id of ids) if (!live.has(id)) end(id);
  }

  function end(id: string): void {
    const ends = open.get(id) ?? [];
    open.delete(id);
    for (const one of ends) one();
    poller.use(open.size > 0);
  }

  function remove(id: string, ends: Set<() => void>, one: () => void): void {
    ends.delete(one);
    if (ends.size === 0 && open.get(id) === ends) open.delete(id);
    poller.use(open.size > 0);
  }

  return {
    end,
    add(id, endStream) {
      // A new function for each stream: two streams may pass the same `endStream`.
      const one = (): void => endStream();
      const ends = open.get(id) ?? new Set();
      open.set(id, ends.add(one));
      poller.use(true);
      return () => remove(id, ends, one);
    },
  };
}
