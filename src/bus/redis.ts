/**
 * The bus on Redis: one connection that publishes, one that subscribes for the whole process. After a reconnect all is
 * subscribed to again; what was said meanwhile is lost, as on any bus.
 */
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Bus } from './bus.ts';

const reconnect = (attempt: number): number => Math.min(attempt * 50, 2_000);

/** How long a subscriber waits for Redis' word before it goes on without, in milliseconds. */
const ACKNOWLEDGED_MS = 500;

type Hear = (message: object) => void;
type Topic = { hearers: Set<Hear>; acknowledged: Promise<unknown> };

export function redisBus(url: string, prefix: string, onError: (error: Error) => void): Bus {
  const publisher = new Redis(url, {
    retryStrategy: reconnect,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
  });
  // Nothing is kept for a Redis that is away: once it is back, all topics are subscribed to in one go.
  const subscriber = new Redis(url, {
    retryStrategy: reconnect,
    maxRetriesPerRequest: null,
    keepAlive: 10_000,
    enableOfflineQueue: false,
    autoResubscribe: false,
  });
  publisher.on('error', onError);
  subscriber.on('error', onError);
  const topics = new Map<string, Topic>();
  subscriber.on('ready', () => {
    if (topics.size > 0) subscriber.subscribe(...topics.keys()).catch(() => undefined);
  });
  subscriber.on('message', (name: string, text: string) => {
    const message: unknown = JSON.parse(text);
    if (typeof message !== 'object' || message === null) return;
    for (const hear of topics.get(name)?.hearers ?? []) hear(message);
  });
  const topic = (name: string): Topic => {
    const known = topics.get(name);
    if (known !== undefined) return known;
    const acknowledged = subscriber.subscribe(name).catch(() => undefined);
    const opened: Topic = { hearers: new Set(), acknowledged };
    topics.set(name, opened);
    return opened;
  };
  return {
    publish(channel, message) {
      publisher.publish(`${prefix}:${channel.name}`, JSON.stringify(message)).catch(() => undefined);
    },
    async subscribe(channel, hear) {
      const name = `${prefix}:${channel.name}`;
      const { hearers, acknowledged } = topic(name);
      // Only publishers of this channel's own message write to it.
      const hearer: Hear = (message) => hear(message as Parameters<typeof hear>[0]);
      hearers.add(hearer);
      await Promise.race([acknowledged, setTimeout(ACKNOWLEDGED_MS, undefined, { ref: false })]);
      return () => {
        hearers.delete(hearer);
        if (hearers.size > 0 || topics.get(name)?.hearers !== hearers) return;
        topics.delete(name);
        subscriber.unsubscribe(name).catch(() => undefined);
      };
    },
    async close() {
      topics.clear();
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}
