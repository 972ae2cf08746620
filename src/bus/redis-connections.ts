/**
 * The Redis connections of a bus. On a single Redis: one that publishes and one that subscribes. On a cluster: sharded
 * channels, each on the node of its slot. Channel names include the prefix, messages are text.
 */
import { Cluster, Redis, type RedisOptions } from 'ioredis';

export type RedisConnections = {
  publish(name: string, text: string): Promise<unknown>;
  subscribe(names: readonly string[]): Promise<unknown>;
  unsubscribe(name: string): Promise<unknown>;
  /** Whether the subscribing connection is up, as far as the client knows. */
  isUp(): boolean;
  /** Replaces connections that are open but silent. */
  reconnect(): void;
  close(): void;
};

export type RedisHandlers = {
  /** Connected, for the first time or again: no channel is subscribed to. */
  up: () => void;
  /** The driver has restored all subscriptions by itself. */
  again: () => void;
  handle: (name: string, text: string) => void;
  fail: (error: Error) => void;
};

const retryStrategy = (attempt: number): number => Math.min(attempt * 50, 2_000);

/** How long a connection may take to close, in milliseconds. */
const disconnectTimeout = 500;

/** No command is kept for an unavailable Redis. Once it is back, all channels are subscribed to at once. */
const PUBLISHER = {
  retryStrategy,
  disconnectTimeout,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
} satisfies RedisOptions;
const SUBSCRIBER = {
  retryStrategy,
  disconnectTimeout,
  maxRetriesPerRequest: null,
  keepAlive: 10_000,
  enableOfflineQueue: false,
  autoResubscribe: false,
} satisfies RedisOptions;

export function openSingleRedis(url: string, handlers: RedisHandlers): RedisConnections {
  const publisher = new Redis(url, PUBLISHER);
  const subscriber = new Redis(url, SUBSCRIBER);
  for (const redis of [publisher, subscriber]) redis.on('error', handlers.fail);
  subscriber.on('ready', handlers.up);
  subscriber.on('message', handlers.handle);
  return {
    publish: (name, text) => publisher.publish(name, text),
    subscribe: (names) => Promise.all(chunks(names).map((some) => subscriber.subscribe(...some))),
    unsubscribe: (name) => subscriber.unsubscribe(name),
    isUp: () => subscriber.status === 'ready',
    reconnect() {
      for (const redis of [publisher, subscriber]) if (redis.status === 'ready') redis.disconnect(true);
    },
    close() {
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}

/** Channels in one command at most. */
const MANY = 1_000;

function chunks(names: readonly string[]): string[][] {
  const count = Math.ceil(names.length / MANY);
  return Array.from({ length: count }, (_, at) => names.slice(at * MANY, (at + 1) * MANY));
}

/** `url`: of any node. The driver moves subscriptions with their slots by itself. */
export function openClusterRedis(url: string, handlers: RedisHandlers): RedisConnections {
  const { retryStrategy: _, ...node } = PUBLISHER;
  const cluster = new Cluster([url], {
    shardedSubscribers: true,
    clusterRetryStrategy: retryStrategy,
    enableOfflineQueue: false,
    redisOptions: { ...node, ...credentialsOf(url), keepAlive: 10_000 },
  });
  cluster.on('error', handlers.fail);
  cluster.on('ready', handlers.up);
  cluster.on('subscribersReady', handlers.again);
  cluster.on('smessage', handlers.handle);
  return {
    publish: (name, text) => cluster.spublish(name, text),
    // Channels of one command would have to share a slot.
    subscribe: (names) => Promise.all(names.map((name) => cluster.ssubscribe(name))),
    unsubscribe: (name) => cluster.sunsubscribe(name),
    isUp: () => cluster.status === 'ready',
    reconnect: () => cluster.disconnect(true),
    close: () => cluster.disconnect(),
  };
}

/** A connection for counters: a command that takes longer than this fails, in milliseconds. */
const COUNTED_MS = 250;
/** A connection that does not answer for so long is replaced, in milliseconds. */
const SILENT_MS = 1_000;

/** `url`: of Redis, or of any node of a cluster. It connects at once. */
export function openCounters(url: string, cluster: boolean, fail: (error: Error) => void): Redis | Cluster {
  const { retryStrategy: retry, ...base } = PUBLISHER;
  const options = { ...base, commandTimeout: COUNTED_MS, socketTimeout: SILENT_MS, keepAlive: 10_000 };
  const counters = cluster
    ? new Cluster([url], {
        clusterRetryStrategy: retry,
        enableOfflineQueue: false,
        redisOptions: { ...options, ...credentialsOf(url) },
      })
    : new Redis(url, { ...options, retryStrategy: retry });
  counters.on('error', fail);
  return counters;
}

/** Options that are the same for every node of a cluster; only the address differs. */
function credentialsOf(url: string): Pick<RedisOptions, 'username' | 'password' | 'tls'> {
  const { username, password, protocol } = new URL(url);
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}
