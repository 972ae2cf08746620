/**
 * Claims: the lease, all that is stored, and the append that begins or resumes a job, in one transaction. Contexts of which
 * nothing bad is known share one.
 */
import { endBarren } from '../commands/end-barren.ts';
import { apply } from '../core/apply.ts';
import { UNSERVED_MS } from '../agent/loop.ts';
import { decide } from '../core/decide.ts';
import type { Step } from '../core/decide.ts';
import type { ContextId } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { open } from '../core/moves/open.ts';
import { handBack } from '../core/moves/park.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Millis } from '../core/time.ts';
import { append } from '../db/append.ts';
import type { Executor } from '../db/client.ts';
import { claim, claimFree, heldBy } from '../db/claims.ts';
import type { ContextRow } from '../db/contexts.ts';
import { readHistories } from '../db/history.ts';
import { readMailbox, readParts, toMailboxes } from '../db/mailbox.ts';
import { createGroup } from './group.ts';
import { readSnapshots, toSnapshots } from './journal.ts';
import type { Claim, Claimed, Claimer, Left, WorkerState } from './ports.ts';

/** Contexts that share a transaction, at most: each is held until all of them were read. */
const SHARED = 32;

type Parts = Pick<WorkerState, 'database' | 'abilities' | 'clock' | 'registry' | 'ids'>;

export function createClaimer(parts: Parts): Claimer {
  return createGroup<Claim, Claimed | null>({
    contextOf: ({ contextId }) => contextId,
    shared: (claims) => claimTogether(parts, claims),
    alone: (one) => claimAlone(parts, one),
    most: SHARED,
  });
}

async function claimTogether(parts: Parts, claims: readonly Claim[]): Promise<(Claimed | undefined)[]> {
  const ordinary = claims.filter(
    // After a process was declared dead and began anew, the claims of its former self are not for this one.
    ({ contextId, owner, counted }) =>
      counted === null && owner === claims[0]?.owner && !parts.registry.unserved.has(contextId),
  );
  const owner = ordinary[0]?.owner;
  if (owner === undefined) return claims.map(() => undefined);
  const ids = ordinary.map(({ contextId }) => contextId);
  const claimed = await parts.database.transaction(async (tx) => {
    // One round trip: what is read after the claim is read of what was claimed.
    const at = heldBy(ids, owner);
    const [rows, beside, histories] = await Promise.all([
      claimFree(tx, ids, owner),
      readParts(tx, at),
      readHistories(tx, at),
    ]);
    const now = rows.at(-1)?.now;
    if (now === undefined) return new Map<ContextId, Claimed>();
    parts.clock.set(now);
    const stored = toMailboxes(rows, beside);
    const snapshots = toSnapshots(parts, stored, (id) => histories.get(id) ?? []);
    return openAll(tx, snapshots, now);
  });
  return claims.map(({ contextId }) => claimed.get(contextId));
}

/** Null: surplus, or the worker is gone. */
async function claimAlone(parts: Parts, { contextId, owner, counted }: Claim): Promise<Claimed | null> {
  return parts.database.transaction(async (tx): Promise<Claimed | null> => {
    const row = await claim(tx, contextId, owner, counted);
    if (row === null) return null;
    if (row.barrenClaims >= LIMITS.barrenClaims) {
      parts.clock.set(row.now);
      return endBarren(tx, row, parts.ids);
    }
    const left = parts.registry.unserved.has(contextId) ? await leaveUnread(parts, tx, row) : null;
    if (left !== null) return left;
    parts.clock.set(row.now);
    return (await openAll(tx, await readSnapshots(parts, tx, [row]), row.now)).get(contextId) ?? null;
  });
}

/** In the transaction that claimed them, at the time that came with the claim. */
async function openAll(
  tx: Executor,
  snapshots: ReadonlyMap<ContextId, Snapshot>,
  now: Millis,
): Promise<Map<ContextId, Claimed>> {
  const first = [...snapshots.values()].map((snapshot) => {
    const step = decide(snapshot, now);
    return { snapshot, step, move: firstMove(snapshot, step, now) };
  });
  const moves = first.flatMap(({ move }) => move ?? []);
  const outcomes = moves.length === 0 ? [] : await append(tx, moves);
  const claimed = first.map(({ snapshot, step, move }): [ContextId, Claimed] => {
    const { contextId } = snapshot.lease;
    if (move === null) return [contextId, { kind: 'opened', snapshot, began: null }];
    const outcome = outcomes[moves.indexOf(move)];
    if (outcome?.kind !== 'committed')
      throw new Error('A context changed under the transaction that claimed it.');
    if (step.kind === 'hand_back') return [contextId, { kind: 'left', mailbox: snapshot, at: now }];
    return [
      contextId,
      { kind: 'opened', snapshot: apply(snapshot, move, outcome), began: { move, outcome } },
    ];
  });
  return new Map(claimed);
}

function firstMove(snapshot: Snapshot, step: Step, now: Millis) {
  return step.kind === 'hand_back' ? handBack(snapshot, now + UNSERVED_MS) : open(snapshot, step);
}

/** What could not be served before is read in full only once it can be. Null: it can, or that is not what matters now. */
async function leaveUnread({ abilities, clock }: Parts, tx: Executor, row: ContextRow): Promise<Left | null> {
  clock.set(row.now);
  const stored = await readMailbox(tx, row);
  if (stored === null) return null;
  const { mailbox, worker } = stored;
  const unread = { ...mailbox, history: [], serving: abilities.resolve(worker) };
  if (decide(unread, row.now).kind !== 'hand_back') return null;
  await append(tx, [handBack(mailbox, row.now + UNSERVED_MS)]);
  return { kind: 'left', mailbox, at: row.now };
}
