/**
 * The bus on Redis. After a reconnect it subscribes to all channels again. Messages of the meantime are lost, and
 * subscribers are notified of that. A connection can be open and dead for minutes. So the bus sends messages to itself,
 * and reconnects if they do not arrive.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Bus } from './bus.ts';
import { openClusterRedis, openSingleRedis } from './redis-connections.ts';
import type { RedisHandlers } from './redis-connections.ts';

/** How long `subscribe` waits for the acknowledgement of Redis, in milliseconds. After that it resolves without it. */
const ACKNOWLEDGED_MS = 500;

/**
 * How often the bus sends a message to itself, and after how long without any message it reconnects, in milliseconds.
 */
const PING_MS = 1_500;
const DEAF_MS = 5_000;

type Handler = (message: object) => void;
type Topic = { handlers: Set<Handler>; acknowledged: Promise<unknown> };

/** `cluster`: whether `url` names a node of a Redis Cluster. */
export function redisBus(url: string, prefix: string, onError: (error: Error) => void, cluster = false): Bus {
  const topics = new Map<string, Topic>();
  const lost = new Set<() => void>();
  let lastMessageAt = performance.now();
  const notifyLost = (): void => {
    for (const notify of lost) notify();
  };
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
      const message: unknown = JSON.parse(text);
      if (typeof message !== 'object' || message === null) return;
      for (const handle of topics.get(name)?.handlers ?? []) handle(message);
    },
  };
  const connections = cluster ? openClusterRedis(url, handlers) : openSingleRedis(url, handlers);
  const topic = (name: string): Topic => {
    const known = topics.get(name);
    if (known !== undefined) return known;
    const acknowledged = connections.subscribe([name]).catch(() => undefined);
    const opened: Topic = { handlers: new Set(), acknowledged };
    topics.set(name, opened);
    return opened;
  };
  const publish = (name: string, message: object): void => {
    connections.publish(name, JSON.stringify(message)).catch(() => undefined);
  };
  const self = `${prefix}:self:${randomUUID()}`;
  topic(self);
  const pinging = setInterval(() => {
    if (connections.isUp() && performance.now() - lastMessageAt > DEAF_MS) {
      lastMessageAt = performance.now();
      onError(new Error(`The Redis bus received no message for ${DEAF_MS} ms. It reconnects.`));
      connections.reconnect();
    }
    publish(self, {});
  }, PING_MS);
  pinging.unref();
  return {
    publish: (channel, message) => publish(`${prefix}:${channel.name}`, message),
    async subscribe(channel, handle) {
      const name = `${prefix}:${channel.name}`;
      const { handlers, acknowledged } = topic(name);
      // Only messages of the channel's own type are published on it.
      const handler: Handler = (message) => handle(message as Parameters<typeof handle>[0]);
      handlers.add(handler);
      await Promise.race([acknowledged, setTimeout(ACKNOWLEDGED_MS, undefined, { ref: false })]);
      return () => {
        handlers.delete(handler);
        if (handlers.size > 0 || topics.get(name)?.handlers !== handlers) return;
        topics.delete(name);
        connections.unsubscribe(name).catch(() => undefined);
      };
    },
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
  };
}
