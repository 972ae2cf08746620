/**
 * Creates, switches and deletes branches. Each command locks the context's row before it reads. Runs are not affected:
 * a run works on the branch of its job, which is neither moved nor deleted meanwhile.
 */
import { MAIN, forked, nameBeside } from '../../core/conversation/branch.ts';
import { refuse } from '../../core/errors.ts';
import type { ContextId, MessageId, TenantId } from '../../core/ids.ts';
import { LIMITS } from '../../core/limits.ts';
import {
  activateBranch,
  branchNames,
  deleteBranch as remove,
  findBranch,
  lockContext,
  insertBranch,
  isBusy,
} from '../../db/write/contexts/branches.ts';
import type { Executor } from '../../db/connection/client.ts';
import { horizonOf, type Horizon } from '../../db/write/contexts/fork-points.ts';
import { forkPoint, type ForkPoint } from './fork-point.ts';
import { progressTo } from '../after-commit.ts';
import { noBranch, noContext } from '../inputs/refusals.ts';
import { done, type Command } from '../perform.ts';

export type Target = { tenantId: TenantId; contextId: ContextId };

export type CreateBranch = Target & {
  name: string;
  /** Null: the active one. */
  fromBranch: string | null;
  /** Null: after all that is complete. */
  fromMessageId: MessageId | null;
  activate: boolean;
};

/** Refused: `not_found`, `invalid_request`, `branch_exists`, `context_busy`. */
export function createBranch({
  name,
  fromBranch,
  fromMessageId,
  activate,
  ...target
}: CreateBranch): Command<{ name: string }> {
  return async (tx) => {
    const horizon = await hold(tx, target);
    if (horizon === null) return noContext(target);
    const from = fromBranch ?? horizon.activeBranch;
    const point = await forkPoint(tx, target, horizon, { branch: from, messageId: fromMessageId });
    if ('code' in point) return point;
    return leave(tx, target, { headSeq: horizon.headSeq, point, name, activate });
  };
}

/** Locks the context's row and reads its horizon. Null: the context does not exist. */
export async function hold(tx: Executor, target: Target): Promise<Horizon | null> {
  return (await lockContext(tx, target)) ? horizonOf(tx, target) : null;
}

/** `headSeq`: of the context. `name` null: a name is generated. */
type NewBranch = { headSeq: number; point: ForkPoint; name: string | null; activate: boolean };

/** Creates a branch that leaves another one. The context's row is locked. */
export async function leave(
  tx: Executor,
  target: Target,
  { headSeq, point: { from, seq }, name, activate }: NewBranch,
) {
  const taken = await branchNames(tx, target);
  const given = name ?? nameBeside(from.name, taken);
  if (taken.has(given)) return refuse('branch_exists', `A branch with the name ${given} already exists.`, 'name');
  if (taken.size >= LIMITS.branches) {
    return refuse('invalid_request', `A context can have ${LIMITS.branches} branches at most. Delete one first.`);
  }
  const spans = forked(from.spans, seq, given, headSeq);
  const created = await insertBranch(tx, target, { name: given, parent: from.name, forkSeq: seq, spans });
  const head = activate ? await activateBranch(tx, target, given) : created;
  return done({ name: given }, progressTo(target.contextId, head));
}

/** Idempotent. Refused: `not_found`. */
export function switchBranch(target: Target, name: string): Command<{ name: string }> {
  return async (tx) => {
    const context = await hold(tx, target);
    if (context === null) return noContext(target);
    if ((await findBranch(tx, target, name)) === null) return noBranch(name, null);
    if (context.activeBranch === name) return done({ name });
    return done({ name }, progressTo(target.contextId, await activateBranch(tx, target, name)));
  };
}

/** Refused: `not_found`, `context_busy`. */
export function deleteBranch(target: Target, name: string): Command<object> {
  return async (tx) => {
    const context = await hold(tx, target);
    if (context === null) return noContext(target);
    if ((await findBranch(tx, target, name)) === null) return noBranch(name, null);
    if (name === MAIN) return refuse('context_busy', `The branch ${MAIN} cannot be deleted.`);
    if (name === context.activeBranch)
      return refuse('context_busy', `The branch ${name} is active. Switch to another branch first.`);
    if (await isBusy(tx, target, name))
      return refuse('context_busy', 'A job of this branch is unfinished. Cancel it or wait for its end.');
    return done({}, progressTo(target.contextId, await remove(tx, target, name)));
  };
}
