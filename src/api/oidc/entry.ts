/** Which tenant a user of the OpenID provider enters. */
import { grantingGroups, tenantsGranted, type OidcGrant } from '../../core/access/oidc.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import { tenantOfKey } from '../../db/write/tenants/tenants.ts';
import type { Groups } from './provider.ts';
import { grantId } from '../access/environment-keys.ts';

type Wanted = {
  grants: readonly OidcGrant[];
  /** Of the user. */
  groups: Groups;
  /** The name of the tenant that the user asked for; null: the first active one with a grant. */
  tenant: string | null;
};

/** `groups`: those that give access to the tenant. */
type Entry = { kind: 'entry'; tenantId: TenantId; groups: readonly string[] };

/** The tenants with a grant are suspended, or are being deleted. */
export type Inactive = { kind: 'inactive' };

/**
 * `no_claim`, `too_many_groups`: the provider sent no claim with groups. `no_grant`: no grant names a group of the user,
 * or none for the tenant that was asked for. `deleted_tenant`: there are grants, but an earlier tenant of their name was
 * deleted.
 */
export type NoEntry = { kind: 'no_entry'; reason: 'no_claim' | 'too_many_groups' | 'no_grant' | 'deleted_tenant' };

/** A tenant without a row gets one, as for a key of the environment. */
export async function findEntry(
  executor: Executor,
  { grants, groups, tenant: wanted }: Wanted,
): Promise<Entry | Inactive | NoEntry> {
  if (typeof groups === 'string') return { kind: 'no_entry', reason: groups };
  const names = tenantsGranted(grants, groups).filter((name) => wanted === null || name === wanted);
  if (names.length === 0) return { kind: 'no_entry', reason: 'no_grant' };
  let isInactive = false;
  for (const name of names) {
    const entry = await entryTo(executor, name, grantingGroups(grants, groups, name));
    if (entry?.kind === 'entry') return entry;
    if (entry?.kind === 'inactive') isInactive = true;
  }
  return isInactive ? { kind: 'inactive' } : { kind: 'no_entry', reason: 'deleted_tenant' };
}

/** Null: grants of a deleted tenant give no access to a later one of the same name. */
async function entryTo(executor: Executor, name: string, groups: readonly string[]): Promise<Entry | Inactive | null> {
  const granting: string[] = [];
  let tenantId: TenantId | null = null;
  for (const group of groups) {
    const found = await tenantOfKey(executor, name, grantId(group));
    if (found === null) continue;
    if (found.tenantStatus !== 'active') return { kind: 'inactive' };
    tenantId = found.tenantId;
    granting.push(group);
  }
  return tenantId === null ? null : { kind: 'entry', tenantId, groups: granting };
}
