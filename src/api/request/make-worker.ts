/** Creates a worker with its context, and with its first input if there is one, for every route that does. */
import type { FirstInput } from '../../commands/inputs/posted-input.ts';
import { createWorker, type Created, type CreateWorker } from '../../commands/workers/create-worker.ts';
import { createWithDelayedInput } from '../../commands/workers/create-with-delayed-input.ts';
import type { AnyCommand } from '../../commands/perform.ts';
import type { WorkerId } from '../../core/ids.ts';
import type { Allow } from '../../core/access/tenant.ts';
import type { Delay } from '../../core/run/delay.ts';
import { sees, type Caller } from '../access/reach.ts';
import { refused } from '../response/problem.ts';
import { noWorker, parentId } from '../routes/params.ts';
import { refusedName } from '../server/catalog.ts';
import type { ApiPorts } from '../server/ports.ts';
import { roleToMakeFrom } from '../response/roles.ts';

/** `allow`: what its tenant may use. */
type WantedWorker = Omit<CreateWorker, 'role'> & { role: string | null | undefined; allow: Allow };

/**
 * Checks the names of models, tools and roles, and refuses them as part of the command. So a repeated request with the
 * same idempotency key gets the stored response, even if worker processes serve other names by then.
 */
export async function makeWorker(
  ports: ApiPorts,
  { allow, ...wanted }: WantedWorker,
  input: FirstInput | null = null,
  delay: Delay | null = null,
): Promise<AnyCommand<Created>> {
  const refusal = await refusedName(ports, allow, wanted.config);
  if (refusal !== null) return async () => refusal;
  const role = await roleToMakeFrom(ports, { tenantId: wanted.tenantId, allow }, wanted.role);
  if (role !== null && 'code' in role) return async () => role;
  const { config, catalog } = ports;
  const options = { trees: config.trees, fileRoles: catalog.fileRoles };
  if (input === null || delay === null) return createWorker(ports, { ...wanted, role }, input, options);
  const { queueLimit } = config;
  return createWithDelayedInput(ports, { ...wanted, role }, { ...input, delay, queueLimit }, options);
}

/** The parent that a request names; null: none. A parent that a token does not reach is refused as missing. */
export async function visibleParent(
  { database }: ApiPorts,
  caller: Caller,
  text: string | null | undefined,
): Promise<WorkerId | null> {
  const id = parentId(text);
  if (id === null || (await sees(database.db, caller, { kind: 'worker', id }))) return id;
  throw refused('not_found', noWorker(id), 'parent_worker_id');
}
