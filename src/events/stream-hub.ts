/**
 * One hub for all requests of this process: the streams of contexts, without gaps from a cursor on, and long polls for
 * the end of a job. The bus reports events at once but may lose messages, so the hub also polls PostgreSQL once a
 * second, with one query for all. Without streams and long polls it neither polls nor subscribes.
 */
import { deltasOf, progressOf } from '../bus/bus.ts';
import type { Bus } from '../bus/bus.ts';
import type { ContextId, ProcessId, TenantId } from '../core/ids.ts';
import type { Database } from '../db/connection/client.ts';
import { keyOf, readEvents, readHead, readStanding } from '../db/read/messages/event-views.ts';
import { InterestPublisher, RENEW_MS } from './interest-publisher.ts';
import { ContextFeed, PAGE } from './context-feed.ts';
import { JobWaits } from './job-waits.ts';
import type { Watch, Watched } from './job-waits.ts';
import type { Subscriber } from './subscriber.ts';
import { Pace } from './pace.ts';

const ASK_MS = 1_000;

/** A request that is about to subscribe to an existing context. */
export type Joined = {
  /** The number after which the stream begins. */
  position: number;
  /** Sends everything from there on without a gap: first what is stored, then what happens. */
  start(subscriber: Subscriber): void;
  /** Must always be called. */
  stop(): void;
};

export type StreamHub = {
  /**
   * `after`: the last number that the client has; null: begin with new events. Null: this tenant has no such context.
   */
  join(tenantId: TenantId, contextId: ContextId, after: number | null): Promise<Joined | null>;
  watch(job: Watched): Promise<Watch>;
  /** How often bus messages were missed and read from PostgreSQL, since the process started. */
  resyncs(): number;
  /** Ends all streams and long polls, including later ones. */
  close(): void;
};

/** The feed of a context, as long as requests use it. */
type Shared = { feed: ContextFeed; users: number; hearing: Promise<(() => void)[]> };

export function openStreamHub({ db }: Pick<Database, 'db'>, bus: Bus): StreamHub {
  const shared = new Map<string, Shared>();
  const waits = new JobWaits(bus);
  const interest = new InterestPublisher(bus);
  let resyncs = 0;
  let timer: NodeJS.Timeout | null = null;
  let asking = false;
  let closed = false;
  let renewed = performance.now();

  const ports = { db, interest, pace: new Pace(), onResync: () => void (resyncs += 1) };

  const isUsed = (): boolean => shared.size > 0 || waits.jobs.length > 0;

  const schedule = (): void => {
    if (timer !== null || asking || closed || !isUsed()) return;
    timer = setTimeout(() => void ask(), ASK_MS);
  };

  const unschedule = (): void => {
    if (timer === null || (isUsed() && !closed)) return;
    clearTimeout(timer);
    timer = null;
  };

  /** If PostgreSQL is unavailable, streams and long polls stay open until a later poll succeeds. */
  const ask = async (): Promise<void> => {
    timer = null;
    asking = true;
    const contexts = [...shared.values()].map(({ feed }) => feed).filter(({ tail }) => tail >= 0);
    renew(contexts);
    const standing = await readStanding(db, contexts, waits.jobs).catch(() => null);
    if (standing !== null) {
      waits.send(standing.ended);
      for (const feed of contexts) {
        const head = standing.heads.get(keyOf(feed.tenantId, feed.contextId));
        if (head === undefined) feed.end();
        else feed.stands(head);
      }
    }
    asking = false;
    schedule();
  };

  const renew = (contexts: readonly ContextFeed[]): void => {
    if (performance.now() - renewed < RENEW_MS) return;
    renewed = performance.now();
    const listening = new Map<ProcessId, ContextId[]>();
    for (const { ownerToNotify, contextId } of contexts) {
      if (ownerToNotify === null) continue;
      const known = listening.get(ownerToNotify);
      if (known === undefined) listening.set(ownerToNotify, [contextId]);
      else known.push(contextId);
    }
    interest.renew(listening);
  };

  const open = (tenantId: TenantId, contextId: ContextId): Shared => {
    const feed = new ContextFeed(tenantId, contextId, ports);
    const hearing = Promise.all([
      bus.subscribe(progressOf(contextId), (progress) => feed.takeProgress(progress)),
      bus.subscribe(deltasOf(contextId), (frame) => feed.takeFrame(frame)),
    ]);
    return { feed, users: 0, hearing };
  };

  const take = (tenantId: TenantId, contextId: ContextId): Shared => {
    const key = keyOf(tenantId, contextId);
    const one = shared.get(key) ?? open(tenantId, contextId);
    shared.set(key, one);
    one.users += 1;
    schedule();
    return one;
  };

  const giveBack = (one: Shared): void => {
    one.users -= 1;
    if (one.users > 0) return;
    shared.delete(keyOf(one.feed.tenantId, one.feed.contextId));
    void one.hearing.then((ends) => ends.forEach((end) => end()));
    unschedule();
  };

  const stopHearing = bus.onLost(() => {
    for (const { feed } of shared.values()) feed.lost();
    if (timer === null) return;
    clearTimeout(timer);
    void ask();
  });

  return {
    async join(tenantId, contextId, after) {
      const one = take(tenantId, contextId);
      try {
        await one.hearing;
        const head = await readHead(db, tenantId, contextId);
        if (head === null) {
          giveBack(one);
          return null;
        }
        one.feed.stands(head);
        const position = after === null ? head.headSeq : Math.min(after, head.headSeq);
        return joined(one, position);
      } catch (error) {
        giveBack(one);
        throw error;
      }
    },
    async watch(job) {
      const watch = await waits.watch(job);
      schedule();
      return {
        ended: (ms, signal) => watch.ended(ms, signal),
        stop() {
          watch.stop();
          unschedule();
        },
      };
    },
    resyncs: () => resyncs,
    close() {
      closed = true;
      unschedule();
      stopHearing();
      waits.close();
      for (const { feed } of shared.values()) feed.end();
    },
  };

  function joined(one: Shared, position: number): Joined {
    const { feed } = one;
    let listening: Subscriber | null = null;
    let stopped = false;
    return {
      position,
      start(subscriber) {
        listening = subscriber;
        if (closed) return subscriber.end();
        // A stream that cannot be complete ends: the client reconnects with its cursor.
        replay(feed, position, subscriber, () => stopped || closed).catch(() => subscriber.end());
      },
      stop() {
        if (stopped) return;
        stopped = true;
        if (listening !== null) feed.detach(listening);
        giveBack(one);
      },
    };
  }

  /** Reads page after page until the tail is reached, and attaches in the same tick. */
  async function replay(
    feed: ContextFeed,
    from: number,
    subscriber: Subscriber,
    isOver: () => boolean,
  ): Promise<void> {
    let position = from;
    for (;;) {
      // The client takes earlier pages before the stream is attached, so that its buffer then only holds new events.
      await subscriber.drained();
      const { tail } = feed;
      if (isOver() || position >= tail) break;
      const page = await readEvents(db, feed.tenantId, feed.contextId, { after: position, limit: PAGE });
      if (!isOver()) subscriber.send(page);
      const last = page.at(-1)?.seq ?? 0;
      position = page.length < PAGE ? Math.max(tail, last) : last;
    }
    if (closed) subscriber.end();
    else if (!isOver()) feed.attach(subscriber, position);
  }
}
