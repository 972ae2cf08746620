/**
 * The event stream of one context, one connection shared by all components. It opens with the first subscriber. It
 * closes `LINGER_MS` after the last one has gone, and while the tab is hidden. Queries are refetched when the stream
 * opens, so that changes between the first fetch and the opening are not missed. If other tabs use all streams that a
 * browser should open, the queries are polled instead.
 */
import type { QueryClient } from '@tanstack/react-query';
import { textMaker, type PartialMessage, type StreamEvent } from 'nightshift/client';
import { refetch } from './refetch.ts';
import { client } from '../client.ts';
import { markLost } from './connection.ts';
import { keys } from '../query/keys.ts';
import { takeEffect } from './live-effects.ts';
import { takeTurn, untilSeen, whileSeen } from './stream-turn.ts';

export type Live = {
  /** failed: the stream does not reconnect; `error` holds the cause. */
  connection: 'connecting' | 'open' | 'lost' | 'failed';
  error: unknown;
  /** Latest state from the stream, including transient states; null before the first event. */
  state: string | null;
  /** Partial messages in the order in which they started. */
  partial: readonly PartialMessage[];
};

export const NOT_LIVE: Live = { connection: 'connecting', error: null, state: null, partial: [] };

/** Minimum interval between renders while deltas arrive. */
const FLUSH_MS = 40;
/** Poll interval without a stream. */
const POLL_MS = 2_000;
/** Keeps the stream open during navigation to another page with the same context. */
const LINGER_MS = 2_000;

export type LiveStore = {
  read: () => Live;
  listen: (listener: () => void) => () => void;
};

const stores = new Map<string, LiveStore>();

export function liveStore(cache: QueryClient, contextId: string): LiveStore {
  const known = stores.get(contextId);
  if (known !== undefined) return known;
  const store = openStore(cache, contextId);
  stores.set(contextId, store);
  return store;
}

function openStore(cache: QueryClient, contextId: string): LiveStore {
  const listeners = new Set<() => void>();
  const partial = new Map<string, PartialMessage>();
  const settling = new Set<Promise<void>>();
  let live = NOT_LIVE;
  let running: AbortController | null = null;
  let lingering: ReturnType<typeof setTimeout> | undefined;
  let flushing: ReturnType<typeof setTimeout> | undefined;

  const notify = (): void => {
    flushing = undefined;
    live = { ...live, partial: [...partial.values()] };
    for (const listener of listeners) listener();
  };
  const change = (part: Partial<Live>): void => {
    live = { ...live, ...part };
    clearTimeout(flushing);
    notify();
  };
  const flushSoon = (): void => {
    flushing ??= setTimeout(notify, FLUSH_MS);
  };

  const take = (event: StreamEvent, made: PartialMessage | null): void => {
    if (made !== null) {
      partial.set(made.message_id, made);
      flushSoon();
      return;
    }
    if (event.event === 'StateChanged') change({ state: event.data.new_state });
    // The list contains the completed message after this.
    if (event.event === 'MessageCompleted') settle([event.data.message_id], takeEffect(cache, event));
    // Removes partial messages of a stopped job, which never complete. Waits for those that did complete.
    else if (event.event === 'JobFinished')
      settle([...partial.keys()], Promise.all([takeEffect(cache, event), ...settling]));
    else void takeEffect(cache, event);
  };
  const settle = (ids: readonly string[], effect: Promise<unknown>): void => {
    const settled = effect.then(() => {
      settling.delete(settled);
      for (const id of ids) partial.delete(id);
      flushSoon();
    });
    settling.add(settled);
  };

  /** Returns false if the stream must not be reopened. */
  const follow = async (signal: AbortSignal): Promise<boolean> => {
    const maker = textMaker();
    const onConnection = (lost: { cause: unknown } | null): void => {
      if (lost !== null) markLost();
      else void refetch(cache, keys.context(contextId));
      change({ connection: lost === null ? 'open' : 'lost' });
    };
    try {
      for await (const event of client.contexts.events(contextId, { signal, onConnection })) take(event, maker(event));
      return true;
    } catch (error) {
      if (signal.aborted) return true;
      change({ connection: 'failed', error });
      return false;
    }
  };
  /** The next stream sends partial messages again from their start. */
  const rest = (): void => {
    partial.clear();
    change({ connection: 'connecting', state: null });
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await untilSeen(signal);
      const release = await takeTurn();
      if (release === null) {
        await pause(POLL_MS, signal);
        if (!signal.aborted) void refetch(cache, keys.context(contextId));
        continue;
      }
      const isOver = !(await whileSeen(signal, follow).finally(release));
      if (isOver) return;
      if (!signal.aborted) rest();
    }
  };

  const stop = (): void => {
    running?.abort();
    running = null;
    partial.clear();
    live = NOT_LIVE;
    stores.delete(contextId);
  };

  const store: LiveStore = {
    read: () => live,
    listen: (listener) => {
      clearTimeout(lingering);
      listeners.add(listener);
      stores.set(contextId, store);
      if (running === null) {
        running = new AbortController();
        void run(running.signal);
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) lingering = setTimeout(stop, LINGER_MS);
      };
    },
  };
  return store;
}

/** Resolves after `ms`, or when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
