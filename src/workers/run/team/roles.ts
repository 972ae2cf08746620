/** Finds the roles and abilities that a child worker may have: of this process, of its tenant, and of other processes. */
import type { TenantId } from '../../../core/ids.ts';
import type { Role, WorkerRole } from '../../../core/workers/settings.ts';
import { published } from '../../../db/processes/processes.ts';
import { findRole } from '../../../db/write/workers/roles.ts';
import type { WorkerState } from '../../process/ports.ts';

/** A role that a call names. `definition`: null if only other processes know it. */
export type FoundRole = { role: WorkerRole; definition: Role | null };

export type RoleLookup = {
  /** Null: no role has the name. */
  find(name: string): Promise<FoundRole | null>;
  /** The first of what this process lacks that no live worker process can serve; null: nothing is missing. */
  firstMissing(lacking: readonly string[]): Promise<string | null>;
};

type Parts = Pick<WorkerState, 'database' | 'abilities' | 'times'>;

export function roleLookup({ database, abilities, times }: Parts, tenantId: TenantId): RoleLookup {
  return {
    /** In the config file, then among the tenant's roles, then among the roles that other processes publish. */
    async find(name) {
      const ofFile = abilities.team.roles.get(name);
      if (ofFile !== undefined) return { role: { name, version: null }, definition: ofFile };
      const ofTenant = await findRole(database.db, tenantId, name);
      if (ofTenant !== null) return { role: { name, version: ofTenant.version }, definition: ofTenant.definition };
      const elsewhere = await published(database.db, times);
      return elsewhere.some(({ roles }) => roles.includes(name))
        ? { role: { name, version: null }, definition: null }
        : null;
    },
    async firstMissing(lacking) {
      const elsewhere = await published(database.db, times);
      const known = new Set(
        elsewhere.flatMap(({ tools, roles, models, mcpServers }) => [
          ...tools.map((name) => `tool ${name}`),
          ...roles.map((name) => `role ${name}`),
          ...models.map((name) => `provider ${name}`),
          ...mcpServers.map((name) => `mcp server ${name}`),
        ]),
      );
      return lacking.find((name) => !known.has(name)) ?? null;
    },
  };
}
