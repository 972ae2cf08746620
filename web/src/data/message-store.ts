/**
 * The window of each branch that somebody looks at, kept among the other answers under `keys.messageList`: what makes that
 * stale has it read anew. Changes are made one after the other, each on what stands by then, so that what the stream
 * tells while a page is read is not lost.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { Message } from 'nightshift/client';
import { client } from './client.ts';
import { keys } from './keys.ts';
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
} from './message-window.ts';
import type { MessageWindow } from './message-window.ts';
import { at } from './pages-of.ts';

const PAGE = 60;
/** So much of history is shown at first. */
const LEAST = 30;
/** As many as the API gives at once. */
const LONGEST_PAGE = 200;

type Asked = { order: 'asc' | 'desc'; from?: string; cursor?: string; limit: number };

export type MessageStore = {
  branch: string;
  /** Reads what is held anew, or, for the first time, what was said last. */
  read: (signal: AbortSignal) => Promise<MessageWindow>;
  /** Resolve once it is there; of two at once the second does nothing. */
  loadOlder: () => Promise<void>;
  loadNewer: () => Promise<void>;
  /** Does nothing where what was said last is held. */
  jumpToLatest: () => Promise<void>;
  /** Shows what lies around a message, wherever it is. */
  jumpTo: (messageId: string) => Promise<void>;
  /** Lets go of what is far from the reader. */
  trim: (from: 'start' | 'end') => void;
  place: (message: Message) => void;
  remove: (ids: readonly string[]) => void;
};

const stores = new WeakMap<QueryClient, Map<string, MessageStore>>();

/** All that are open of one context. */
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

/** A store goes with the answers that it keeps. */
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
  /** Counts the jumps: what was asked for before one is of no use after it. */
  let jumps = 0;

  const list = (query: Asked, signal?: AbortSignal) =>
    client.contexts.messages
      .list(contextId, { branch, ...query }, signal === undefined ? {} : { signal })
      .page();

  const change = (next: MessageWindow): void => {
    if (next === window) return;
    window = next;
    // Nothing is shown before all was read once.
    if (cache.getQueryData(key) !== undefined) cache.setQueryData<MessageWindow>(key, window);
  };
  const once = (load: () => Promise<void>): Promise<void> => {
    loading ??= load().finally(() => {
      loading = null;
    });
    return loading;
  };

  /** What was said last; inputs that are queued come before it, however many. */
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
    const told = window === before ? [] : window.messages;
    const fresh = { messages: historyOf(read), hasOlder, hasNewer: false };
    change(told.reduce(place, fresh));
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
    if (read.some(({ id }) => id === first.id)) change(renew(window, read, more && !isAllSaid(read)));
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
        if (jump === jumps)
          change(append(window, page.data, page.next_cursor !== null && !isAllSaid(page.data)));
      }),
    jumpToLatest: async () => {
      // As it stands here: what a page has drawn may be older.
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
      // What was asked for meanwhile is of what was left.
      jumps += 1;
      const around = {
        messages: historyOf(older.data),
        hasOlder: older.next_cursor !== null,
        hasNewer: true,
      };
      change(append(around, newer.data, newer.next_cursor !== null && !isAllSaid(newer.data)));
    },
    trim: (from) => change(from === 'start' ? trimStart(window, MOST_KEPT) : trimEnd(window, MOST_KEPT)),
    place: (message) => {
      if (message.branch === branch) change(place(window, message));
    },
    remove: (ids) => change(without(window, ids)),
  };
}

/** What is queued comes after all that was said. */
function isAllSaid(read: readonly Message[]): boolean {
  return read.some(({ seq }) => seq === null);
}
