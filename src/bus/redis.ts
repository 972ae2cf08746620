/**
 * The bus on Redis. After a reconnect all is subscribed to again; what was said meanwhile is lost, as on any bus, and who
 * listens is told so. A connection can be open and dead for minutes: the bus speaks to itself, and where it does not hear
 * that, it connects anew.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Bus } from './bus.ts';
import { clusterLine, singleLine } from './redis-line.ts';
import type { Ears } from './redis-line.ts';

/** How long a subscriber waits for Redis' word before it goes on without, in milliseconds. */
const ACKNOWLEDGED_MS = 500;

/** How often the bus speaks to itself, and for how long it may hear nothing at all, in milliseconds. */
const PING_MS = 1_500;
const DEAF_MS = 5_000;

type Hear = (message: object) => void;
type Topic = { hearers: Set<Hear>; acknowledged: Promise<unknown> };

/** `cluster`: whether `url` names a node of a Redis Cluster. */
export function redisBus(url: string, prefix: string, onError: (error: Error) => void, cluster = false): Bus {
  const topics = new Map<string, Topic>();
  const lost = new Set<() => void>();
  let heardAt = performance.now();
  const tellLost = (): void => {
    for (const tell of lost) tell();
  };
  const ears: Ears = {
    fail: onError,
    again: tellLost,
    up() {
      heardAt = performance.now();
      if (topics.size === 0) return;
      line.subscribe([...topics.keys()]).then(tellLost, () => undefined);
    },
    hear(name, text) {
      heardAt = performance.now();
      const message: unknown = JSON.parse(text);
      if (typeof message !== 'object' || message === null) return;
      for (const hear of topics.get(name)?.hearers ?? []) hear(message);
    },
  };
  const line = cluster ? clusterLine(url, ears) : singleLine(url, ears);
  const topic = (name: string): Topic => {
    const known = topics.get(name);
    if (known !== undefined) return known;
    const acknowledged = line.subscribe([name]).catch(() => undefined);
    const opened: Topic = { hearers: new Set(), acknowledged };
    topics.set(name, opened);
    return opened;
  };
  const publish = (name: string, message: object): void => {
    line.publish(name, JSON.stringify(message)).catch(() => undefined);
  };
  const self = `${prefix}:self:${randomUUID()}`;
  topic(self);
  const pinging = setInterval(() => {
    if (line.isUp() && performance.now() - heardAt > DEAF_MS) {
      heardAt = performance.now();
      onError(new Error('The bus hears nothing: connecting anew.'));
      line.reconnect();
    }
    publish(self, {});
  }, PING_MS);
  pinging.unref();
  return {
    publish: (channel, message) => publish(`${prefix}:${channel.name}`, message),
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
        line.unsubscribe(name).catch(() => undefined);
      };
    },
    onLost(hear) {
      lost.add(hear);
      return () => lost.delete(hear);
    },
    async close() {
      clearInterval(pinging);
      topics.clear();
      lost.clear();
      line.close();
    },
  };
}
