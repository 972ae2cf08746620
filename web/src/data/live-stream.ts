/**
 * The stream of one context, shared by all that look at it: one connection however many components ask. It is opened with
 * the first and closed a moment after the last, and while the tab is hidden. What REST told before the stream stood is asked
 * for anew once it stands, so that nothing falls between the two. Where other tabs have all the streams that a browser should
 * hold, it is asked again and again instead.
 */
import type { QueryClient } from '@tanstack/react-query';
import { textMaker } from 'nightshift/client';
import type { PartialMessage, StreamEvent } from 'nightshift/client';
import { refetch } from './refetch.ts';
import { client } from './client.ts';
import { markLost } from './connection.ts';
import { keys } from './keys.ts';
import { takeEffect } from './live-effects.ts';
import { takeTurn, untilSeen, whileSeen } from './stream-turn.ts';

export type Live = {
  /** failed: coming again is of no use; `error` says why. */
  connection: 'connecting' | 'open' | 'lost' | 'failed';
  error: unknown;
  /** As told last, fleeting states too; null: nothing was told yet. */
  state: string | null;
  /** Texts in the making, in the order they began. */
  partial: readonly PartialMessage[];
};

export const NOT_LIVE: Live = { connection: 'connecting', error: null, state: null, partial: [] };

/** Pages are told so often at most, however fast deltas come. */
const FLUSH_MS = 40;
/** So often it is asked where there is no stream. */
const POLL_MS = 2_000;
/** A page that is left for another one with the same context keeps the stream. */
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
    // The message itself stands in the list then.
    if (event.event === 'MessageCompleted') settle([event.data.message_id], takeEffect(cache, event));
    // Texts that never became a message: their job was stopped. Those that did are waited for.
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

  /** False: coming again is of no use. */
  const follow = async (signal: AbortSignal): Promise<boolean> => {
    const maker = textMaker();
    const onConnection = (lost: { cause: unknown } | null): void => {
      if (lost !== null) markLost();
      else void refetch(cache, keys.context(contextId));
      change({ connection: lost === null ? 'open' : 'lost' });
    };
    try {
      for await (const event of client.contexts.events(contextId, { signal, onConnection }))
        take(event, maker(event));
      return true;
    } catch (error) {
      if (signal.aborted) return true;
      change({ connection: 'failed', error });
      return false;
    }
  };
  /** What is in the making is told from its beginning by the next stream. */
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

/** Resolves after `ms`, or as soon as the signal is raised. */
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
