/**
 * Claims. One transaction takes the lease, reads the stored state, and appends the beginning or resumption of a job; the
 * model call that follows begins while it commits (claim-and-call.ts). Contexts without failed claims that are neither
 * suspect nor known as unsupported share a transaction. Others are read after the commit of their claim.
 */
import { setTimeout } from 'node:timers/promises';
import { endUnread } from '../../commands/inputs/end-unread.ts';
import { NOTHING_COMPACTED } from '../../core/compaction/compacted.ts';
import { crashLoop, decide } from '../../core/decide.ts';
import type { ContextId, TenantId } from '../../core/ids.ts';
import { LIMITS } from '../../core/limits.ts';
import { releaseUnsupported } from '../../core/transitions/park.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import { append } from '../../db/run/append/append.ts';
import type { Executor } from '../../db/connection/client.ts';
import { claim, claimFree, claimWithinSlots, leasedBy } from '../../db/run/claims.ts';
import { read, type ContextRow } from '../../db/run/contexts.ts';
import { NOTHING_READ, readHistories } from '../../db/run/history.ts';
import { readMailbox, readParts, toMailboxes } from '../../db/run/mailbox/mailbox.ts';
import { isAway } from '../../db/batches/database-timeout.ts';
import { createBatcher } from '../../db/batches/batcher.ts';
import {
  commitAndCall,
  firstStep,
  opened,
  afterAppend,
  begun,
  type Found,
  type UnreadClaim,
} from './claim-and-call.ts';
import { beforeOwnClaim, callerOf, readLocked, readSnapshot, toSnapshots } from './journal.ts';
import { createTurns } from './turns.ts';
import type { Claim, Claimed, Claimer, Skipped, WorkerState } from '../process/ports.ts';

/** Contexts in one transaction at most: the row of each stays locked until all of them are read. */
const SHARED = 32;
const MOST_SLOW = 1_000;

type Given = Pick<WorkerState, 'database' | 'abilities' | 'clock' | 'registry' | 'ids' | 'random' | 'slots'>;
/** `turns`: by tenant. */
type Parts = Given & { turns: ReturnType<typeof createTurns<TenantId>> };

export function createClaimer(given: Given): Claimer {
  const parts = { ...given, turns: createTurns<TenantId>() };
  const claimFirst = createBatcher<Claim, Claimed | UnreadClaim | null>({
    keyOf: ({ contextId }) => contextId,
    shared: (claims) => claimTogether(parts, claims),
    alone: (one) => claimAlone(parts, one),
    most: SHARED,
  });
  /** Contexts whose last claim took too long, or broke its connection. */
  const slow = new Set<ContextId>();
  return async ({ isSuspect, ...one }) => {
    const { contextId } = one;
    const claimed = await claimFirst({ ...one, isSuspect: isSuspect || slow.has(contextId) }).catch(
      (error: unknown) => {
        if (isAway(error)) slow.add(contextId);
        const [oldest] = slow;
        if (slow.size > MOST_SLOW && oldest !== undefined) slow.delete(oldest);
        throw error;
      },
    );
    slow.delete(contextId);
    // However long it takes: the connection is given up if PostgreSQL falls silent.
    return claimed?.kind === 'unread' ? openUnread(parts, claimed.row) : claimed;
  };
}

/** Those that have more to read than fits together are read after the commit. */
async function claimTogether(parts: Parts, claims: readonly Claim[]): Promise<(Claimed | UnreadClaim | undefined)[]> {
  const areAllLimited = slotsOfTenant(parts) !== null;
  const ordinary = claims.filter(
    // A process that was declared dead has a new id: claims under its old id are left out.
    ({ contextId, owner, isSuspect }) =>
      !isSuspect && !areAllLimited && owner === claims[0]?.owner && !parts.registry.unsupported.has(contextId),
  );
  const owner = ordinary[0]?.owner;
  if (owner === undefined) return claims.map(() => undefined);
  const byContext = new Map(ordinary.map((claim) => [claim.contextId, claim]));
  const ids = [...byContext.keys()];
  const claimed = await parts.database.transaction(async (tx, last) => {
    // One round trip: the reads see what the claim before them took.
    const at = leasedBy(ids, owner);
    const isOne = ids.length === 1;
    const readAll = () => readHistories(tx, at, isOne ? LIMITS.claimBytes : LIMITS.sharedBytes);
    const [rows, beside, before] = await Promise.all([
      claimFree(tx, ids, owner),
      readParts(tx, at, isOne ? 'alone' : 'shared'),
      ordinary.every(({ isNew }) => isNew) ? null : readAll(),
    ]);
    const hasHistory = rows.some(({ headSeq }) => headSeq > 0);
    const { histories, tooLong } = before ?? (hasHistory ? await readAll() : NOTHING_READ);
    const now = rows.at(-1)?.now;
    if (now === undefined) return new Map<ContextId, Claimed | UnreadClaim>();
    parts.clock.advance(now);
    const unread = rows.filter(({ lease: { contextId: id } }) => tooLong.has(id) || beside.tooLarge.has(id));
    const whole = rows.filter((row) => !unread.includes(row));
    const snapshots = toSnapshots(parts, toMailboxes(whole, beside), histories);
    const all = whole.flatMap((row) => {
      const { contextId } = row.lease;
      return found(byContext.get(contextId), row, snapshots.get(contextId));
    });
    const begun = await commitAndCall(last, all);
    return new Map([...begun, ...unread.map((row) => [row.lease.contextId, { kind: 'unread', row }] as const)]);
  });
  return claims.map(({ contextId }) => claimed.get(contextId));
}

/**
 * Null: the claim was a noop, or the worker was deleted. A wake-up does not claim a context of a tenant with a limit of
 * slots: the list of runnable contexts names the tenant, and the context whose turn it is.
 */
async function claimAlone(parts: Parts, one: Claim): Promise<Claimed | UnreadClaim | null> {
  const { shares } = parts.slots;
  const { tenantId } = one;
  if (tenantId === null) return slotsOfTenant(parts) === null ? claimUnlimited(parts, one) : null;
  if (shares.isLimited(tenantId)) return claimLimited(parts, one, tenantId);
  const claimed = await claimUnlimited(parts, one);
  return claimed === null && shares.areLimitsCut ? claimLimited(parts, one, tenantId) : claimed;
}

async function claimUnlimited(parts: Parts, one: Claim): Promise<Claimed | UnreadClaim | null> {
  const { contextId, owner, isSuspect } = one;
  return parts.database.transaction(async (tx, last): Promise<Claimed | UnreadClaim | null> => {
    const row = await claim(tx, contextId, owner);
    if (row === null) return null;
    const ended = await withoutReading(parts, tx, row);
    if (ended !== null) return ended;
    // The claim is counted before anything is read: what is stored may kill this process.
    if (isSuspect || row.failedClaims > 0) return { kind: 'unread', row };
    const snapshot = await readLocked(parts, tx, row);
    if (snapshot === 'too long') return { kind: 'unread', row };
    return (await commitAndCall(last, found(one, row, snapshot))).get(contextId) ?? null;
  });
}

/** How long a context of a tenant with a limit waits for its turn to be claimed, in milliseconds. */
const TURN_MS = 2_000;
/** Pause after a claim of another process was faster, in milliseconds. */
const BUSY_MS = 10;

/** Claims of tenants with a limit of slots: in each process one after the other, and committed before anything is read. */
async function claimLimited(parts: Parts, one: Claim, tenantId: TenantId): Promise<Claimed | UnreadClaim | null> {
  const { contextId, owner, signals } = one;
  const { database, turns, random } = parts;
  const until = performance.now() + TURN_MS;
  const tryOnce = () => database.transaction((tx) => claimWithinSlots(tx, contextId, owner, slotsOfTenant(parts)));
  // What is not claimed stays runnable: a look or a sweep finds it.
  while (!signals.lost && performance.now() < until) {
    const claimed = await turns(tenantId, tryOnce);
    if (claimed.kind === 'claimed') return afterClaim(parts, claimed.row);
    if (claimed.kind !== 'busy') return null;
    await setTimeout(BUSY_MS * (0.5 + random()));
  }
  return null;
}

/** Null: another process has the context meanwhile. */
async function afterClaim(parts: Parts, row: ContextRow): Promise<Claimed | UnreadClaim | null> {
  const { contextId, epoch } = row.lease;
  parts.clock.advance(row.now);
  const mayEnd = row.failedClaims >= LIMITS.failedClaims || parts.registry.unsupported.has(contextId);
  if (!mayEnd) return { kind: 'unread', row };
  return parts.database.transaction(async (tx) => {
    const now = await read(tx, contextId, 'lock');
    if (now === null || now.lease.epoch !== epoch) return null;
    return (await withoutReading(parts, tx, beforeOwnClaim(now))) ?? { kind: 'unread', row };
  });
}

/** The limit of slots in the config file; null: none. */
function slotsOfTenant({ abilities }: Parts): number | null {
  return abilities.team.tenantLimits.slots ?? null;
}

/**
 * Ends or leaves a claimed context, whose row the transaction has locked, if that is clear without its history. Null: it
 * has to be read.
 */
async function withoutReading(parts: Parts, tx: Executor, row: ContextRow): Promise<Claimed | null> {
  parts.clock.advance(row.now);
  if (row.failedClaims >= LIMITS.failedClaims) return endUnread(tx, row, parts.ids, crashLoop(row.failedClaims));
  return parts.registry.unsupported.has(row.lease.contextId) ? leaveUnread(parts, tx, row) : null;
}

/** Reads and opens a context after its claim has committed. Null: the lease is lost, or the worker was deleted. */
async function openUnread(parts: Parts, row: ContextRow): Promise<Claimed | null> {
  const { db } = parts.database;
  const { contextId, epoch } = row.lease;
  const snapshot = await readSnapshot(parts, db, row);
  if (snapshot === null) return null;
  const { kind, transition } = firstStep(snapshot, row.now);
  if (transition === null) return opened(snapshot);
  const [outcome] = await append(db, [transition]);
  if (outcome?.kind === 'committed') {
    const began = { transition, outcome };
    return begun(afterAppend(snapshot, kind, began, row.now), began, null);
  }
  // A client or another worker wrote to the mailbox meanwhile.
  const now = await read(db, contextId);
  return now === null || now.lease.epoch !== epoch ? null : openUnread(parts, beforeOwnClaim(now));
}

/** Empty if the worker of the row was deleted: it has no snapshot. */
function found(claim: Claim | undefined, row: ContextRow, snapshot: Snapshot | null | undefined): Found[] {
  return claim === undefined || snapshot === null || snapshot === undefined ? [] : [{ claim, row, snapshot }];
}

/**
 * Decides from the mailbox alone whether a context is still unsupported, and releases it then. Null: read it in full,
 * because it can be served now or something else is due.
 */
async function leaveUnread({ abilities }: Parts, tx: Executor, row: ContextRow): Promise<Skipped | null> {
  const stored = await readMailbox(tx, row);
  if (stored === null) return null;
  const { mailbox, worker } = stored;
  const unread = {
    ...mailbox,
    history: [],
    compacted: NOTHING_COMPACTED,
    unread: null,
    workerName: worker.name,
    role: worker.role,
    serving: abilities.resolve(worker, callerOf(mailbox), mailbox.allow),
  };
  if (decide(unread, row.now).kind !== 'release_unsupported') return null;
  await append(tx, [releaseUnsupported(mailbox, row.now)]);
  return { kind: 'skipped', mailbox, at: row.now };
}
