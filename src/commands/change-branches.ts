/**
 * Branches come to be, are switched, and go. Each takes the lock of the context's row first and looks then. Whoever runs the
 * context is not disturbed: what it works on is the branch of its job, which is neither moved nor deleted under it.
 */
import { MAIN, forked, nameBeside } from '../core/branch.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { ContextId, MessageId, TenantId } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import {
  activateBranch,
  branchNames,
  deleteBranch as remove,
  findBranch,
  lockContext,
  insertBranch,
  isBusy,
} from '../db/branches.ts';
import type { Executor } from '../db/client.ts';
import { horizonOf } from '../db/fork-points.ts';
import type { Horizon } from '../db/fork-points.ts';
import { forkPoint } from './fork-point.ts';
import type { ForkPoint } from './fork-point.ts';
import { done } from './perform.ts';
import type { Command, AfterCommit } from './perform.ts';
import { noBranch } from './submit-input.ts';

export type Target = { tenantId: TenantId; contextId: ContextId };

export type CreateBranch = Target & {
  name: string;
  /** Null: the active one. */
  fromBranch: string | null;
  /** Null: behind all that is complete. */
  fromMessageId: MessageId | null;
  activate: boolean;
};

/** In a transaction. Refused: `not_found`, `invalid_request`, `branch_exists`, `context_busy`. */
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
    const point = await forkPoint(tx, target, horizon, from, fromMessageId);
    if ('code' in point) return point;
    return leave(tx, target, horizon.headSeq, point, name, activate);
  };
}

/** Takes the lock of a context's row, and looks. Null: there is no such context. */
export async function hold(tx: Executor, target: Target): Promise<Horizon | null> {
  return (await lockContext(tx, target)) ? horizonOf(tx, target) : null;
}

/** A branch leaves another one. The context's row is held. `name` null: one is made. */
export async function leave(
  tx: Executor,
  target: Target,
  headSeq: number,
  { from, seq }: ForkPoint,
  name: string | null,
  activate: boolean,
) {
  const taken = await branchNames(tx, target);
  const given = name ?? nameBeside(from.name, taken);
  if (taken.has(given)) return refuse('branch_exists', `There is a branch ${given} already.`, 'name');
  if (taken.size >= LIMITS.branches) {
    return refuse('invalid_request', `A context has ${LIMITS.branches} branches at most: delete one first.`);
  }
  const spans = forked(from.spans, seq, given, headSeq);
  const created = await insertBranch(tx, target, { name: given, parent: from.name, forkSeq: seq, spans });
  const head = activate ? await activateBranch(tx, target, given) : created;
  return done({ name: given }, ...progress(target, head));
}

/** In a transaction; repeatable. Refused: `not_found`. */
export function switchBranch(target: Target, name: string): Command<{ name: string }> {
  return async (tx) => {
    const context = await hold(tx, target);
    if (context === null) return noContext(target);
    if ((await findBranch(tx, target, name)) === null) return noBranch(name, null);
    if (context.activeBranch === name) return done({ name });
    return done({ name }, ...progress(target, await activateBranch(tx, target, name)));
  };
}

/** In a transaction. Refused: `not_found`, `context_busy`. */
export function deleteBranch(target: Target, name: string): Command<object> {
  return async (tx) => {
    const context = await hold(tx, target);
    if (context === null) return noContext(target);
    if ((await findBranch(tx, target, name)) === null) return noBranch(name, null);
    if (name === MAIN) return refuse('context_busy', `The branch ${MAIN} is never deleted.`);
    if (name === context.activeBranch)
      return refuse('context_busy', 'This is the active branch: switch to another one first.');
    if (await isBusy(tx, target, name)) return refuse('context_busy', 'A job of this branch is unfinished.');
    return done({}, ...progress(target, await remove(tx, target, name)));
  };
}

export function noContext({ contextId }: Target): Refusal {
  return refuse('not_found', `There is no context ${contextId}.`);
}

function progress({ contextId }: Target, headSeq: number): AfterCommit[] {
  return [{ kind: 'progress', progress: { contextId, headSeq, finished: null } }];
}
