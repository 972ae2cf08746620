/** Metrics by tenant: what those with limits or work use, and what was refused. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { limitsOf, type TenantLimits } from '../../core/access/quotas.ts';
import type { Database } from '../../db/connection/client.ts';
import { readTenantLoads } from '../../db/read/installation/usage.ts';
import { within } from '../server/deadline.ts';

/** Tenants with series of their own at most. */
const MOST = 200;
/** The tenant of refusals beyond them. No tenant can have this name. */
const OTHERS = '(others)';

export type TenantFigures = {
  /** Sets the gauges. They are empty if PostgreSQL does not answer in time, in milliseconds. */
  read(ms: number): Promise<void>;
  /** A request was refused because of a limit of its tenant, or of its API key. */
  exceeded(tenant: string, limit: string): void;
};

type Measured = { database: Pick<Database, 'read'>; config: { tenantLimits: TenantLimits } };

export function openTenantFigures({ database, config }: Measured, registers: Registry[]): TenantFigures {
  const of = `Of at most ${MOST} tenants with limits or work.`;
  const gauge = (name: string, help: string, labelNames: string[]) =>
    new Gauge({ name, help: `${help} ${of}`, labelNames, registers });
  const running = gauge('nightshift_tenant_running', 'Contexts that run.', ['tenant']);
  const queued = gauge('nightshift_tenant_queued_jobs', 'Queued and delayed jobs.', ['tenant']);
  const limits = gauge('nightshift_tenant_limit', 'Limits, also those of the config file.', ['tenant', 'limit']);
  const refused = new Counter({
    name: 'nightshift_quota_exceeded_total',
    help: 'Requests that were refused because of a limit of their tenant, or of their API key (key_…).',
    labelNames: ['tenant', 'limit'],
    registers,
  });
  const seen = new Set<string>();
  return {
    async read(ms) {
      const signal = AbortSignal.timeout(ms);
      const read = database.read((_, last) => readTenantLoads(last, MOST), { statementMs: ms, signal });
      const loads = await within(ms, read).catch(() => []);
      for (const figure of [running, queued, limits]) figure.reset();
      for (const { name: tenant, limits: own, ...load } of loads) {
        running.set({ tenant }, load.running);
        queued.set({ tenant }, load.queued);
        for (const [limit, value] of Object.entries(limitsOf(own, config.tenantLimits)))
          limits.set({ tenant, limit }, value);
      }
    },
    exceeded(name, limit) {
      if (seen.size < MOST) seen.add(name);
      refused.inc({ tenant: seen.has(name) ? name : OTHERS, limit });
    },
  };
}
