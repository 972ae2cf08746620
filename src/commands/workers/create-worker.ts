/**
 * Creates a worker and its context, and queues its first input if there is one. The API has already validated the names
 * of models, tools and roles.
 *
 * - Checked: the parent, if one is named, and the limits of its tree; this takes a transaction. The parent is locked, and
 *   a later statement counts.
 * - Written: one statement, `workers.create`.
 * - After the commit: a wake-up, if there is an input.
 * - Receipt: the worker, and the job of the input, which is queued.
 */
import { refuse, type Refusal } from '../../core/errors.ts';
import type { ContextId, Ids, MessageId, TenantId, WorkerId } from '../../core/ids.ts';
import { TENANT_INACTIVE } from '../../core/access/tenant.ts';
import type { User } from '../../core/access/user.ts';
import type { Role, WorkerConfig, WorkerRole } from '../../core/workers/settings.ts';
import {
  TREE_LIMITS,
  narrowed,
  narrowest,
  overLimit,
  type TreeLimits,
  type WorkerLimitsConfig,
} from '../../core/workers/worker-limits.ts';
import type { Executor } from '../../db/connection/client.ts';
import { readParent } from '../../db/run/team.ts';
import type { WorkerView } from '../../db/read/contexts/worker-views.ts';
import { createWorker as insertWorker } from '../../db/write/workers/create.ts';
import { depthOf } from '../../db/write/workers/workers.ts';
import { jobOfInput, queued } from '../inputs/enqueue.ts';
import type { Accepted, FirstInput } from '../inputs/posted-input.ts';
import { done, type AnyCommand, type Outcome } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

export type CreateWorker = {
  tenantId: TenantId;
  /** The end user whose worker it is; null: that of its parent, if it has one. */
  user: User | null;
  name: string;
  title: string | null;
  role: WorkerRole | null;
  config: WorkerConfig;
  parentWorkerId: WorkerId | null;
};

/** `accepted`: the receipt of the first input; null: there was no input. */
export type Created = {
  workerId: WorkerId;
  contextId: ContextId;
  view: WorkerView;
  accepted: (Accepted & { messageId: MessageId }) | null;
};

/** `fileRoles`: the roles of the config file. */
export type CreateOptions = { trees?: TreeLimits; fileRoles?: ReadonlyMap<string, Role> };

/**
 * `input`: the first input; null: none. Refused: `not_found` (the parent), `invalid_request` (the parent is of another
 * user), `worker_limit`, `tenant_suspended`.
 */
export function createWorker(
  { ids }: Pick<CommandPorts, 'ids'>,
  worker: CreateWorker,
  input: FirstInput | null = null,
  { trees = TREE_LIMITS, fileRoles = new Map() }: CreateOptions = {},
): AnyCommand<Created> {
  const { parentWorkerId } = worker;
  if (parentWorkerId === null) return { statement: (executor) => create(executor, ids, { worker, place: TOP, input }) };
  return async (tx) => {
    const place = await placeBelow(tx, { ...worker, parentWorkerId }, trees, fileRoles);
    return place.kind === 'refused' ? place : create(tx, ids, { worker, place, input });
  };
}

async function create(
  executor: Executor,
  ids: Ids,
  { worker, place, input }: { worker: CreateWorker; place: Place; input: FirstInput | null },
): Promise<Outcome<Created>> {
  const workerId = ids.next<WorkerId>();
  const contextId = ids.next<ContextId>();
  const limits = narrowest(place.limits, worker.config.limits ?? {});
  const config = Object.keys(limits).length === 0 ? worker.config : { ...worker.config, limits };
  const job = input === null ? null : jobOfInput(ids, input);
  const user = place.user ?? worker.user;
  const row = { ...worker, user, config, id: workerId, contextId, depth: place.depth, detached: false };
  const inserted = await insertWorker(executor, row, job);
  if (inserted === null) return TENANT_INACTIVE;
  const { worker: view, context } = inserted;
  if (job === null) return done({ workerId, contextId, view, accepted: null });
  const { value, afterCommit } = queued(contextId, job, context);
  const accepted = { ...value, messageId: job.input.messageId };
  return done({ workerId, contextId, view, accepted }, ...afterCommit);
}

/** `limits`: the limits of the parent, which also apply to its children. `user`: that of the parent. */
type Place = { kind: 'place'; depth: number; limits: WorkerLimitsConfig; user: User | null };

const TOP: Place = { kind: 'place', depth: 0, limits: {}, user: null };

async function placeBelow(
  tx: Executor,
  { tenantId, user, parentWorkerId: parentId }: CreateWorker & { parentWorkerId: WorkerId },
  { limits, tenantWorkers }: TreeLimits,
  fileRoles: ReadonlyMap<string, Role>,
): Promise<Place | Refusal> {
  // One round trip. The second statement sees what was committed before the first got its lock.
  const [depth, parent] = await Promise.all([
    depthOf(tx, tenantId, parentId),
    readParent(tx, tenantId, parentId, { jobId: null, countsTenant: tenantWorkers !== null }),
  ]);
  if (depth === null || parent === null) {
    return refuse('not_found', `No worker has the id ${parentId}.`, 'parent_worker_id');
  }
  if (user !== null && user !== parent.user)
    return refuse('invalid_request', 'A worker has the user of its parent. Leave user out, or name that one.', 'user');
  const { role, definition, config } = parent;
  const ofRole = definition ?? (role === null ? undefined : fileRoles.get(role.name));
  const ownLimits = narrowest(ofRole?.limits ?? {}, config.limits ?? {});
  const over = overLimit(parent.counts, narrowed(limits, ownLimits), tenantWorkers);
  if (over !== null) return refuse('worker_limit', over, 'parent_worker_id');
  return { kind: 'place', depth: depth + 1, limits: ownLimits, user: parent.user };
}
