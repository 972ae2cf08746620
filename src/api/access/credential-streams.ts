/**
 * Event streams end with the credential that opened them: a session, an API key or a token. What this process ends
 * itself ends its streams at once. Two queries a second, for all streams of one kind of credential, find what ended
 * elsewhere or expired.
 */
import { Poller } from '../../events/poller.ts';

/** In milliseconds. A stream may begin with a remembered credential that ended up to `FRESH_MS` before. */
export const ASK_MS = 450;

type CredentialStreams<Credential> = {
  /** Calls `end` once, when the credential has ended. Returns a function that the stream calls when it closes first. */
  add(credential: Credential, end: () => void): () => void;
  /** Ends the streams of a credential that this process ended. */
  end(id: string): void;
};

type Open<Credential> = { credential: Credential; ends: Set<() => void> };

/** `findLive` returns the ids of those that have not ended. */
export function openCredentialStreams<Credential>(
  idOf: (credential: Credential) => string,
  findLive: (credentials: readonly Credential[]) => Promise<ReadonlySet<string>>,
): CredentialStreams<Credential> {
  const open = new Map<string, Open<Credential>>();
  const poller = new Poller(ASK_MS, poll);

  /** If PostgreSQL does not answer, the streams stay open: they get no stored events then. */
  async function poll(): Promise<void> {
    const ids = [...open.keys()];
    const live = await findLive([...open.values()].map(({ credential }) => credential)).catch(() => null);
    if (live !== null) for (const id of ids) if (!live.has(id)) end(id);
  }

  function end(id: string): void {
    const { ends = [] } = open.get(id) ?? {};
    open.delete(id);
    for (const one of ends) one();
    poller.use(open.size > 0);
  }

  function remove(id: string, from: Open<Credential>, one: () => void): void {
    from.ends.delete(one);
    if (from.ends.size === 0 && open.get(id) === from) open.delete(id);
    poller.use(open.size > 0);
  }

  return {
    end,
    add(credential, endStream) {
      // A new function for each stream: two streams may pass the same `endStream`.
      const one = (): void => endStream();
      const id = idOf(credential);
      const known = open.get(id) ?? { credential, ends: new Set() };
      open.set(id, known);
      known.ends.add(one);
      poller.use(true);
      return () => remove(id, known, one);
    },
  };
}
