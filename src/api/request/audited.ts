/** Acts that the audit log records. */
import type { FastifyRequest } from 'fastify';
import { performWithin, type AnyCommand, type Command } from '../../commands/perform.ts';
import type { AuditAct, AuditedRequest } from '../../core/access/audit.ts';
import type { AuditEntryId, TenantId } from '../../core/ids.ts';
import type { User } from '../../core/access/user.ts';
import type { Executor } from '../../db/connection/client.ts';
import { addEntries } from '../../db/write/audit.ts';
import { actorOf } from '../access/actor.ts';
import type { ApiPorts } from '../server/ports.ts';

/** The parts of a request that tell who makes it. */
export type AuditedBy = Pick<FastifyRequest, 'id' | 'token' | 'credential' | 'key'>;

/** `tenantId` null: the installation. `user`: the one that the request names. */
type By = { request: AuditedBy; tenantId: TenantId | null; user?: User | undefined };

/**
 * Runs the command in a transaction that also writes its entries. A command that is refused has none, and neither has a
 * request that is repeated under its `Idempotency-Key`.
 */
export function audited<T>(
  ports: Pick<ApiPorts, 'ids'>,
  by: By,
  command: AnyCommand<T>,
  actsOf: (value: T) => readonly AuditAct[],
): Command<T> {
  return async (tx) => {
    const outcome = await performWithin(tx, command);
    if (outcome.kind === 'done') await record(ports, tx, by, actsOf(outcome.value));
    return outcome;
  };
}

/** Writes the entries of a request. */
export async function record(
  ports: Pick<ApiPorts, 'ids'>,
  executor: Executor,
  { request, tenantId, user }: By,
  acts: readonly AuditAct[],
): Promise<void> {
  await recordBy(ports, executor, { tenantId, actor: actorOf(request, user), requestId: request.id }, acts);
}

/** Writes entries. */
export async function recordBy(
  { ids }: Pick<ApiPorts, 'ids'>,
  executor: Executor,
  by: AuditedRequest,
  acts: readonly AuditAct[],
): Promise<void> {
  if (acts.length === 0) return;
  const withIds = acts.map((act) => ({ ...act, id: ids.next<AuditEntryId>() }));
  await addEntries(executor, by, withIds);
}
