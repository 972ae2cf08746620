/** Figures for Prometheus: the process, its requests, and what waits in Postgres. */
import { Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Database } from '../db/client.ts';
import { readLoad } from '../db/stats-views.ts';
import { within } from './deadline.ts';
import type { App } from './ports.ts';

export type Metrics = {
  contentType: string;
  /** The text of all figures. Without Postgres those of the process alone. */
  scrape(): Promise<string>;
  observe(route: { method: string; route: string; status: number }, seconds: number): void;
};

/** How long Postgres may take to count, in milliseconds. */
const COUNT_MS = 2_000;

export function openMetrics({ database }: { database: Database }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'nightshift_http_request_seconds',
    help: 'Requests, by how long they took.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers,
  });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const jobs = gauge('nightshift_jobs', 'Unfinished jobs.', ['status']);
  const contexts = gauge('nightshift_contexts', 'Contexts that do not rest.', ['status']);
  const up = gauge('nightshift_database_up', 'Whether Postgres answered this scrape.');
  return {
    contentType: registry.contentType,
    async scrape() {
      const load = await within(COUNT_MS, readLoad(database.db)).catch(() => null);
      jobs.reset();
      contexts.reset();
      up.set(load === null ? 0 : 1);
      for (const [status, count] of Object.entries(load?.jobs ?? {})) jobs.set({ status }, count);
      for (const [status, count] of Object.entries(load?.contexts ?? {})) contexts.set({ status }, count);
      return registry.metrics();
    },
    observe: (labels, seconds) => requests.observe(labels, seconds),
  };
}

export function measureRequests(app: App, metrics: Metrics): void {
  app.addHook('onResponse', async ({ method, routeOptions }, reply) => {
    const labels = { method, route: routeOptions.url ?? 'unknown', status: reply.statusCode };
    metrics.observe(labels, reply.elapsedTime / 1_000);
  });
}
