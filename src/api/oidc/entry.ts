/** Which tenant a user of the OpenID provider enters. */
import { grantingGroups, tenantsGranted, type OidcGrant } from '../../core/access/oidc.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import { tenantOfKey } from '../../db/write/tenants/tenants.ts';
import { grantId } from '../access/environment-keys.ts';

type Wanted = {
  issuer: string;
  grants: readonly OidcGrant[];
  /** Of the user. */
  groups: readonly string[];
  /** The name of the tenant that the user asked for; null: the first with a grant. */
  tenant: string | null;
};

/** `groups`: those that give access to the tenant. */
type Entry = { tenantId: TenantId; groups: readonly string[] };

/** Null: no grant gives access. A tenant without a row gets one, as for a key of the environment. */
export async function findEntry(
  executor: Executor,
  { issuer, grants, groups, tenant: wanted }: Wanted,
): Promise<Entry | null> {
  const names = tenantsGranted(grants, groups).filter((name) => wanted === null || name === wanted);
  for (const name of names) {
    const entry = await entryTo(executor, name, issuer, grantingGroups(grants, groups, name));
    if (entry !== null) return entry;
  }
  return null;
}

/** Grants of a deleted tenant give no access to a later one of the same name. */
async function entryTo(
  executor: Executor,
  name: string,
  issuer: string,
  groups: readonly string[],
): Promise<Entry | null> {
  const granting: string[] = [];
  let tenantId: TenantId | null = null;
  for (const group of groups) {
    const found = await tenantOfKey(executor, name, grantId(issuer, group));
    if (found === null) continue;
    tenantId = found.id;
    granting.push(group);
  }
  return tenantId === null ? null : { tenantId, groups: granting };
}
