/**
 * One hub for all requests of this process: the streams of contexts, without gaps from a cursor on, and long polls of
 * jobs. The bus reports events at once but may lose messages, so the hub also polls PostgreSQL once a
 * second, with one query for all. Without streams and long polls it does not poll, and before the first one it does not
 * subscribe.
 */
import { jobNews, type Bus, type JobNews } from '../bus/bus.ts';
import type { ContextId, TenantId } from '../core/ids.ts';
import type { Database, Executor } from '../db/connection/client.ts';
import { hasArrived, type Watched } from '../db/read/jobs/watched-jobs.ts';
import { keyOf, readHead, readStreamProgress } from '../db/read/messages/event-views.ts';
import { InterestPublisher } from './interest-publisher.ts';
import { JobWaits, type Watch } from './job-waits.ts';
import { Pace } from './pace.ts';
import { Poller } from './poller.ts';
import { replay, type Replay } from './replay.ts';
import { SharedFeeds, type SharedFeed } from './shared-feeds.ts';
import type { Joined, Subscriber } from './subscriber.ts';
import { TenantChanges } from './tenant-changes.ts';

const ASK_MS = 1_000;

export function openStreamHub({ db, everywhere }: Pick<Database, 'db' | 'everywhere'>, bus: Bus): StreamHub {
  return new StreamHub(db, everywhere.db, bus);
}

export class StreamHub {
  /** Clients that follow their whole tenant. */
  readonly changes: TenantChanges;
  /** For the tenant of a request. */
  readonly #db: Executor;
  /** For all streams and long polls at once. */
  readonly #ofAll: Executor;
  readonly #bus: Bus;
  readonly #waits: JobWaits;
  readonly #interest: InterestPublisher;
  readonly #feeds: SharedFeeds;
  readonly #unsubscribe: () => void;
  readonly #poller: Poller;
  #resyncs = 0;
  /** Resolves once news of jobs arrive, with the function that ends this. Null: nothing was followed yet. */
  #jobNews: Promise<() => void> | null = null;

  constructor(db: Executor, ofAll: Executor, bus: Bus) {
    this.#db = db;
    this.#ofAll = ofAll;
    this.#bus = bus;
    this.changes = new TenantChanges(ofAll, bus);
    this.#waits = new JobWaits();
    this.#interest = new InterestPublisher(bus);
    const onResync = (): void => void (this.#resyncs += 1);
    this.#feeds = new SharedFeeds(bus, { db: ofAll, interest: this.#interest, pace: new Pace(), onResync });
    this.#poller = new Poller(ASK_MS, () => this.#poll());
    this.#unsubscribe = bus.onLost(() => this.#lost());
  }

  /**
   * `after`: the last number that the client has; null: begin with new events. The stream has no gap: first what is stored,
   * then what happens. Null: this tenant has no such context.
   */
  async join(tenantId: TenantId, contextId: ContextId, after: number | null): Promise<Joined | null> {
    const one = this.#feeds.take(tenantId, contextId);
    this.#countUse();
    try {
      await Promise.all([one.subscribed, this.#hearJobNews()]);
      const head = await readHead(this.#db, tenantId, contextId);
      if (head === null) {
        this.#release(one);
        return null;
      }
      one.feed.takeHead(head);
      return this.#joined(one, after === null ? head.headSeq : Math.min(after, head.headSeq));
    } catch (error) {
      this.#release(one);
      throw error;
    }
  }

  /** The job may have come so far already, or not exist. */
  async watch(job: Watched): Promise<Watch> {
    await this.#hearJobNews();
    const watch = this.#waits.watch(job, () => hasArrived(this.#db, job));
    this.#countUse();
    return {
      ...watch,
      stop: () => {
        watch.stop();
        this.#countUse();
      },
    };
  }

  /** How often bus messages were missed and read from PostgreSQL, since the process started. */
  resyncs(): number {
    return this.#resyncs;
  }

  /** Ends all streams and long polls, including later ones. */
  close(): void {
    this.#poller.close();
    this.#unsubscribe();
    this.#waits.close();
    this.changes.close();
    void this.#jobNews?.then((end) => end());
    for (const feed of this.#feeds.all) feed.end();
  }

  #hearJobNews(): Promise<() => void> {
    this.#jobNews ??= this.#bus.subscribe(jobNews(), (news) => this.#takeJobNews(news));
    return this.#jobNews;
  }

  /** A context whose owner knows of no subscriber publishes nothing else when its job ends. */
  #takeJobNews(news: JobNews): void {
    this.#waits.take(news);
    if (news.status === 'ended') this.#feeds.find(news.tenantId, news.contextId)?.takeProgress(news);
  }

  #joined(one: SharedFeed, position: number): Joined {
    const { feed } = one;
    let listening: Subscriber | null = null;
    let stopped = false;
    return {
      position,
      start: (subscriber) => {
        listening = subscriber;
        const isOver = (): boolean => stopped || this.#poller.isClosed;
        void this.#start({ db: this.#db, feed, subscriber, position, isOver });
      },
      stop: () => {
        if (stopped) return;
        stopped = true;
        if (listening !== null) feed.detach(listening);
        this.#release(one);
      },
    };
  }

  /** A stream that cannot be complete ends: the client reconnects with its cursor. */
  async #start(replayed: Replay): Promise<void> {
    const { subscriber } = replayed;
    if (!this.#poller.isClosed) await replay(replayed).catch(() => subscriber.end());
    if (this.#poller.isClosed) subscriber.end();
  }

  #release(one: SharedFeed): void {
    this.#feeds.release(one);
    this.#countUse();
  }

  #lost(): void {
    for (const feed of this.#feeds.all) feed.lost();
    this.changes.lost();
    this.#poller.lost();
  }

  #countUse(): void {
    this.#poller.use(!this.#feeds.isEmpty || !this.#waits.isEmpty);
  }

  /** If PostgreSQL is unavailable, streams and long polls stay open until a later poll succeeds. */
  async #poll(): Promise<void> {
    const feeds = this.#feeds.all.filter(({ tail }) => tail >= 0);
    this.#interest.renew(feeds);
    const progress = await readStreamProgress(this.#ofAll, feeds, this.#waits.jobs).catch(() => null);
    if (progress === null) return;
    this.#waits.send(progress.arrived);
    for (const feed of feeds) {
      const head = progress.heads.get(keyOf(feed.tenantId, feed.contextId));
      if (head === undefined) feed.end();
      else feed.takeHead(head);
    }
  }
}
