/**
 * Keeps lists up to date from the stream of the tenant. One tab of the browser holds the stream and tells the others: over
 * HTTP/1.1 a browser opens six connections to a server for all tabs together. While changes arrive, lists are read again
 * when something changed; without them they are polled.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { Change } from 'nightshift/client';
import { client } from '../client.ts';
import { staleAfter } from '../query/keys.ts';
import { pause } from './pause.ts';
import { untilSeen, whileSeen } from './stream-turn.ts';

/** What the tab with the stream tells all tabs. `asked`: a new tab wants to know whether there is a stream. */
type Told = { kind: 'open' } | { kind: 'lost' } | { kind: 'asked' } | { kind: 'changed'; change: Change };

/** The shortest time between two refreshes, in milliseconds. */
const REFRESH_MS = 1_000;
/** After the API refused the stream, or the browser the lock. */
const AGAIN_MS = 30_000;
/** While changes arrive: for what no change tells, and for what was lost. */
const RARELY_MS = 60_000;

let isLive = false;

/** For `refetchInterval`, of what changes tell. */
export function everyMs(ms: number): number {
  return isLive ? RARELY_MS : ms;
}

/**
 * Follows the tenant until the returned function is called. `whose`: names tenant and user of the session, since tabs may
 * have different ones.
 */
export function followChanges(cache: QueryClient, whose: string): () => void {
  const over = new AbortController();
  const refresh = openRefresh(cache);
  const name = `nightshift-changes ${whose}`;
  const channel = new BroadcastChannel(name);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origin
  const post = (told: Told): void => channel.postMessage(told);
  let isLeader = false;
  const take = (told: Told): void => {
    switch (told.kind) {
      case 'open':
      case 'lost':
        isLive = told.kind === 'open';
        return refresh('all');
      case 'changed':
        return refresh(told.change.resource);
      case 'asked':
        if (isLeader && isLive) post({ kind: 'open' });
    }
  };
  const tell = (told: Told): void => {
    take(told);
    post(told);
  };
  // Only this module sends on the channel.
  channel.addEventListener('message', ({ data }) => take(data as Told));
  post({ kind: 'asked' });
  const follow = async (signal: AbortSignal): Promise<void> => {
    isLeader = true;
    try {
      const onConnection = (lost: object | null): void => tell({ kind: lost === null ? 'open' : 'lost' });
      for await (const change of client.changes({ signal, onConnection })) tell({ kind: 'changed', change });
    } catch {
      tell({ kind: 'lost' });
      await pause(AGAIN_MS, signal);
    } finally {
      isLeader = false;
    }
  };
  void lead(name, over.signal, follow);
  return () => {
    over.abort();
    channel.close();
    isLive = false;
  };
}

/** Calls `follow` while this tab is visible and no other one does. */
async function lead(name: string, signal: AbortSignal, follow: (signal: AbortSignal) => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await untilSeen(signal);
    const followWhileSeen = async (): Promise<void> => {
      if (document.visibilityState === 'visible' && !signal.aborted) await whileSeen(signal, follow);
    };
    // The Web Locks API needs a secure context. Without it every visible tab has a stream.
    if (!('locks' in navigator)) await followWhileSeen();
    else await navigator.locks.request(name, { signal }, followWhileSeen).catch(() => pause(AGAIN_MS, signal));
  }
}

/**
 * Reads lists again, at once and then at most once in `REFRESH_MS`, and not before they have been read: the next round
 * would cancel a slow read, and the one after that again. A hidden tab reads them when it is shown.
 */
function openRefresh(cache: QueryClient): (resource: Change['resource']) => void {
  const due = new Set<Change['resource']>();
  let isReading = false;
  const send = (): void => {
    isReading = false;
    if (due.size === 0) return;
    const refetchType = document.visibilityState === 'visible' ? 'active' : 'none';
    const stale = staleAfter([...due]);
    due.clear();
    isReading = true;
    const read = Promise.all(stale.map((queryKey) => cache.invalidateQueries({ queryKey, refetchType })));
    setTimeout(() => void read.finally(send), REFRESH_MS);
  };
  return (resource) => {
    due.add(resource);
    if (!isReading) send();
  };
}
