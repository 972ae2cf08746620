/**
 * The bus on Redis. After a reconnect it subscribes to all channels again. Messages of the meantime are lost, and
 * subscribers are notified of that. A connection can be open and dead for minutes. So the bus sends messages to itself,
 * and reconnects if they do not arrive.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Bus } from './bus.ts';
import { withChanges } from './change-publisher.ts';
import { openClusterRedis, openSingleRedis, type RedisConnections, type RedisHandlers } from './redis-connections.ts';

/** How long `subscribe` waits for the acknowledgement of Redis, in milliseconds. After that it resolves without it. */
const ACKNOWLEDGED_MS = 500;

/**
 * How often the bus sends a message to itself, and after how long without any message it reconnects, in milliseconds.
 */
const PING_MS = 1_500;
const DEAF_MS = 5_000;

type Handler = (message: object) => void;
type Topic = { handlers: Set<Handler>; acknowledged: Promise<unknown> };
/** The channels that are subscribed to, by name. */
type Topics = Map<string, Topic>;

/** `cluster`: whether `url` names a node of a Redis Cluster. */
export function redisBus(url: string, prefix: string, onError: (error: Error) => void, cluster = false): Bus {
  const topics: Topics = new Map();
  const lost = new Set<() => void>();
  let lastMessageAt = performance.now();
  const notifyLost = (): void => lost.forEach((notify) => notify());
  const handlers: RedisHandlers = {
    fail: onError,
    again: notifyLost,
    up() {
      lastMessageAt = performance.now();
      if (topics.size === 0) return;
      connections.subscribe([...topics.keys()]).then(notifyLost, () => undefined);
    },
    handle(name, text) {
      lastMessageAt = performance.now();
      deliver(topics, name, text);
    },
  };
  const connections = cluster ? openClusterRedis(url, handlers) : openSingleRedis(url, handlers);
  const publish = (name: string, message: object): void =>
    void connections.publish(name, JSON.stringify(message)).catch(() => undefined);
  const self = `${prefix}:self:${randomUUID()}`;
  openTopic(topics, connections, self);
  const pinging = setInterval(() => {
    if (connections.isUp() && performance.now() - lastMessageAt > DEAF_MS) {
      lastMessageAt = performance.now();
      onError(new Error(`The Redis bus received no message for ${DEAF_MS} ms. It reconnects.`));
      connections.reconnect();
    }
    publish(self, {});
  }, PING_MS);
  pinging.unref();
  return withChanges({
    publish: (channel, message) => publish(`${prefix}:${channel.name}`, message),
    subscribe: (channel, handle) =>
      // Only messages of the channel's own type are published on it.
      subscribe(topics, connections, `${prefix}:${channel.name}`, (message) =>
        handle(message as Parameters<typeof handle>[0]),
      ),
    onLost(handle) {
      lost.add(handle);
      return () => lost.delete(handle);
    },
    async close() {
      clearInterval(pinging);
      topics.clear();
      lost.clear();
      connections.close();
    },
  });
}

function deliver(topics: Topics, name: string, text: string): void {
  const message: unknown = JSON.parse(text);
  if (typeof message !== 'object' || message === null) return;
  for (const handle of topics.get(name)?.handlers ?? []) handle(message);
}

function openTopic(topics: Topics, connections: RedisConnections, name: string): Topic {
  const known = topics.get(name);
  if (known !== undefined) return known;
  const acknowledged = connections.subscribe([name]).catch(() => undefined);
  const opened: Topic = { handlers: new Set(), acknowledged };
  topics.set(name, opened);
  return opened;
}

/** Resolves with a function that ends the subscription. */
async function subscribe(
  topics: Topics,
  connections: RedisConnections,
  name: string,
  handler: Handler,
): Promise<() => void> {
  const { handlers, acknowledged } = openTopic(topics, connections, name);
  handlers.add(handler);
  await Promise.race([acknowledged, setTimeout(ACKNOWLEDGED_MS, undefined, { ref: false })]);
  return () => {
    handlers.delete(handler);
    if (handlers.size > 0 || topics.get(name)?.handlers !== handlers) return;
    topics.delete(name);
    connections.unsubscribe(name).catch(() => undefined);
  };
}
