/** Creates a worker with its context, for both `POST /api/workers` and `POST /api/contexts`. */
import { createWorker } from '../../commands/workers/create-worker.ts';
import type { CreateWorker } from '../../commands/workers/create-worker.ts';
import type { Command } from '../../commands/perform.ts';
import type { ContextId, WorkerId } from '../../core/ids.ts';
import { unknownName } from '../server/catalog.ts';
import type { ApiPorts } from '../server/ports.ts';
import { roleToMakeFrom } from '../response/roles.ts';

type Asked = Omit<CreateWorker, 'role'> & { role: string | null | undefined };

/**
 * Checks the names of models, tools and roles, and refuses them as part of the command. So a repeated request with the
 * same idempotency key gets the stored response, even if worker processes serve other names by then.
 */
export async function makeWorker(
  ports: ApiPorts,
  asked: Asked,
): Promise<Command<{ workerId: WorkerId; contextId: ContextId }>> {
  const refusal = await unknownName(ports, asked.config);
  if (refusal !== null) return async () => refusal;
  const role = await roleToMakeFrom(ports, asked.tenantId, asked.role);
  if (role !== null && 'code' in role) return async () => role;
  return createWorker(ports, { ...asked, role }, ports.config.trees, ports.catalog.fileRoles);
}
