/** The limits of a tenant, and what it uses of each. */
import { Type, type Static } from 'typebox';
import { inMb, limitsOf, type LimitName, type TenantLimits } from '../../../core/access/quotas.ts';
import type { Scopes } from '../../../core/access/scopes.ts';
import type { TenantId } from '../../../core/ids.ts';
import { findLimits } from '../../../db/write/tenants/manage.ts';
import { readStoredBytes, readWholeUsage } from '../../../db/read/installation/usage.ts';
import { ref } from '../../../schema/build.ts';
import type { Quotas } from '../../quotas/quotas.ts';
import { invalid, orNotFound, refused } from '../../response/problem.ts';
import { readerOf, type Reader } from '../../response/reads.ts';
import type { Streams } from '../../response/streams.ts';
import { problems } from '../../schemas/problem.ts';
import { TenantName, perLimit } from '../../schemas/system/tenant.ts';
import { TenantUsage } from '../../schemas/system/usage.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { shownLimits } from '../../wire/system/tenant.ts';

type Counters = { quotas: Quotas; streams: Streams };

const UsageQuery = Type.Object({ tenant: Type.Optional(TenantName) });

type Limited = { id: TenantId; limits: TenantLimits };

export function usageRoute(app: App, ports: ApiPorts, { quotas, streams }: Counters): void {
  app.get(
    '/api/usage',
    {
      config: { access: 'read_or_operator', tokens: 'none', uncounted: true },
      schema: {
        summary:
          'The limits of the tenant, and what it uses of each; for the operator those of the tenant in the query',
        description: 'Requests and streams are those of the API process that answers.',
        operationId: 'getUsage',
        tags: ['system'],
        querystring: UsageQuery,
        response: { 200: ref(TenantUsage), ...problems(404) },
      },
    },
    async (request, reply) => {
      const read = readerOf(ports, reply);
      const { id, limits } = await limitedTenant(read, ports, request);
      const { queuedJobs, workers, slots } = await read((_, last) => readWholeUsage(last, id));
      // It reads the row of each context: only for those who have this limit.
      const storedMb = limits.stored_mb === undefined ? null : inMb(await read((_, last) => readStoredBytes(last, id)));
      const used: Record<LimitName, number | null> = {
        requests_per_s: null,
        concurrent_requests: limits.concurrent_requests === undefined ? null : quotas.requestsOf(id),
        slots,
        queued_jobs: queuedJobs,
        workers,
        streams: streams.of(id),
        stored_mb: storedMb,
        upload_mb: null,
        sql_ms: null,
      };
      const shown = shownLimits(limits);
      return { limits: perLimit((name) => ({ limit: shown[name], used: used[name] })) };
    },
  );
}

type Asking = {
  tenantId: TenantId;
  limits: TenantLimits;
  isOperator: boolean;
  scopes: Scopes | null;
  query: Static<typeof UsageQuery>;
};

/** Its own, or for the operator the one that is named. */
async function limitedTenant(read: Reader, { config }: ApiPorts, asking: Asking): Promise<Limited> {
  const { tenantId, limits, isOperator, scopes, query } = asking;
  const { tenant: name } = query;
  if (name !== undefined) {
    if (!isOperator)
      throw refused('forbidden', 'Only the operator may ask for another tenant. Leave tenant out.', 'tenant');
    const found = orNotFound(await read((_, last) => findLimits(last, name)), `No tenant has the name ${name}.`);
    return { id: found.id, limits: limitsOf(found.limits, config.tenantLimits) };
  }
  if (scopes === null) throw invalid('The operator has no tenant. Name one: ?tenant=<name>.', 'tenant');
  return { id: tenantId, limits };
}
