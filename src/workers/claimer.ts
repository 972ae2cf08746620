/**
 * Claims: the lease, all that is stored, and the append that begins or resumes a job, in one transaction. Contexts of which
 * nothing bad is known share one.
 */
import { isDeepStrictEqual } from 'node:util';
import { endUnread } from '../commands/end-unread.ts';
import type { Append, AppendOutcome } from '../core/append.ts';
import { apply } from '../core/apply.ts';
import { UNSERVED_MS } from '../agent/unserved.ts';
import { NOTHING_COMPACTED } from '../core/compaction/compacted.ts';
import { crashLoop, decide } from '../core/decide.ts';
import type { ContextId } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { open } from '../core/moves/open.ts';
import { handBack } from '../core/moves/park.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { append } from '../db/append.ts';
import type { Executor } from '../db/client.ts';
import { claim, claimFree, heldBy } from '../db/claims.ts';
import type { ContextRow } from '../db/contexts.ts';
import { readHistories } from '../db/history.ts';
import { readMailbox, readParts, toMailboxes } from '../db/mailbox.ts';
import { createGroup } from './group.ts';
import { jobOf, readSnapshots, toSnapshots } from './journal.ts';
import type { Claim, Claimed, Claimer, Left, WorkerState } from './ports.ts';

/** Contexts that share a transaction, at most: each is held until all of them were read. */
const SHARED = 32;

type Committed = Extract<AppendOutcome, { kind: 'committed' }>;
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
  const claimed = await parts.database.transaction(async (tx, last) => {
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
    const snapshots = toSnapshots(parts, stored, (id) => histories.get(id) ?? null);
    return openAll(parts, last, found(rows, snapshots), ordinary);
  });
  return claims.map(({ contextId }) => claimed.get(contextId));
}

/** Null: surplus, or the worker is gone. */
async function claimAlone(parts: Parts, one: Claim): Promise<Claimed | null> {
  const { contextId, owner, counted } = one;
  return parts.database.transaction(async (tx, last): Promise<Claimed | null> => {
    const row = await claim(tx, contextId, owner, counted);
    if (row === null) return null;
    if (row.barrenClaims >= LIMITS.barrenClaims) {
      parts.clock.set(row.now);
      return endUnread(tx, row, parts.ids, crashLoop(row.barrenClaims));
    }
    const left = parts.registry.unserved.has(contextId) ? await leaveUnread(parts, tx, row) : null;
    if (left !== null) return left;
    parts.clock.set(row.now);
    const snapshots = await readSnapshots(parts, tx, [row]);
    return (await openAll(parts, last, found([row], snapshots), [one])).get(contextId) ?? null;
  });
}

type Found = { row: ContextRow; snapshot: Snapshot };

/** A row whose worker is gone has no snapshot. */
function found(rows: readonly ContextRow[], snapshots: ReadonlyMap<ContextId, Snapshot>): Found[] {
  return rows.flatMap((row) => {
    const snapshot = snapshots.get(row.lease.contextId);
    return snapshot === undefined ? [] : [{ row, snapshot }];
  });
}

/** Ends the transaction that claimed them, at the time that came with the claim. */
async function openAll(
  parts: Pick<Parts, 'ids'>,
  last: Executor,
  claimed: readonly Found[],
  claims: readonly Claim[],
): Promise<Map<ContextId, Claimed>> {
  const first = claimed.map((of) => firstStep(parts, of));
  const moves = first.flatMap(({ began }) => began?.move ?? []);
  if (moves.length > 0) {
    const committing = append(last, moves);
    for (const { claimed } of first) {
      if (claimed.kind !== 'opened' || claimed.began === null) continue;
      const { contextId } = claimed.snapshot.lease;
      claims.find((claim) => claim.contextId === contextId)?.opening(claimed.snapshot);
    }
    const outcomes = await committing;
    const expected = first.flatMap(({ began }) => began?.outcome ?? []);
    if (!isDeepStrictEqual(outcomes, expected))
      throw new Error('A context changed under the transaction that claimed it.');
  }
  return new Map(first.map(({ contextId, claimed }) => [contextId, claimed]));
}

/** What the transaction does with a context, and what stands then: it holds the row, so that both are known. */
function firstStep({ ids }: Pick<Parts, 'ids'>, { row, snapshot }: Found) {
  const { contextId } = row.lease;
  const step = decide(snapshot, row.now);
  if (step.kind === 'hand_back') {
    const move = handBack(snapshot, row.now + UNSERVED_MS);
    const left: Claimed = { kind: 'left', mailbox: snapshot, at: row.now };
    return { contextId, began: { move, outcome: expectedOf(row, move) }, claimed: left };
  }
  const move = open(snapshot, step, ids);
  const began = move === null ? null : { move, outcome: expectedOf(row, move) };
  const stands = began === null ? snapshot : apply(snapshot, began.move, began.outcome);
  const opened: Claimed = { kind: 'opened', snapshot: stands, began };
  return { contextId, began, claimed: opened };
}

function expectedOf({ headSeq, wakeSeq, controlSeq }: ContextRow, { entries }: Append): Committed {
  return {
    kind: 'committed',
    firstSeq: headSeq + 1,
    headSeq: headSeq + entries.length,
    wakeSeq,
    controlSeq,
    // What begins or resumes a job ends none.
    met: [],
    errand: false,
  };
}

/** What could not be served before is read in full only once it can be. Null: it can, or that is not what matters now. */
async function leaveUnread({ abilities, clock }: Parts, tx: Executor, row: ContextRow): Promise<Left | null> {
  clock.set(row.now);
  const stored = await readMailbox(tx, row);
  if (stored === null) return null;
  const { mailbox, worker } = stored;
  const unread = {
    ...mailbox,
    history: [],
    compacted: NOTHING_COMPACTED,
    unread: null,
    serving: abilities.resolve(worker, jobOf(mailbox)),
  };
  if (decide(unread, row.now).kind !== 'hand_back') return null;
  await append(tx, [handBack(mailbox, row.now + UNSERVED_MS)]);
  return { kind: 'left', mailbox, at: row.now };
}
