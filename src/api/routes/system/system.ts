/** Health, readiness, metrics, statistics and the OpenAPI document. */
import { countLive } from '../../../db/processes/processes.ts';
import { describeSchemaProblem, schemaState } from '../../../db/setup/schema-state.ts';
import { isLimited } from '../../../db/connection/client.ts';
import { readDemand, readStats } from '../../../db/read/installation/stats-views.ts';
import { within } from '../../server/deadline.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { refused } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { toIso } from '../../request/instant.ts';
import { WAIT_REASONS } from '../../../core/run/wait-reason.ts';
import { ref } from '../../../schema/build.ts';
import { Health, Load, MetricsText, OpenApiDocument, Readiness, Stats } from '../../schemas/system/system.ts';

const tags = ['system'];

/** Timeout of the readiness checks of PostgreSQL and Redis, in milliseconds. */
const PROBE_MS = 2_000;

export function systemRoutes(app: App, ports: ApiPorts, metrics: Metrics): void {
  getHealthRoute(app);
  getReadinessRoute(app, ports);
  getMetricsRoute(app, metrics);
  getLoadRoute(app, ports);
  getStatsRoute(app, ports);
  getOpenapiRoute(app);
}

function getHealthRoute(app: App): void {
  app.get(
    '/healthz',
    {
      config: { access: 'open' },
      schema: {
        summary: 'Liveness: whether this process answers',
        operationId: 'getHealth',
        tags,
        security: [],
        response: { 200: ref(Health) },
      },
    },
    async () => ({ status: 'ok' as const }),
  );
}

function getReadinessRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/readyz',
    {
      config: { access: 'open' },
      schema: {
        summary: 'Readiness: PostgreSQL must answer and have all migrations; the queue (Redis) should answer',
        operationId: 'getReadiness',
        tags,
        security: [],
        response: { 200: ref(Readiness) },
      },
    },
    async () => {
      const { db } = ports.database;
      const login = isLimited(db) ? 'to be limited' : 'any';
      const [schema, queue] = await Promise.all([
        within(
          PROBE_MS,
          schemaState((statement) => db.execute(statement), login),
        ).catch(() => null),
        within(PROBE_MS, ports.wakeQueue.isReachable()).catch(() => false),
      ]);
      if (schema === null) throw refused('unavailable', 'PostgreSQL does not answer.');
      const problem = describeSchemaProblem(schema);
      if (problem !== null) throw refused('unavailable', problem);
      return queue
        ? ({ status: 'ok', postgres: 'ok', queue: 'ok' } as const)
        : ({ status: 'degraded', postgres: 'ok', queue: 'away' } as const);
    },
  );
}

function getMetricsRoute(app: App, metrics: Metrics): void {
  app.get(
    '/metrics',
    {
      config: { access: 'metrics' },
      schema: {
        summary: 'Metrics for Prometheus',
        operationId: 'getMetrics',
        tags,
        response: { 200: MetricsText },
      },
    },
    async (_, reply) => {
      reply.type(metrics.contentType);
      return metrics.scrape();
    },
  );
}

function getLoadRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/metrics/load',
    {
      config: { access: 'metrics' },
      schema: {
        summary: 'How many slots the work needs, of all tenants: for what adds and removes worker processes',
        operationId: 'getLoad',
        tags,
        response: { 200: ref(Load) },
      },
    },
    async (_, reply) => {
      const [{ running, runnable }, workers] = await readerOf(
        ports,
        reply,
      )((tx, last) => Promise.all([readDemand(tx), countLive(last, ports.times)]));
      return { slots_needed: running + runnable, running, runnable, worker_processes: workers };
    },
  );
}

function getStatsRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/stats',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'Numbers of queued, running and waiting jobs, and of contexts by state',
        operationId: 'getStats',
        tags,
        response: { 200: ref(Stats) },
      },
    },
    async ({ tenantId }, reply) => {
      const stats = await readerOf(ports, reply)((_, last) => readStats(last, tenantId));
      const { queued, running, waiting, byState, waits } = stats;
      const byReason = WAIT_REASONS.flatMap((reason) => {
        const known = waits.get(reason);
        return known === undefined ? [] : [{ reason, contexts: known.contexts, since: toIso(known.since) }];
      });
      return {
        queue_depth: queued,
        running,
        waiting,
        by_state: Object.fromEntries(byState),
        waits: byReason.toSorted((a, b) => b.contexts - a.contexts),
      };
    },
  );
}

function getOpenapiRoute(app: App): void {
  app.get(
    '/api/openapi.json',
    {
      config: { access: 'read', tokens: 'any' },
      schema: {
        summary: 'The OpenAPI document',
        operationId: 'getOpenapi',
        tags,
        response: { 200: OpenApiDocument },
      },
    },
    async () => app.swagger(),
  );
}
