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

/** How long changes are collected before they are told, and the wait after their owners could not be read, in milliseconds. */
const GATHER_MS = 200;
const AGAIN_MS = 2_000;

/** Contexts that are collected at most, and owners that are remembered. */
const MANY = 20_000;

/** Ids in one event at most. With more, the event has none. */
const MOST_IDS = 100;

type Listening = { unsubscribe: Promise<() => void>; renewing: NodeJS.Timeout };

type Due = {
  contexts: Set<ContextId>;
  resources: Map<TenantId, Set<ChangedResource>>;
  /** Something was lost. */
  everything: boolean;
};
const NOTHING = (): Due => ({ contexts: new Set(), resources: new Map(), everything: false });

/** A subscriber, with what it sees. */
type Follower = { tenantId: TenantId; reach: Reach; subscriber: Subscriber };

export class TenantChanges {
  readonly #ofAll: Executor;
  readonly #bus: Bus;
  readonly #followers = new Set<Follower>();
  readonly #owners = new Map<ContextId, Owner>();
  /** What is told next. */
  #due = NOTHING();
  /** Something is told soon, or at this moment. */
  #isTelling = false;
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

  /** Changes may have been lost, also those that others publish until they hear that changes are wanted. */
  lost(): void {
    if (this.#listening === null) return;
    this.#want();
    const everything = (): void => {
      this.#due.everything = true;
      this.#tellSoon(GATHER_MS);
    };
    everything();
    setTimeout(everything, RENEW_MS).unref();
  }

  close(): void {
    this.#isClosed = true;
    for (const { subscriber } of this.#followers) subscriber.end();
    this.#rest();
  }

  #want(): void {
    this.#bus.publish(changesWanted(), { forMs: WANTED_MS });
  }

  #listen(): Listening {
    const unsubscribe = this.#bus.subscribe(changes(), (change) => this.#take(change));
    void unsubscribe.then(() => this.#want());
    return { unsubscribe, renewing: setInterval(() => this.#want(), RENEW_MS).unref() };
  }

  #rest(): void {
    if (this.#listening === null) return;
    clearInterval(this.#listening.renewing);
    void this.#listening.unsubscribe.then((unsubscribe) => unsubscribe());
    this.#listening = null;
    this.#owners.clear();
    this.#due = NOTHING();
  }

  #take(change: Change): void {
    const { contexts, resources } = this.#due;
    if (change.kind === 'resource') {
      const ofTenant = resources.get(change.tenantId) ?? new Set();
      resources.set(change.tenantId, ofTenant.add(change.resource));
    } else for (const id of change.contextIds) contexts.add(id);
    this.#tellSoon(GATHER_MS);
  }

  /** One round at a time. */
  #tellSoon(ms: number): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setTimeout(() => void this.#tell(), ms).unref();
  }

  async #tell(): Promise<void> {
    const due = this.#due;
    this.#due = NOTHING();
    const owners = await this.#ownersOf([...due.contexts]).catch(() => null);
    this.#isTelling = false;
    if (owners === null) this.#putBack(due);
    else for (const follower of this.#followers) follower.subscriber.send(eventsFor(follower, due, owners));
    const { contexts, resources, everything } = this.#due;
    if (owners === null) this.#tellSoon(AGAIN_MS);
    else if (everything || contexts.size > 0 || resources.size > 0) this.#tellSoon(GATHER_MS);
  }

  /** PostgreSQL does not say whose contexts they are: it may later. */
  #putBack({ contexts, resources, everything }: Due): void {
    for (const id of contexts) this.#due.contexts.add(id);
    for (const [tenantId, some] of resources)
      this.#due.resources.set(tenantId, new Set([...some, ...(this.#due.resources.get(tenantId) ?? [])]));
    if (everything || this.#due.contexts.size > MANY) this.#due = { ...NOTHING(), everything: true };
  }

  async #ownersOf(ids: readonly ContextId[]): Promise<ReadonlyMap<ContextId, Owner>> {
    const unknown = ids.filter((id) => !this.#owners.has(id));
    const read = unknown.length === 0 ? [] : await readOwners(this.#ofAll, unknown);
    const known = ids.flatMap((id) => this.#owners.get(id) ?? []);
    if (this.#owners.size + read.length > MANY) this.#owners.clear();
    for (const owner of read) this.#owners.set(owner.id, owner);
    return new Map([...known, ...read].map((owner) => [owner.id, owner]));
  }
}

function eventsFor(
  { tenantId, reach }: Follower,
  { contexts, resources, everything }: Due,
  owners: ReadonlyMap<ContextId, Owner>,
): FleetingEvent[] {
  if (everything) return [changed('all', [])];
  const written = [...(resources.get(tenantId) ?? [])].filter(
    (resource) => reach.kind === 'tenant' || resource === 'contexts',
  );
  const seen = [...contexts].filter((id) => isSeen(id, owners.get(id), tenantId, reach));
  const ofContexts = seen.length === 0 || written.includes('contexts') ? [] : [changed('contexts', seen)];
  return [...ofContexts, ...written.map((resource) => changed(resource, []))];
}

/** A deleted context has no owner: its deletion is told without its id. */
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
