/** Runs a request that writes, within the limits of its tenant. */
import type { AnyCommand } from '../../commands/perform.ts';
import type { Adds, LimitedTenant, Reserve } from '../../commands/tenants/within-quota.ts';
import type { Refusal } from '../../core/errors.ts';
import type { ApiPorts } from '../server/ports.ts';
import { write, type WriteRequest } from './write.ts';

/**
 * `adds`: what the command adds at most. `commandOf`: gets why the tenant may not add so much; null: it may. A command
 * refuses where it would add; what adds nothing goes through, and so does a request that is repeated. `reserve`: for content
 * of which the command finds the size.
 */
export function writeWithin<Answer extends object>(
  ports: ApiPorts,
  request: WriteRequest & LimitedTenant,
  adds: Adds,
  commandOf: (full: Refusal | null, reserve: Reserve) => AnyCommand<Answer> | Promise<AnyCommand<Answer>>,
): Promise<Answer> {
  return ports.rooms.admit(request, adds, async (full, reserve) =>
    write(ports, request, await commandOf(full, reserve)),
  );
}
