/** Claims, of many contexts in one transaction: the leases, all that is stored, and the appends that begin or resume jobs. */
import { apply } from '../core/apply.ts';
import { decide } from '../core/decide.ts';
import type { ContextId } from '../core/ids.ts';
import { open } from '../core/moves/open.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { append } from '../db/append.ts';
import type { Executor } from '../db/client.ts';
import { claim, claimFree } from '../db/contexts.ts';
import type { ContextRow } from '../db/contexts.ts';
import { createGroup } from './group.ts';
import { readSnapshots } from './journal.ts';
import type { Began, Claimed, Claimer, Wanted, WorkerState } from './ports.ts';

/** Contexts that share a transaction, at most: each is held until all of them were read. */
const SHARED = 32;

type Parts = Pick<WorkerState, 'database' | 'abilities' | 'clock'>;

export function createClaimer(parts: Parts): Claimer {
  const { database } = parts;
  return createGroup({
    contextOf: ({ contextId }: Wanted) => contextId,
    async shared(wanted) {
      const owner = wanted[0]?.owner;
      if (owner === undefined) return [];
      // After a process was declared dead and began anew, the claims of its former self are not for this one.
      const ids = wanted.filter((one) => one.owner === owner).map(({ contextId }) => contextId);
      const claimed = await database.transaction(async (tx) =>
        openAll(parts, tx, await claimFree(tx, ids, owner)),
      );
      return wanted.map(({ contextId }) => claimed.get(contextId));
    },
    async alone({ contextId, owner }) {
      const claimed = await database.transaction(async (tx) => {
        const row = await claim(tx, contextId, owner);
        return openAll(parts, tx, row === null ? [] : [row]);
      });
      return claimed.get(contextId) ?? null;
    },
    most: SHARED,
  });
}

/** In the transaction that claimed `rows`. Those whose worker is gone are missing. */
async function openAll(
  parts: Parts,
  tx: Executor,
  rows: readonly ContextRow[],
): Promise<Map<ContextId, Claimed>> {
  const last = rows.at(-1);
  if (last === undefined) return new Map();
  parts.clock.set(last.now);
  const snapshots = await readSnapshots(parts, tx, rows);
  const moves = [...snapshots.values()].flatMap(
    (snapshot) => open(snapshot, decide(snapshot, last.now)) ?? [],
  );
  const outcomes = moves.length === 0 ? [] : await append(tx, moves);
  const began = new Map<ContextId, Began>();
  moves.forEach((move, index) => {
    const outcome = outcomes[index];
    if (outcome?.kind !== 'committed')
      throw new Error('A context changed under the transaction that claimed it.');
    began.set(move.lease.contextId, { move, outcome });
  });
  return new Map(
    [...snapshots].map(([contextId, snapshot]) => [contextId, asOpened(snapshot, began.get(contextId))]),
  );
}

function asOpened(snapshot: Snapshot, began: Began | undefined): Claimed {
  if (began === undefined) return { snapshot, began: null };
  return { snapshot: apply(snapshot, began.move, began.outcome), began };
}
