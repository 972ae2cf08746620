/**
 * Decides which context a slot runs.
 *
 * While slots are free, a wake-up runs the context that it names. Once all slots are taken, or were a moment ago, many
 * contexts may wait, and a wake-up is only a hint that there is work: the slot takes the next runnable context, chosen by
 * `TenantShares` between the tenants and the users of a tenant, and for a user by priority and time. Sweeps choose in the
 * same way, and so does a slot that becomes free while more is known to wait; so the order does not depend on wake-ups,
 * and all works without them. Contexts of a tenant with a limit of slots always have their turn by this list.
 *
 * A tenant that runs nothing here while all slots are taken gets one of the reserved slots.
 */
import { setTimeout } from 'node:timers/promises';
import type { UserOrNone } from '../../core/access/user.ts';
import type { ContextId, TenantId } from '../../core/ids.ts';
import type { Runnable, RunnableByTenant } from '../../db/run/runnable.ts';
import type { WorkerState } from '../process/ports.ts';
import { runContext, type RunResult } from '../run/run-context.ts';
import { createReader, type Reader } from './runnable-reader.ts';
import type { Slot } from './slots.ts';

/** How long a list of runnable contexts is used. */
const FRESH_MS = 200;
/** Contexts of one tenant in a list. */
const PER_TENANT = 64;
/** How often a slot tries to claim what other processes claimed before, until it is returned. */
const MISSES = 10;
/** How often a process without a free slot looks for tenants that run nothing in it, and how often at most. */
const LOOK_MS = 500;
const LOOK_AGAIN_MS = 50;
const LOOK_TRIES = 8;
/** After this time a list that could not be read is read again, in milliseconds. */
const AWAY_MS = 1_000;

/** `at`: when it began to be read, on the monotonic clock. */
type List = { byTenant: RunnableByTenant; at: number };

export class Dispatcher {
  readonly #state: WorkerState;
  readonly #readList: Reader;
  readonly #readOverdue: Reader;
  #list: List = { byTenant: new Map(), at: -Infinity };
  #relisting: Promise<void> | null = null;
  /** Whether more contexts were found than are in the list. */
  #isCut = false;
  #lookedAt = -Infinity;
  #looking: Promise<void> | null = null;
  #looks: Promise<void> = Promise.resolve();
  readonly #stopped = new AbortController();

  constructor(state: WorkerState) {
    this.#state = state;
    this.#readList = createReader(state);
    this.#readOverdue = createReader(state);
  }

  /** Begins to look for tenants that run nothing here. */
  start(): void {
    this.#looks = this.#keepLooking();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#looks;
  }

  /** Handles a wake-up. Resolves when the run that it led to has ended. Never throws. */
  async wake(contextId: ContextId, isNew: boolean): Promise<void> {
    const { slots } = this.#state;
    const { areBusy } = slots;
    const slot = await slots.take();
    if (slot === null) return;
    if (areBusy) return this.#serve(slot, null);
    await this.#keep(slot, async () => {
      const result = await runContext(this.#state, contextId, { isNew, slot });
      // A busy process may have taken the wake-up of another context for it.
      return result === 'noop' ? this.#choose(slot) : result === 'ran';
    });
  }

  /** Starts overdue contexts in the free slots. Returns their number. */
  async fill(): Promise<number> {
    const { slots } = this.#state;
    if (slots.free === 0) return 0;
    const at = performance.now();
    // While slots are scarce, those that are not overdue yet have their turn too.
    const overdue = await this.#readOverdue({ perTenant: slots.free, onlyOverdue: !slots.areBusy });
    // Other processes may have read the same: in random order, they try to claim different ones.
    const random = () => this.#state.random();
    const byTenant = countOf(overdue.byTenant) <= slots.free ? shuffled(overdue.byTenant, random) : overdue.byTenant;
    let started = 0;
    for (let slot = slots.takeFree(); slot !== null; slot = slots.takeFree()) {
      const next = this.#pick({ byTenant, at });
      if (next === null) {
        slot.give();
        return started;
      }
      started += 1;
      // Nothing has claimed it in time. Perhaps it killed the process that tried to.
      void this.#serve(slot, { ...next, isSuspect: true });
    }
    this.#isCut ||= byTenant.size > 0;
    return started;
  }

  /** Runs a context in the slot: `first`, or else the next one of the list. */
  #serve(slot: Slot, first: Runnable | null): Promise<void> {
    return this.#keep(
      slot,
      async () => (first !== null && (await this.#try(slot, first)) === 'ran') || this.#choose(slot),
    );
  }

  /** In a reserved slot: this context or none, because the slot is for its tenant. */
  #serveReserved(slot: Slot, only: Runnable): Promise<void> {
    return this.#keep(slot, async () => (await this.#try(slot, only)) === 'ran');
  }

  /** Whether it ran a context of the list. */
  async #choose(slot: Slot): Promise<boolean> {
    const tried = new Set<ContextId>();
    for (let misses = 0; misses < MISSES;) {
      const next = await this.#next(slot);
      // The process may begin to drain, or be paused, while the list is read.
      if (next === null || !this.#state.slots.areOpen || tried.has(next.contextId)) return false;
      tried.add(next.contextId);
      const result = await this.#try(slot, next);
      if (result === 'ran') return true;
      if (result !== 'skipped' && result !== 'ended') misses += 1;
      // Another process was faster, so the list is old.
      this.#list.at = -Infinity;
    }
    return false;
  }

  #try(slot: Slot, { tenantId, user, contextId, isNew, isSuspect }: Runnable): Promise<RunResult> {
    slot.serve(tenantId, user);
    return runContext(this.#state, contextId, { isNew, isSuspect, slot });
  }

  /** The work of a slot: whether it ran a context. Afterwards the slot is returned, and others may use it. */
  async #keep(slot: Slot, work: () => Promise<boolean>): Promise<void> {
    const hasRun = await this.#persist(work);
    const { tenant } = slot;
    slot.give();
    if (hasRun) this.#goOn(tenant);
  }

  /** Again and again while the list cannot be read, so that no wake-up is lost. It is logged where it is read. */
  async #persist(work: () => Promise<boolean>): Promise<boolean> {
    const { signal } = this.#stopped;
    for (;;) {
      try {
        return await work();
      } catch {
        await setTimeout(AWAY_MS, undefined, { signal }).catch(() => undefined);
        if (signal.aborted) return false;
      }
    }
  }

  /** After a run of this tenant, a context that waits takes its slot, without a wake-up. */
  #goOn(tenant: TenantId | null): void {
    const { slots } = this.#state;
    if (!slots.areOpen) return;
    if (slots.free === 0) {
      if (tenant !== null && slots.shares.running(tenant) === 0) void this.#look();
      return;
    }
    // A list without contexts of a tenant that had its limit is older than the end of this run.
    const mayHaveMore =
      this.#isCut || this.#list.byTenant.size > 0 || (tenant !== null && slots.shares.isLimited(tenant));
    const slot = mayHaveMore ? slots.takeFree() : null;
    if (slot !== null) void this.#serve(slot, null);
  }

  /** The next context of the list. The slot counts for its user at once, so that the next choice knows. */
  async #next(slot: Slot): Promise<Runnable | null> {
    // A list that is being read may be older than the wake-up.
    await this.#relisting;
    let next = performance.now() - this.#list.at < FRESH_MS ? this.#pick(this.#list) : null;
    if (next === null) {
      await this.#relist();
      next = this.#pick(this.#list);
    }
    if (next !== null) slot.serve(next.tenantId, next.user);
    return next;
  }

  /** Takes the next context out of a list. Null: it is empty. */
  #pick(list: List): Runnable | null {
    const { shares } = this.#state.slots;
    const { byTenant } = list;
    for (let tenant = shares.first(byTenant.keys()); tenant !== null; tenant = shares.first(byTenant.keys())) {
      const next = this.#pickOf(list, tenant);
      if (next !== null) return next;
    }
    return null;
  }

  /** Of one tenant; those that run here are left out. */
  #pickOf({ byTenant, at }: List, tenant: TenantId): Runnable | null {
    const { registry, slots } = this.#state;
    const byUser: Map<UserOrNone, Runnable[]> = byTenant.get(tenant) ?? new Map();
    let next: Runnable | undefined;
    do {
      const user = slots.shares.firstUser(tenant, byUser.keys());
      const contexts = user === null ? [] : (byUser.get(user) ?? []);
      next = contexts.shift();
      if (user !== null && contexts.length === 0) byUser.delete(user);
    } while (next !== undefined && registry.noteRunnable(next.contextId, at));
    if (byUser.size === 0) byTenant.delete(tenant);
    return next ?? null;
  }

  #relist(): Promise<void> {
    this.#relisting ??= this.#relistOnce().finally(() => (this.#relisting = null));
    return this.#relisting;
  }

  async #relistOnce(): Promise<void> {
    const at = performance.now();
    const { byTenant, hasMore } = await this.#readList({ perTenant: PER_TENANT, onlyOverdue: false });
    this.#list = { byTenant, at };
    this.#isCut = hasMore;
    this.#state.slots.shares.noteWaiting(byTenant);
  }

  async #keepLooking(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const { slots } = this.#state;
      if (slots.areOpen && slots.free === 0) await this.#look();
      await setTimeout(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => (this.#looking = null));
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    const { slots } = this.#state;
    const { signal } = this.#stopped;
    const early = this.#lookedAt + LOOK_AGAIN_MS - performance.now();
    if (early > 0) await setTimeout(early, undefined, { signal }).catch(() => undefined);
    this.#lookedAt = performance.now();
    if (signal.aborted || slots.free > 0) return;
    try {
      await this.#relist();
      // A claim that was made by name tells its tenant when it commits. Until then that tenant may seem to run nothing.
      for (let tries = 0; tries < LOOK_TRIES && !slots.areKnown; tries += 1)
        await setTimeout(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
      if (slots.areKnown) this.#useReserved();
    } catch {
      // The next look tries again.
    }
  }

  /** For tenants that run nothing here, one context each. */
  #useReserved(): void {
    const { slots } = this.#state;
    const idle = new Set([...this.#list.byTenant.keys()].filter((tenant) => slots.shares.running(tenant) === 0));
    for (let tenant = slots.shares.first(idle); tenant !== null; tenant = slots.shares.first(idle)) {
      idle.delete(tenant);
      const slot = slots.takeReserved();
      if (slot === null) return;
      const next = this.#pickOf(this.#list, tenant);
      if (next === null) slot.give();
      else void this.#serveReserved(slot, next);
    }
  }
}

function countOf(byTenant: RunnableByTenant): number {
  return [...byTenant.values()].flatMap((byUser) => [...byUser.values()]).reduce((sum, { length }) => sum + length, 0);
}

/** Tenants, users and contexts in random order. */
function shuffled(byTenant: RunnableByTenant, random: () => number): RunnableByTenant {
  const users = (byUser: Map<UserOrNone, Runnable[]>) =>
    new Map(inAnyOrder(byUser, random).map(([user, contexts]) => [user, inAnyOrder(contexts, random)]));
  return new Map(inAnyOrder(byTenant, random).map(([tenant, byUser]) => [tenant, users(byUser)]));
}

function inAnyOrder<Item>(given: Iterable<Item>, random: () => number): Item[] {
  const items = [...given];
  for (let end = items.length - 1; end > 0; end -= 1) {
    const other = Math.floor(random() * (end + 1));
    const [moved] = items.splice(other, 1);
    if (moved !== undefined) items.splice(end, 0, moved);
  }
  return items;
}
