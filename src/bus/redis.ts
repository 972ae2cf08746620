/**
 * The bus on Redis. After a reconnect all is subscribed to again; what was said meanwhile is lost, as on any bus, and who
 * listens is told so. A connection can be open and dead for minutes: the bus speaks to itself, and where it does not hear
 * that, it connects anew.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Bus } from './bus.ts';
import { openClusterRedis, openSingleRedis } from './redis-connections.ts';
import type { RedisHandlers } from './redis-connections.ts';

/** How long a subscriber waits for Redis' word before it goes on without, in milliseconds. */
const ACKNOWLEDGED_MS = 500;

/** How often the bus speaks to itself, and for how long it may hear nothing at all, in milliseconds. */
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
      onError(new Error('The bus hears nothing: connecting anew.'));
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
      // Only publishers of this channel's own message write to it.
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
