/** What a client asks to be made becomes a worker: the same for a worker and for a context. */
import { createWorker } from '../commands/create-worker.ts';
import type { CreateWorker } from '../commands/create-worker.ts';
import type { Command } from '../commands/perform.ts';
import type { ContextId, WorkerId } from '../core/ids.ts';
import { unknownName } from './catalog.ts';
import type { ApiPorts } from './ports.ts';
import { roleToMakeFrom } from './roles.ts';

type Asked = Omit<CreateWorker, 'role'> & { role: string | null | undefined };

/**
 * Names of models, tools and roles are checked here, and refused as part of the command: so that a repeat of what was done
 * under its key is answered as before, whatever is served by now.
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
