/**
 * Reads what events of a context name: completed messages, and messages whose tool calls changed. While one read is under
 * way, further events are gathered for the next one, so that an answer with many calls costs no more requests than an
 * answer with a single call.
 */
import type { QueryClient } from '@tanstack/react-query';
import { refetch } from './refetch.ts';
import { keys } from '../query/keys.ts';
import { storesOf, type MessageStore } from './message-store.ts';

/** The calls of a message change together: time to wait for the last of them, in milliseconds. */
const CALLS_MS = 100;

type Arrived = { id: string; seq: number };

const arrivals = new WeakMap<QueryClient, Map<string, Arrivals>>();

export function arrivalsOf(cache: QueryClient, contextId: string): Arrivals {
  const known = arrivals.get(cache) ?? new Map<string, Arrivals>();
  arrivals.set(cache, known);
  const found = known.get(contextId) ?? new Arrivals(cache, contextId);
  known.set(contextId, found);
  return found;
}

class Arrivals {
  readonly #cache: QueryClient;
  readonly #contextId: string;
  #messages: Arrived[] = [];
  #calls = new Set<string>();
  #hasSpawned = false;
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #isDue = false;

  constructor(cache: QueryClient, contextId: string) {
    this.#cache = cache;
    this.#contextId = contextId;
  }

  /** Resolves when the open lists contain the message. */
  message(arrived: Arrived): Promise<void> {
    this.#messages.push(arrived);
    return this.#read();
  }

  /** `hasSpawned`: the call created a worker. */
  call(id: string, hasSpawned = false): void {
    this.#calls.add(id);
    this.#hasSpawned ||= hasSpawned;
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      void this.#read();
    }, CALLS_MS);
  }

  /** Joins the next read. It begins when the current one has ended. */
  #read(): Promise<void> {
    this.#next ??= this.#reading.then(() => {
      this.#next = null;
      this.#reading = this.#readGathered();
      return this.#reading;
    });
    return this.#next;
  }

  async #readGathered(): Promise<void> {
    const [messages, calls] = [this.#messages, this.#calls];
    [this.#messages, this.#calls] = [[], new Set()];
    if (this.#hasSpawned) void refetch(this.#cache, keys.children(this.#contextId));
    this.#hasSpawned = false;
    const stores = storesOf(this.#cache, this.#contextId);
    try {
      await Promise.all(stores.map((store) => readInto(store, messages, calls)));
    } catch {
      // A message was retracted, or the API cannot be reached: refetch the list.
      await this.#cache.invalidateQueries({ queryKey: keys.messages(this.#contextId) });
    }
    // Calls that are shown outside of their messages.
    const shown = new Set(stores.flatMap((store) => store.callIds()));
    for (const id of calls) if (!shown.has(id)) void refetch(this.#cache, keys.toolCall(this.#contextId, id));
  }
}

async function readInto(store: MessageStore, messages: readonly Arrived[], calls: ReadonlySet<string>): Promise<void> {
  const [first, ...others] = messages.toSorted((a, b) => a.seq - b.seq);
  const until = (others.at(-1) ?? first)?.seq ?? 0;
  await Promise.all([
    ...(first === undefined ? [] : [store.readFrom(first.id, until - first.seq + 1)]),
    ...store.requestersOf(calls).map((id) => store.readFrom(id, 1)),
  ]);
}
