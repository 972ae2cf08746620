/** Access control of an API within the process of another service, which may identify callers by itself. */
import { INVALID_KEY } from '../../core/access/api-keys.ts';
import type { DatabaseAccess } from '../../db/connection/client.ts';
import type { AccessRequest } from '../access/access-request.ts';
import {
  keyAccess,
  toTenant,
  type Access,
  type AccessConfig,
  type AccessControl,
  type Credential,
} from '../access/access.ts';
import { openEnvironmentKeys } from '../access/environment-keys.ts';
import { ELSEWHERE, crossOrigin } from '../access/page-origin.ts';
import { openTenants } from '../access/tenants.ts';
import { tokenOfCaller, withEmbedded, type Embedded, type EmbeddedCaller } from './callers.ts';

type EmbeddedConfig = AccessConfig & { corsOrigins: readonly string[] };

/** Callers that the service does not know need a key, wherever they are: the socket is that of the service. */
export function openEmbeddedAccess(
  config: EmbeddedConfig,
  database: DatabaseAccess,
  { callerOf }: Embedded,
): AccessControl {
  const withKeys = keyAccess(config, database, withEmbedded(openEnvironmentKeys(config.apiKeys)));
  const tenants = openTenants(database);

  async function admitCaller(caller: EmbeddedCaller): Promise<Access> {
    const { id, tenant, scopes, user } = caller;
    const found = await tenants.find({ tenant, keyId: id });
    if (found === null) return INVALID_KEY;
    const { tenantId } = found;
    const credential: Credential = { kind: 'environment', tenantId };
    const access = toTenant({ ...found, scopes, key: { kind: 'env', id }, user }, credential);
    if (access.kind === 'refused' || user === null) return access;
    const token = tokenOfCaller({ ...caller, user }, tenantId);
    return { ...access, token, scopes: new Set(token.scopes) };
  }

  return {
    ...withKeys,
    async admit(request) {
      const caller = await callerOf(request);
      if (caller === null) return withKeys.admit(request);
      return mayBeOfAnyPage(request, config.corsOrigins) ? ELSEWHERE : admitCaller(caller);
    },
  };
}

/**
 * The service may identify a browser by a cookie, or by the `Authorization` of Basic and Negotiate: a browser sends these
 * with requests of any page.
 */
function mayBeOfAnyPage({ headers }: AccessRequest, allowed: readonly string[]): boolean {
  return crossOrigin(headers) && !allowed.includes(headers.origin ?? '');
}
