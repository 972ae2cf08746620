/**
 * The connections that a bus runs on, for the process: on a single Redis one that publishes and one that subscribes, on a
 * cluster sharded channels, each on the node of its slot. Names are whole, messages text.
 */
import { Cluster, Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';

export type RedisConnections = {
  publish(name: string, text: string): Promise<unknown>;
  subscribe(names: readonly string[]): Promise<unknown>;
  unsubscribe(name: string): Promise<unknown>;
  /** Whether there is a connection to hear on, as far as this side knows. */
  isUp(): boolean;
  /** Gives up connections that are open and say nothing. */
  reconnect(): void;
  close(): void;
};

export type RedisHandlers = {
  /** Connected, for the first time or again: nothing is subscribed to. */
  up: () => void;
  /** What was subscribed to is so again, by itself. */
  again: () => void;
  handle: (name: string, text: string) => void;
  fail: (error: Error) => void;
};

const retryStrategy = (attempt: number): number => Math.min(attempt * 50, 2_000);

/** How long a connection that is given up may take to say goodbye, in milliseconds. */
const disconnectTimeout = 500;

/** Nothing is kept for a Redis that is away: once it is back, all channels are subscribed to in one go. */
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

/** Channels named in one command. */
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
    // Channels of one statement would have to share a slot.
    subscribe: (names) => Promise.all(names.map((name) => cluster.ssubscribe(name))),
    unsubscribe: (name) => cluster.sunsubscribe(name),
    isUp: () => cluster.status === 'ready',
    reconnect: () => cluster.disconnect(true),
    close: () => cluster.disconnect(),
  };
}

/** What holds for every node of a cluster: only the address differs. */
export function credentialsOf(url: string): Pick<RedisOptions, 'username' | 'password' | 'tls'> {
  const { username, password, protocol } = new URL(url);
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}
