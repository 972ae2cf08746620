/** Creates a worker with its context, for both `POST /api/workers` and `POST /api/contexts`. */
import { createWorker, type CreateWorker } from '../../commands/workers/create-worker.ts';
import type { Command } from '../../commands/perform.ts';
import type { ContextId, WorkerId } from '../../core/ids.ts';
import { unknownName } from '../server/catalog.ts';
import type { ApiPorts } from '../server/ports.ts';
import { roleToMakeFrom } from '../response/roles.ts';

type WantedWorker = Omit<CreateWorker, 'role'> & { role: string | null | undefined };

/**
 * Checks the names of models, tools and roles, and refuses them as part of the command. So a repeated request with the
 * same idempotency key gets the stored response, even if worker processes serve other names by then.
 */
export async function makeWorker(
  ports: ApiPorts,
  wanted: WantedWorker,
): Promise<Command<{ workerId: WorkerId; contextId: ContextId }>> {
  const refusal = await unknownName(ports, wanted.config);
  if (refusal !== null) return async () => refusal;
  const role = await roleToMakeFrom(ports, wanted.tenantId, wanted.role);
  if (role !== null && 'code' in role) return async () => role;
  return createWorker(ports, { ...wanted, role }, ports.config.trees, ports.catalog.fileRoles);
}
