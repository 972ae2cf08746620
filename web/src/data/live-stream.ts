/**
 * The stream of one context, shared by all that look at it: one connection however many components ask. It is opened with
 * the first and closed a moment after the last. What REST told before the stream stood is asked for anew once it stands, so
 * that nothing falls between the two.
 */
import type { QueryClient } from '@tanstack/react-query';
import { textMaker } from 'nightshift/client';
import type { Making, StreamEvent } from 'nightshift/client';
import { askAnew } from './ask-anew.ts';
import { client } from './client.ts';
import { sayLost } from './connection.ts';
import { keys } from './keys.ts';
import { takeEffect } from './live-effects.ts';

export type Live = {
  /** failed: coming again is of no use; `error` says why. */
  connection: 'connecting' | 'open' | 'lost' | 'failed';
  error: unknown;
  /** As told last, fleeting states too; null: nothing was told yet. */
  state: string | null;
  /** Texts in the making, in the order they began. */
  making: readonly Making[];
};

export const NOT_LIVE: Live = { connection: 'connecting', error: null, state: null, making: [] };

/** Pages are told so often at most, however fast deltas come. */
const TELL_MS = 40;
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
  const making = new Map<string, Making>();
  const settling = new Set<Promise<void>>();
  let live = NOT_LIVE;
  let running: AbortController | null = null;
  let lingering: ReturnType<typeof setTimeout> | undefined;
  let telling: ReturnType<typeof setTimeout> | undefined;

  const tell = (): void => {
    telling = undefined;
    live = { ...live, making: [...making.values()] };
    for (const listener of listeners) listener();
  };
  const change = (part: Partial<Live>): void => {
    live = { ...live, ...part };
    clearTimeout(telling);
    tell();
  };
  const tellSoon = (): void => {
    telling ??= setTimeout(tell, TELL_MS);
  };

  const take = (event: StreamEvent, made: Making | null): void => {
    if (made !== null) {
      making.set(made.message_id, made);
      tellSoon();
      return;
    }
    if (event.event === 'StateChanged') change({ state: event.data.new_state });
    // The message itself stands in the list then.
    if (event.event === 'MessageCompleted') settle([event.data.message_id], takeEffect(cache, event));
    // Texts that never became a message: their job was stopped. Those that did are waited for.
    else if (event.event === 'JobFinished')
      settle([...making.keys()], Promise.all([takeEffect(cache, event), ...settling]));
    else void takeEffect(cache, event);
  };
  const settle = (ids: readonly string[], effect: Promise<unknown>): void => {
    const settled = effect.then(() => {
      settling.delete(settled);
      for (const id of ids) making.delete(id);
      tellSoon();
    });
    settling.add(settled);
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const maker = textMaker();
    const onConnection = (lost: { cause: unknown } | null): void => {
      if (lost !== null) sayLost();
      else void askAnew(cache, keys.context(contextId));
      change({ connection: lost === null ? 'open' : 'lost' });
    };
    try {
      for await (const event of client.contexts.events(contextId, { signal, onConnection }))
        take(event, maker(event));
    } catch (error) {
      if (!signal.aborted) change({ connection: 'failed', error });
    }
  };

  const stop = (): void => {
    running?.abort();
    running = null;
    making.clear();
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
