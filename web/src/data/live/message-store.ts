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
  isCall,
  MOST_KEPT,
  place,
  prepend,
  renew,
  trimEnd,
  trimStart,
  type MessageWindow,
} from './message-window.ts';
import { at } from '../query/pages-of.ts';
import { keepCalls } from './tool-calls.ts';

const PAGE = 60;
/** Minimum number of history messages of the first read. */
const LEAST = 30;
/** Maximum page size of the API. */
const LONGEST_PAGE = 200;

/** Retracted messages stay visible. */
const INCLUDED: ('tool_calls' | 'retracted')[] = ['tool_calls', 'retracted'];

type Asked = { order: 'asc' | 'desc'; from?: string; cursor?: string; limit: number };

const stores = new WeakMap<QueryClient, Map<string, MessageStore>>();

/** All open stores of a context. */
export function storesOf(cache: QueryClient, contextId: string): MessageStore[] {
  const known = stores.get(cache) ?? new Map<string, MessageStore>();
  return [...known].filter(([name]) => name.startsWith(`${contextId} `)).map(([, store]) => store);
}

export function messageStore(cache: QueryClient, contextId: string, branch: string): MessageStore {
  const known = stores.get(cache) ?? forget(cache);
  const name = `${contextId} ${branch}`;
  const found = known.get(name) ?? new MessageStore(cache, contextId, branch);
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

export class MessageStore {
  readonly branch: string;
  readonly #contextId: string;
  readonly #cache: QueryClient;
  #window = EMPTY_WINDOW;
  #loading: Promise<void> | null = null;
  /** Counts jumps: an answer to a request made before the last jump is discarded. */
  #jumps = 0;

  constructor(cache: QueryClient, contextId: string, branch: string) {
    this.#cache = cache;
    this.#contextId = contextId;
    this.branch = branch;
  }

  /** Reads the window again, or the latest messages on the first read. */
  async read(signal: AbortSignal): Promise<MessageWindow> {
    const [first] = this.#window.messages;
    await (first === undefined ? this.#readLatest(signal) : this.#renew(first, signal));
    return this.#window;
  }

  /** Resolves when loaded. A call of this or of `loadNewer` joins a load that is under way. */
  loadOlder(): Promise<void> {
    return this.#once(async () => {
      const [first] = this.#window.messages;
      if (first === undefined || !this.#window.hasOlder) return;
      const jump = this.#jumps;
      const page = await this.#list({ order: 'desc', from: first.id, limit: PAGE + 1 });
      if (jump === this.#jumps) this.#change(prepend(this.#window, page.data, page.next_cursor !== null));
    });
  }

  loadNewer(): Promise<void> {
    return this.#once(async () => {
      const last = this.#window.messages.at(-1);
      if (last === undefined || !this.#window.hasNewer) return;
      const jump = this.#jumps;
      const page = await this.#list({ order: 'asc', from: last.id, limit: PAGE + 1 });
      if (jump === this.#jumps) this.#change(append(this.#window, page.data, hasMore(page)));
    });
  }

  /** Does nothing if the window already contains the latest messages. */
  async jumpToLatest(): Promise<void> {
    // Checks the current window, since the rendered one may be older.
    if (this.#window.messages.length > 0 && !this.#window.hasNewer) return;
    this.#jumps += 1;
    this.#window = EMPTY_WINDOW;
    await this.#readLatest();
  }

  /** Replaces the window by the messages around this one. */
  async jumpTo(messageId: string): Promise<void> {
    this.#jumps += 1;
    const jump = this.#jumps;
    const [older, newer] = await Promise.all([
      this.#list({ order: 'desc', from: messageId, limit: PAGE / 2 }),
      this.#list({ order: 'asc', from: messageId, limit: PAGE / 2 }),
    ]);
    if (jump !== this.#jumps) return;
    // Discards answers to requests that were made for the previous window during the jump.
    this.#jumps += 1;
    const around = { messages: historyOf(older.data), hasOlder: older.next_cursor !== null, hasNewer: true };
    this.#change(append(around, newer.data, hasMore(newer)));
  }

  /** Drops messages far from the reader. */
  trim(from: 'start' | 'end'): void {
    this.#change(from === 'start' ? trimStart(this.#window, MOST_KEPT) : trimEnd(this.#window, MOST_KEPT));
  }

  /** Reads these messages, as far as the window reaches. Rejects if there is no message `from`. */
  async readFrom(from: string, count: number): Promise<void> {
    const page = await this.#list({ order: 'asc', from, limit: Math.min(count, LONGEST_PAGE) });
    if (count > LONGEST_PAGE) throw new Error('More messages arrived than one page holds.');
    const placed = page.data.filter(({ branch }) => branch === this.branch);
    this.#change(placed.reduce(place, this.#window));
  }

  callIds(): string[] {
    return this.#window.messages.flatMap(({ content }) => content.filter(isCall).map(({ id }) => id));
  }

  /** Ids of the messages in the window that requested one of these calls. */
  requestersOf(callIds: ReadonlySet<string>): string[] {
    const { messages } = this.#window;
    return messages
      .filter(({ content }) => content.some((block) => isCall(block) && callIds.has(block.id)))
      .map(({ id }) => id);
  }

  async #list(query: Asked, signal?: AbortSignal) {
    const askedAt = Date.now();
    const asked = { branch: this.branch, include: INCLUDED, ...query };
    const options = signal === undefined ? {} : { signal };
    const page = await client.contexts.messages.list(this.#contextId, asked, options).page();
    keepCalls(this.#cache, page.data, askedAt);
    return page;
  }

  #change(next: MessageWindow): void {
    if (next === this.#window) return;
    this.#window = next;
    const key = keys.messageList(this.#contextId, this.branch);
    // The first read writes the cache itself; until then nothing is shown.
    if (this.#cache.getQueryData(key) !== undefined) this.#cache.setQueryData<MessageWindow>(key, next);
  }

  #once(load: () => Promise<void>): Promise<void> {
    this.#loading ??= load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** Reads the latest messages. In descending order all queued inputs come first and are skipped. */
  async #readLatest(signal?: AbortSignal): Promise<void> {
    const before = this.#window;
    const jump = this.#jumps;
    const read: Message[] = [];
    let hasOlder = true;
    for (let cursor: string | null | undefined; hasOlder && historyOf(read).length < LEAST;) {
      const page = await this.#list({ order: 'desc', limit: PAGE, ...at(cursor ?? undefined) }, signal);
      read.push(...page.data);
      cursor = page.next_cursor;
      hasOlder = cursor !== null;
    }
    if (jump !== this.#jumps) return;
    const addedMeanwhile = this.#window === before ? [] : this.#window.messages;
    const fresh = { messages: historyOf(read), hasOlder, hasNewer: false };
    this.#change(addedMeanwhile.reduce(place, fresh));
  }

  async #renew(first: Message, signal: AbortSignal): Promise<void> {
    const read: Message[] = [];
    const jump = this.#jumps;
    let more = true;
    for (let from: string | undefined = first.id; from !== undefined;) {
      const page = await this.#list({ order: 'asc', from, limit: LONGEST_PAGE }, signal);
      read.push(...page.data.slice(from === first.id ? 0 : 1));
      more = page.next_cursor !== null && page.data.some(({ seq }) => seq !== null);
      const last = historyOf(page.data).at(-1);
      const isEnough = read.length >= Math.max(this.#window.messages.length, LONGEST_PAGE);
      from = more && !isEnough && last !== undefined && last.id !== from ? last.id : undefined;
    }
    if (jump !== this.#jumps) return;
    if (read.some(({ id }) => id === first.id)) {
      this.#change(renew(this.#window, read, more && !hasQueuedInput(read)));
      return;
    }
    this.#window = EMPTY_WINDOW;
    await this.#readLatest(signal);
  }
}

function hasMore({ data, next_cursor }: { data: readonly Message[]; next_cursor: string | null }): boolean {
  return next_cursor !== null && !hasQueuedInput(data);
}

/** Queued inputs come after the history: a page that contains one reaches the end of the history. */
function hasQueuedInput(read: readonly Message[]): boolean {
  return read.some(({ seq }) => seq === null);
}
