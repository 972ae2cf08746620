/**
 * Metrics for Prometheus: of this process, its requests and streams, of queued work in PostgreSQL, and of live worker
 * processes. Worker processes store their metrics in PostgreSQL; their series have the label `process`.
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { parseFigures } from '../../core/figures.ts';
import { forTenant } from '../../db/connection/tenant-setting.ts';
import { countThrottles } from '../../db/processes/throttles.ts';
import { readFigures } from '../../db/processes/figures.ts';
import { readLoad } from '../../db/read/installation/stats-views.ts';
import { within } from '../server/deadline.ts';
import { writeFigures } from './figures.ts';
import { isStream } from '../server/log.ts';
import { openTenantFigures } from './tenant-figures.ts';
import { limitOf } from '../response/reads.ts';
import type { ApiPorts, App } from '../server/ports.ts';
import type { Streams } from '../response/streams.ts';

export type Metrics = {
  contentType: string;
  /** The text of all metrics. If PostgreSQL does not answer, only those of this process. */
  scrape(): Promise<string>;
  /** A request was refused because of a limit of its tenant. */
  quotaExceeded(tenant: string, limit: string): void;
  observe(route: { method: string; route: string; status: number }, seconds: number): void;
};

type MeasuredPorts = Pick<ApiPorts, 'database' | 'times' | 'config' | 'streamHub' | 'telemetry'> & { streams: Streams };

/** Timeout of the queries to PostgreSQL, in milliseconds. */
const { statementMs: COUNT_MS } = limitOf('getMetrics');

export function openMetrics(ports: MeasuredPorts): Metrics {
  const { database, times } = ports;
  const registry = new Registry();
  const registers = [registry];
  // Only scrapes read them: each reading begins the next figures of the event loop.
  const ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  const requests = new Histogram({
    name: 'nightshift_http_request_seconds',
    help: 'Duration of HTTP requests in seconds.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers,
  });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const jobs = gauge('nightshift_jobs', 'Queued, running and waiting jobs.', ['status']);
  const contexts = gauge('nightshift_contexts', 'Contexts that are not idle.', ['status']);
  const throttles = gauge('nightshift_provider_throttles', 'Models that are throttled.', ['provider']);
  const workers = gauge('nightshift_worker_processes', 'Live worker processes.');
  const up = gauge('nightshift_database_up', 'Whether PostgreSQL answered this scrape (1 or 0).');
  const tenants = openTenantFigures(ports, registers);
  const setStreams = streamFigures(ports, registers);
  const read = () =>
    database.read((tx) => Promise.all([readLoad(tx), countThrottles(tx), readFigures(tx, times)]), {
      statementMs: COUNT_MS,
      signal: AbortSignal.timeout(COUNT_MS),
    });
  /** `live`: the metrics of worker processes. */
  const collect = async () => {
    const [stored] = await Promise.all([within(COUNT_MS, read()).catch(() => null), tenants.read(COUNT_MS)]);
    const [load, closed, live] = stored ?? [null, new Map<string, number>(), []];
    setStreams();
    for (const figure of [jobs, contexts, throttles, workers]) figure.reset();
    up.set(load === null ? 0 : 1);
    for (const [status, count] of Object.entries(load?.jobs ?? {})) jobs.set({ status }, count);
    for (const [status, count] of Object.entries(load?.contexts ?? {})) contexts.set({ status }, count);
    for (const [provider, count] of closed) throttles.set({ provider }, count);
    workers.set(live.length);
    const own = parseFigures(await registry.getMetricsAsJSON());
    return { own, live };
  };
  // No request asks, so nothing else has said for which tenants row security counts.
  ports.telemetry.addFigures(() => forTenant(null, async () => (await collect()).own));
  return {
    contentType: registry.contentType,
    async scrape() {
      const { own, live } = await collect();
      const process = parseFigures(await ofProcess.getMetricsAsJSON());
      const theirs = live.flatMap(({ id, figures }) => parseFigures(figures, id.slice(-8)));
      return writeFigures([...own, ...process, ...theirs]);
    },
    quotaExceeded: (tenant, limit) => tenants.exceeded(tenant, limit),
    observe: (labels, seconds) => requests.observe(labels, seconds),
  };
}

/** Returns a function that updates the metrics of streams. */
function streamFigures({ streams, streamHub }: MeasuredPorts, registers: Registry[]): () => void {
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const open = new Gauge({ name: 'nightshift_streams', help: 'Open event streams.', registers });
  const sent = counter('nightshift_stream_events_total', 'Events sent to streams.');
  const dropped = counter(
    'nightshift_streams_dropped_total',
    'Streams that were dropped because their client did not read.',
  );
  const resyncs = counter(
    'nightshift_stream_resyncs_total',
    'Reads from PostgreSQL because the event bus had missed events.',
  );
  return () => {
    const figures = streams.figures();
    open.set(figures.open);
    for (const [figure, count] of [
      [sent, figures.sent],
      [dropped, figures.dropped],
      [resyncs, streamHub.resyncs()],
    ] as const) {
      figure.reset();
      figure.inc(count);
    }
  };
}

export function measureRequests(app: App, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    if (isStream(request, reply)) return;
    const { method, routeOptions } = request;
    const labels = { method, route: routeOptions.url ?? 'unknown', status: reply.statusCode };
    metrics.observe(labels, reply.elapsedTime / 1_000);
  });
}
