/** The limits of a tenant, and what it uses of each. */
import type { LimitName } from '../../../core/access/quotas.ts';
import { readWholeUsage } from '../../../db/write/tenants/usage.ts';
import { ref } from '../../../schema/build.ts';
import type { Quotas } from '../../quotas/quotas.ts';
import { readerOf } from '../../response/reads.ts';
import type { Streams } from '../../response/streams.ts';
import { perLimit } from '../../schemas/system/tenant.ts';
import { TenantUsage } from '../../schemas/system/usage.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { shownLimits } from '../../wire/tenant.ts';

type Counters = { quotas: Quotas; streams: Streams };

export function usageRoute(app: App, ports: ApiPorts, { quotas, streams }: Counters): void {
  app.get(
    '/api/usage',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'The limits of the tenant, and what it uses of each',
        description: 'Requests and streams are those of the API process that answers.',
        operationId: 'getUsage',
        tags: ['system'],
        response: { 200: ref(TenantUsage) },
      },
    },
    async ({ tenantId, limits }, reply) => {
      const { queuedJobs, workers, slots } = await readerOf(ports, reply)((_, last) => readWholeUsage(last, tenantId));
      const used: Record<LimitName, number | null> = {
        requests_per_s: null,
        concurrent_requests: limits.concurrent_requests === undefined ? null : quotas.requestsOf(tenantId),
        slots,
        queued_jobs: queuedJobs,
        workers,
        streams: streams.of(tenantId),
        upload_mb: null,
        sql_ms: null,
      };
      const shown = shownLimits(limits);
      return { limits: perLimit((name) => ({ limit: shown[name], used: used[name] })) };
    },
  );
}
