/**
 * Holds the message window of each open branch in the query cache under `keys.messageList`; invalidating that key reads
 * the window again. Each change applies to the current window, so that messages from the stream survive while a page is
 * being read.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { Message } from 'nightshift/client';
import { client } from '../client.ts';
import { keys } from '../query/keys.ts';
import {
  append,
  EMPTY_WINDOW,
  historyOf,
  MOST_KEPT,
  place,
  prepend,
  renew,
  trimEnd,
  trimStart,
  without,
  type MessageWindow,
} from './message-window.ts';
import { at } from '../query/pages-of.ts';

const PAGE = 60;
/** Minimum number of history messages of the first read. */
const LEAST = 30;
/** Maximum page size of the API. */
const LONGEST_PAGE = 200;

type Asked = { order: 'asc' | 'desc'; from?: string; cursor?: string; limit: number };

export type MessageStore = {
  branch: string;
  /** Reads the window again, or the latest messages on the first read. */
  read: (signal: AbortSignal) => Promise<MessageWindow>;
  /** Resolve when loaded. A concurrent second call joins the first one. */
  loadOlder: () => Promise<void>;
  loadNewer: () => Promise<void>;
  /** Does nothing if the window already contains the latest messages. */
  jumpToLatest: () => Promise<void>;
  /** Replaces the window by the messages around this one. */
  jumpTo: (messageId: string) => Promise<void>;
  /** Drops messages far from the reader. */
  trim: (from: 'start' | 'end') => void;
  place: (message: Message) => void;
  remove: (ids: readonly string[]) => void;
};

const stores = new WeakMap<QueryClient, Map<string, MessageStore>>();

/** All open stores of a context. */
export function storesOf(cache: QueryClient, contextId: string): MessageStore[] {
  const known = stores.get(cache) ?? new Map<string, MessageStore>();
  return [...known].filter(([name]) => name.startsWith(`${contextId} `)).map(([, store]) => store);
}

export function messageStore(cache: QueryClient, contextId: string, branch: string): MessageStore {
  const known = stores.get(cache) ?? forget(cache);
  const name = `${contextId} ${branch}`;
  const found = known.get(name) ?? openStore(cache, contextId, branch);
  known.set(name, found);
  return found;
}

/** Drops a store when its query is removed from the cache. */
function forget(cache: QueryClient): Map<string, MessageStore> {
  const known = new Map<string, MessageStore>();
  stores.set(cache, known);
  cache.getQueryCache().subscribe(({ type, query }) => {
    const [kind, id, of, filter] = query.queryKey;
    if (type !== 'removed' || kind !== 'context' || of !== 'messages') return;
    if (typeof filter === 'string') known.delete(`${String(id)} ${filter}`);
  });
  return known;
}

function openStore(cache: QueryClient, contextId: string, branch: string): MessageStore {
  const key = keys.messageList(contextId, branch);
  let window = EMPTY_WINDOW;
  let loading: Promise<void> | null = null;
  /** Counts jumps: an answer to a request made before the last jump is discarded. */
  let jumps = 0;

  const list = (query: Asked, signal?: AbortSignal) =>
    client.contexts.messages.list(contextId, { branch, ...query }, signal === undefined ? {} : { signal }).page();

  const change = (next: MessageWindow): void => {
    if (next === window) return;
    window = next;
    // The first read writes the cache itself; until then nothing is shown.
    if (cache.getQueryData(key) !== undefined) cache.setQueryData<MessageWindow>(key, window);
  };
  const once = (load: () => Promise<void>): Promise<void> => {
    loading ??= load().finally(() => {
      loading = null;
    });
    return loading;
  };

  /** Reads the latest messages. In descending order all queued inputs come first and are skipped. */
  const readLatest = async (signal?: AbortSignal): Promise<void> => {
    const before = window;
    const jump = jumps;
    const read: Message[] = [];
    let hasOlder = true;
    for (let cursor: string | null | undefined; hasOlder && historyOf(read).length < LEAST;) {
      const page = await list({ order: 'desc', limit: PAGE, ...at(cursor ?? undefined) }, signal);
      read.push(...page.data);
      cursor = page.next_cursor;
      hasOlder = cursor !== null;
    }
    if (jump !== jumps) return;
    const addedMeanwhile = window === before ? [] : window.messages;
    const fresh = { messages: historyOf(read), hasOlder, hasNewer: false };
    change(addedMeanwhile.reduce(place, fresh));
  };

  const renewAll = async (first: Message, signal: AbortSignal): Promise<void> => {
    const read: Message[] = [];
    const jump = jumps;
    let more = true;
    for (let from: string | undefined = first.id; from !== undefined;) {
      const page = await list({ order: 'asc', from, limit: LONGEST_PAGE }, signal);
      read.push(...page.data.slice(from === first.id ? 0 : 1));
      more = page.next_cursor !== null && page.data.some(({ seq }) => seq !== null);
      const last = historyOf(page.data).at(-1);
      const isEnough = read.length >= Math.max(window.messages.length, LONGEST_PAGE);
      from = more && !isEnough && last !== undefined && last.id !== from ? last.id : undefined;
    }
    if (jump !== jumps) return;
    if (read.some(({ id }) => id === first.id)) change(renew(window, read, more && !hasQueuedInput(read)));
    else {
      window = EMPTY_WINDOW;
      await readLatest(signal);
    }
  };

  return {
    branch,
    async read(signal) {
      const [first] = window.messages;
      await (first === undefined ? readLatest(signal) : renewAll(first, signal));
      return window;
    },
    loadOlder: () =>
      once(async () => {
        const [first] = window.messages;
        if (first === undefined || !window.hasOlder) return;
        const jump = jumps;
        const page = await list({ order: 'desc', from: first.id, limit: PAGE + 1 });
        if (jump === jumps) change(prepend(window, page.data, page.next_cursor !== null));
      }),
    loadNewer: () =>
      once(async () => {
        const last = window.messages.at(-1);
        if (last === undefined || !window.hasNewer) return;
        const jump = jumps;
        const page = await list({ order: 'asc', from: last.id, limit: PAGE + 1 });
        if (jump === jumps) change(append(window, page.data, page.next_cursor !== null && !hasQueuedInput(page.data)));
      }),
    jumpToLatest: async () => {
      // Checks the current window, since the rendered one may be older.
      if (window.messages.length > 0 && !window.hasNewer) return;
      jumps += 1;
      window = EMPTY_WINDOW;
      await readLatest();
    },
    jumpTo: async (messageId) => {
      jumps += 1;
      const jump = jumps;
      const [older, newer] = await Promise.all([
        list({ order: 'desc', from: messageId, limit: PAGE / 2 }),
        list({ order: 'asc', from: messageId, limit: PAGE / 2 }),
      ]);
      if (jump !== jumps) return;
      // Discards answers to requests that were made for the previous window during the jump.
      jumps += 1;
      const around = {
        messages: historyOf(older.data),
        hasOlder: older.next_cursor !== null,
        hasNewer: true,
      };
      change(append(around, newer.data, newer.next_cursor !== null && !hasQueuedInput(newer.data)));
    },
    trim: (from) => change(from === 'start' ? trimStart(window, MOST_KEPT) : trimEnd(window, MOST_KEPT)),
    place: (message) => {
      if (message.branch === branch) change(place(window, message));
    },
    remove: (ids) => change(without(window, ids)),
  };
}

/** Queued inputs come after the history: a page that contains one reaches the end of the history. */
function hasQueuedInput(read: readonly Message[]): boolean {
  return read.some(({ seq }) => seq === null);
}
