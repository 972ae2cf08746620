/** Acts that the audit log records. */
import type { FastifyRequest } from 'fastify';
import { performWithin, type AnyCommand, type Command } from '../../commands/perform.ts';
import { INVALID_KEY } from '../../core/access/api-keys.ts';
import type { AuditAct, AuditedRequest } from '../../core/access/audit.ts';
import type { AuditEntryId, TenantId } from '../../core/ids.ts';
import type { User } from '../../core/access/user.ts';
import type { Executor } from '../../db/connection/client.ts';
import { addEntries } from '../../db/write/audit.ts';
import { actorOf } from '../access/actor.ts';
import type { ApiPorts } from '../server/ports.ts';

/** The parts of a request that identify the caller. */
export type AuditedBy = Pick<FastifyRequest, 'id' | 'token' | 'user' | 'credential' | 'key'>;

/** `tenantId` null: the installation. `user`: the one that the request names. */
type By = { request: AuditedBy; tenantId: TenantId | null; user?: User | undefined };

/**
 * Runs the command in a transaction that also writes its entries. A command that is refused has none, and neither has a
 * request that is repeated under its `Idempotency-Key`. Refused: `unauthorized`, if the tenant is being deleted.
 */
export function audited<T>(
  ports: Pick<ApiPorts, 'ids'>,
  by: By,
  command: AnyCommand<T>,
  actsOf: (value: T) => readonly AuditAct[],
): Command<T> {
  return async (tx) => {
    const outcome = await performWithin(tx, command);
    if (outcome.kind === 'refused') return outcome;
    return (await record(ports, tx, by, actsOf(outcome.value))) ? outcome : INVALID_KEY;
  };
}

/** Writes the entries of a request. False: the tenant is being deleted. */
export async function record(
  ports: Pick<ApiPorts, 'ids'>,
  executor: Executor,
  { request, tenantId, user }: By,
  acts: readonly AuditAct[],
): Promise<boolean> {
  return recordBy(ports, executor, { tenantId, actor: actorOf(request, user), requestId: request.id }, acts);
}

/** Writes entries. False: the tenant is being deleted. */
export async function recordBy(
  { ids }: Pick<ApiPorts, 'ids'>,
  executor: Executor,
  by: AuditedRequest,
  acts: readonly AuditAct[],
): Promise<boolean> {
  if (acts.length === 0) return true;
  const withIds = acts.map((act) => ({ ...act, id: ids.next<AuditEntryId>() }));
  return addEntries(executor, by, withIds);
}
