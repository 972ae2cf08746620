/**
 * The clients of this process that follow their whole tenant. They learn which contexts and other resources may have
 * changed, and read them again: hints without numbers, which may be lost. While there is such a client, this process
 * tells all others that changes are wanted.
 */
import { changes, changesWanted, type Bus, type Change } from '../bus/bus.ts';
import type { Reach } from '../core/access/reach.ts';
import type { ContextId, TenantId } from '../core/ids.ts';
import type { ChangedResource } from '../core/stream/change.ts';
import type { FleetingEvent } from '../core/stream/stream-event.ts';
import type { Executor } from '../db/connection/client.ts';
import { readOwners, type Owner } from '../db/read/contexts/owners.ts';
import type { Joined, Subscriber } from './subscriber.ts';

/** How long changes are wanted after this process said so, and how often it says so, in milliseconds. */
const WANTED_MS = 10_000;
const RENEW_MS = 3_000;

/** How long contexts are collected before their owners are read, in milliseconds. */
const GATHER_MS = 200;

/** Owners that are remembered at most. */
const REMEMBERED = 20_000;

/** Ids in one event at most. With more, the event has none. */
const MOST_IDS = 100;

type Listening = { unsubscribe: Promise<() => void>; renewing: NodeJS.Timeout };

/** A subscriber, with what it sees. */
type Follower = { tenantId: TenantId; reach: Reach; subscriber: Subscriber };

export class TenantChanges {
  readonly #ofAll: Executor;
  readonly #bus: Bus;
  readonly #followers = new Set<Follower>();
  readonly #owners = new Map<ContextId, Owner>();
  #gathered = new Set<ContextId>();
  #isClosed = false;
  /** Requests that have joined. */
  #uses = 0;
  /** While there is one. */
  #listening: Listening | null = null;

  constructor(ofAll: Executor, bus: Bus) {
    this.#ofAll = ofAll;
    this.#bus = bus;
  }

  /** Resolves once changes arrive: a subscriber that starts then gets those from now on. */
  async join(tenantId: TenantId, reach: Reach): Promise<Joined> {
    this.#uses += 1;
    this.#listening ??= this.#listen();
    await this.#listening.unsubscribe;
    let follower: Follower | null = null;
    let stopped = false;
    return {
      position: null,
      start: (subscriber) => {
        if (this.#isClosed) return subscriber.end();
        follower = { tenantId, reach, subscriber };
        this.#followers.add(follower);
      },
      stop: () => {
        if (stopped) return;
        stopped = true;
        this.#uses -= 1;
        if (follower !== null) this.#followers.delete(follower);
        if (this.#uses === 0) this.#rest();
      },
    };
  }

  /** Changes may have been lost. */
  lost(): void {
    const event = changed('all', []);
    for (const { subscriber } of this.#followers) subscriber.send([event]);
  }

  close(): void {
    this.#isClosed = true;
    for (const { subscriber } of this.#followers) subscriber.end();
    this.#rest();
  }

  #listen(): Listening {
    const want = (): void => this.#bus.publish(changesWanted(), { forMs: WANTED_MS });
    const unsubscribe = this.#bus.subscribe(changes(), (change) => this.#take(change));
    want();
    return { unsubscribe, renewing: setInterval(want, RENEW_MS).unref() };
  }

  #rest(): void {
    if (this.#listening === null) return;
    clearInterval(this.#listening.renewing);
    void this.#listening.unsubscribe.then((unsubscribe) => unsubscribe());
    this.#listening = null;
    this.#owners.clear();
  }

  #take(change: Change): void {
    if (change.kind === 'resource') return this.#tellResource(change);
    if (this.#gathered.size === 0) setTimeout(() => void this.#tellContexts(), GATHER_MS).unref();
    for (const id of change.contextIds) this.#gathered.add(id);
  }

  #tellResource({ tenantId, user, resource }: Extract<Change, { kind: 'resource' }>): void {
    const event = [changed(resource, [])];
    for (const { tenantId: of, reach, subscriber } of this.#followers) {
      const concerns = reach.kind === 'tenant' || (reach.kind === 'user' && reach.user === user);
      if (of === tenantId && concerns) subscriber.send(event);
    }
  }

  /** If PostgreSQL is unavailable, followers read again what they show, and learn it from that. */
  async #tellContexts(): Promise<void> {
    const ids = [...this.#gathered];
    this.#gathered = new Set();
    const known = await this.#learn(ids).then(
      () => true,
      () => false,
    );
    if (!known) return this.lost();
    for (const { tenantId, reach, subscriber } of this.#followers) {
      const seen = ids.filter((id) => isSeen(id, this.#owners.get(id), tenantId, reach));
      if (seen.length > 0) subscriber.send([changed('contexts', seen)]);
    }
  }

  async #learn(ids: readonly ContextId[]): Promise<void> {
    const unknown = ids.filter((id) => !this.#owners.has(id));
    if (unknown.length === 0) return;
    const owners = await readOwners(this.#ofAll, unknown);
    if (this.#owners.size + owners.length > REMEMBERED) this.#owners.clear();
    for (const owner of owners) this.#owners.set(owner.id, owner);
  }
}

/** A deleted context has no owner: its deletion is told as that of a resource. */
function isSeen(id: ContextId, owner: Owner | undefined, tenantId: TenantId, reach: Reach): boolean {
  if (owner?.tenantId !== tenantId) return false;
  switch (reach.kind) {
    case 'tenant':
      return true;
    case 'user':
      return owner.user === reach.user;
    case 'contexts':
      return reach.contextIds.includes(id);
  }
}

/** `ids` empty: any. */
function changed(resource: ChangedResource | 'all', ids: readonly ContextId[]): FleetingEvent {
  return { seq: null, name: 'Changed', data: { resource, ids: ids.length > MOST_IDS ? [] : [...ids] } };
}
