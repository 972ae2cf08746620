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
import { pause } from './pause.ts';
import { keys } from '../query/keys.ts';
import { takeEffect } from './live-effects.ts';
import { takeTurn, untilSeen, whileSeen } from './stream-turn.ts';

export type Live = {
  /** failed: the stream does not reconnect; `error` holds the cause. */
  connection: 'connecting' | 'open' | 'lost' | 'failed';
  error: unknown;
  /** Latest state from the stream, including transient states; null before the first event. */
  state: string | null;
  /** Counts the numbered events. */
  changes: number;
  /** When the first token of the answer in progress arrived, in milliseconds since 1970; null: none did. */
  firstToken: { jobId: string; at: number } | null;
  /** Partial messages in the order in which they started. */
  partial: readonly PartialMessage[];
};

const NOT_LIVE: Live = {
  connection: 'connecting',
  error: null,
  state: null,
  changes: 0,
  firstToken: null,
  partial: [],
};

/** Minimum interval between renders while deltas arrive. */
const FLUSH_MS = 40;
/** Poll interval without a stream. */
const POLL_MS = 2_000;
/** Keeps the stream open during navigation to another page with the same context. */
const LINGER_MS = 2_000;

const stores = new Map<string, LiveStore>();

export function liveStore(cache: QueryClient, contextId: string): LiveStore {
  const store = stores.get(contextId) ?? new LiveStore(cache, contextId);
  stores.set(contextId, store);
  return store;
}

export class LiveStore {
  readonly #cache: QueryClient;
  readonly #contextId: string;
  readonly #listeners = new Set<() => void>();
  readonly #partial = new Map<string, PartialMessage>();
  readonly #settling = new Set<Promise<void>>();
  #live = NOT_LIVE;
  #running: AbortController | null = null;
  #lingering: ReturnType<typeof setTimeout> | undefined;
  #flushing: ReturnType<typeof setTimeout> | undefined;

  constructor(cache: QueryClient, contextId: string) {
    this.#cache = cache;
    this.#contextId = contextId;
  }

  readonly read = (): Live => this.#live;

  readonly listen = (listener: () => void): (() => void) => {
    clearTimeout(this.#lingering);
    this.#listeners.add(listener);
    stores.set(this.#contextId, this);
    if (this.#running === null) {
      this.#running = new AbortController();
      void this.#run(this.#running.signal);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#lingering = setTimeout(() => this.#stop(), LINGER_MS);
    };
  };

  #stop(): void {
    this.#running?.abort();
    this.#running = null;
    this.#partial.clear();
    this.#live = NOT_LIVE;
    stores.delete(this.#contextId);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await untilSeen(signal);
      const release = await takeTurn();
      if (release === null) {
        await pause(POLL_MS, signal);
        if (!signal.aborted) void refetch(this.#cache, keys.context(this.#contextId));
        continue;
      }
      const isOver = !(await whileSeen(signal, (seen) => this.#follow(seen)).finally(release));
      if (isOver) return;
      if (signal.aborted) continue;
      // The next stream sends partial messages again from their start.
      this.#partial.clear();
      this.#change({ connection: 'connecting', state: null, firstToken: null });
    }
  }

  /** Returns false if the stream must not be reopened. */
  async #follow(signal: AbortSignal): Promise<boolean> {
    const maker = textMaker();
    const onConnection = (lost: { cause: unknown } | null): void => {
      if (lost === null) void refetch(this.#cache, keys.context(this.#contextId));
      // One that the API closed itself was reached: it ends the stream of a context that is deleted.
      else if (lost.cause !== null) markLost();
      this.#change({ connection: lost === null ? 'open' : 'lost' });
    };
    try {
      for await (const event of client.contexts.events(this.#contextId, { signal, onConnection })) {
        this.#take(event, maker(event));
      }
      return true;
    } catch (error) {
      if (signal.aborted) return true;
      this.#change({ connection: 'failed', error });
      return false;
    }
  }

  #take(event: StreamEvent, made: PartialMessage | null): void {
    if (made !== null) {
      this.#partial.set(made.message_id, made);
      this.#flushSoon();
      return;
    }
    this.#count(event);
    if (event.event === 'StateChanged') this.#change({ state: event.data.new_state });
    const effect = takeEffect(this.#cache, event);
    // The list contains the message after this.
    if (event.event === 'MessageCompleted' || event.event === 'MessageIncomplete')
      this.#settle([event.data.message_id], effect);
    // Removes partial messages of which nothing was stored. Waits for the others.
    else if (event.event === 'JobFinished') {
      this.#settle([...this.#partial.keys()], Promise.all([effect, ...this.#settling]));
    }
  }

  #count(event: StreamEvent): void {
    const { firstToken, changes } = this.#live;
    this.#live = {
      ...this.#live,
      firstToken: firstTokenAfter(firstToken, event),
      changes: event.id === null ? changes : changes + 1,
    };
    this.#flushSoon();
  }

  #settle(ids: readonly string[], effect: Promise<unknown>): void {
    const settled = effect.then(() => {
      this.#settling.delete(settled);
      for (const id of ids) this.#partial.delete(id);
      this.#flushSoon();
    });
    this.#settling.add(settled);
  }

  #flushSoon(): void {
    this.#flushing ??= setTimeout(() => this.#notify(), FLUSH_MS);
  }

  #change(part: Partial<Live>): void {
    this.#live = { ...this.#live, ...part };
    clearTimeout(this.#flushing);
    this.#notify();
  }

  #notify(): void {
    this.#flushing = undefined;
    this.#live = { ...this.#live, partial: [...this.#partial.values()] };
    for (const listener of this.#listeners) listener();
  }
}

function firstTokenAfter(known: Live['firstToken'], { event, data, id }: StreamEvent): Live['firstToken'] {
  if (event === 'StateChanged') {
    const { first_token_at: at, job_id: jobId } = data;
    if (at !== undefined && jobId !== null) return { jobId, at: Date.parse(at) };
    return id === null ? known : null;
  }
  const isOver = event === 'JobFinished' || (event === 'MessageCompleted' && data.role === 'assistant');
  return isOver ? null : known;
}
