/**
 * A worker process: sends heartbeats, consumes wake-ups, sweeps. All parts start and drain together. During a drain
 * each run releases its context at the next safe point, so that other processes continue it at once.
 */
import { setTimeout } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import { parseFigures } from '../../core/figures.ts';
import type { QueueConsumer } from '../../queue/wake-queue.ts';
import type { ServerWatch } from '../../tools/registry/servers.ts';
import { createAppender } from '../run/appender.ts';
import { SubscriberRegistry } from './subscriber-registry.ts';
import { ReportWriter } from '../reports/report-writer.ts';
import { createClaimer } from '../run/claimer.ts';
import { DatabaseClock } from './clock.ts';
import { ProcessControl } from './registration/control.ts';
import { FollowUps } from './follow-ups.ts';
import { Fingerprints } from '../run/fingerprints.ts';
import { Heartbeat } from './registration/heartbeat.ts';
import { Tenants } from './tenants.ts';
import { createTenantRemover } from './tenant-remover.ts';
import { Throttles } from './throttles.ts';
import { createHousekeeper } from './housekeeper.ts';
import { createIndexer } from './indexer.ts';
import { withMetrics } from './metrics/with-metrics.ts';
import { createWorkerMetrics, processFigures, type WorkerMetrics } from './metrics/metrics.ts';
import type { WorkerPorts, WorkerState } from './ports.ts';
import { Registry } from './registry.ts';
import { Dispatcher } from '../scheduling/dispatcher.ts';
import { createScheduleRunner } from '../scheduling/schedule-runner.ts';
import { TenantShares } from '../scheduling/tenant-shares.ts';
import { Slots } from '../scheduling/slots.ts';
import { OutboxRelay } from '../outbox/outbox-relay.ts';
import { WebhookSender } from '../webhooks/sender.ts';
import { Sweep } from './sweep.ts';

/**
 * Share of the drain time for which the process waits for tools that may run again elsewhere. Model calls and `once`
 * tools get the whole time: a second model call would cost again, and a `once` tool must not run twice.
 */
const TIMEOUT_SHARE = 0.2;

/**
 * Time to release contexts after the drain time, in milliseconds. If the database is unavailable for longer, the sweeps
 * of other processes take over.
 */
const GIVING_BACK_MS = 2_000;

/** How long runs that lost their lease have to end, in milliseconds. */
const LETTING_GO_MS = 500;

export type WorkerProcess = {
  /** Number of contexts that run here now. */
  running(): number;
  /** Releases all contexts and ends, within `times.drainMs` plus a few seconds. Idempotent. */
  drain(): Promise<void>;
};

/** `reserved`: slots beyond `concurrency`, for tenants that run nothing in this process. */
export type Capacity = { concurrency: number; reserved: number };

/**
 * `signal`: ends a start that waits for the database. `onDrainRequest`: ends the process, because the operator asked for
 * it; without it the process cannot be drained by a request.
 */
export type Lifetime = { signal?: AbortSignal; onDrainRequest?: () => void };

/**
 * Resolves once the process can claim contexts. Rejects with the reason of the signal if it waits for the database then.
 * After a failure nothing of it runs.
 */
export async function startWorkerProcess(
  ports: WorkerPorts,
  { concurrency, reserved }: Capacity,
  { signal, onDrainRequest }: Lifetime = {},
): Promise<WorkerProcess> {
  const registry = new Registry();
  const shares = new TenantShares(ports.abilities.team.tenantLimits.slots ?? null);
  const slots = new Slots(shares, concurrency, reserved);
  const tenants = new Tenants(shares, registry);
  const clock = new DatabaseClock();
  const subscribers = new SubscriberRegistry();
  const metrics = createWorkerMetrics(slots, ports.abilities.published.tools, { ofProcess: processFigures() });
  ports.telemetry.addFigures(async () => parseFigures(await metrics.readOwn()));
  const abilities = withMetrics(ports.abilities, metrics);
  const throttles = new Throttles({ ...ports, abilities }, clock, metrics);
  const control = new ProcessControl({ slots, log: ports.log, onDrainRequest: onDrainRequest ?? null });
  const heartbeat = new Heartbeat({ ...ports, registry, subscribers, clock, throttles, tenants, metrics, control });
  const identity = () => heartbeat.identity();
  const appender = createAppender(ports.database.db);
  const claimer = createClaimer({ ...ports, abilities, clock, registry, slots });
  const followUps = new FollowUps(ports);
  const webhookSender = new WebhookSender({ ...ports, identity });
  const fingerprints = new Fingerprints(ports.database.db, ports.log);
  const state: WorkerState = {
    ...ports,
    abilities,
    appender,
    claimer,
    registry,
    slots,
    subscribers,
    clock,
    throttles,
    tenants,
    metrics,
    followUps,
    webhookSender,
    fingerprints,
    reports: new ReportWriter(ports.database.db, ports.log),
    identity,
  };
  const dispatcher = new Dispatcher(state);
  const sweep = new Sweep(state, dispatcher);
  const housekeeper = createHousekeeper(state);
  const indexer = createIndexer(state);
  const tenantRemover = createTenantRemover(state);
  const schedules = createScheduleRunner(state);
  const { outboxes } = ports;
  const relays = outboxes.all.map((outbox) => new OutboxRelay(state, outbox, outboxes.open(outbox)));
  const failed = new AbortController();
  const starting = [
    heartbeat.start(signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal])),
    throttles.start(),
    followUps.start(),
    schedules.subscribe(),
    ...relays.map((relay) => relay.subscribe()),
    ports.servers.start(watchServers(metrics, registry), registry),
  ];
  const listening = Promise.all(starting).then(() =>
    ports.queue.listen((contextId, isNew) => dispatcher.wake(contextId, isNew), concurrency),
  );
  const listener = await listening.catch(async (error: unknown) => {
    failed.abort(error);
    await Promise.allSettled(starting);
    await followUps.stop();
    await schedules.stop();
    await Promise.all(relays.map((relay) => relay.stop()));
    await stopLast(state, heartbeat);
    throw error;
  });
  control.attach(listener);
  dispatcher.start();
  sweep.start();
  housekeeper.start();
  indexer.start();
  tenantRemover.start();
  schedules.start();
  for (const relay of relays) relay.start();
  webhookSender.start();
  const beside = [
    dispatcher,
    sweep,
    housekeeper,
    indexer,
    tenantRemover,
    schedules,
    followUps,
    webhookSender,
    ...relays,
  ];
  let draining: Promise<void> | null = null;
  return {
    running: () => slots.running,
    drain: () => {
      control.begunDraining();
      return (draining ??= drain(state, listener, beside, heartbeat));
    },
  };
}

/** When MCP servers come up, the process tries the contexts again that may need them. */
function watchServers({ servers }: WorkerMetrics, { unsupported }: Registry): ServerWatch {
  return {
    ...servers,
    up(server, isUp) {
      servers.up(server, isUp);
      if (isUp) unsupported.clear();
    },
    ready: (contextId) => unsupported.delete(contextId),
  };
}

async function drain(
  state: WorkerState,
  listener: QueueConsumer,
  beside: readonly { stop(): Promise<void> }[],
  heartbeat: Heartbeat,
): Promise<void> {
  const { registry, slots, times, log } = state;
  log.info({ runs: registry.running }, 'draining');
  slots.close();
  registry.close();
  void listener.pause().catch(() => undefined);
  const timeout = new AbortController();
  const outOfTime = setTimeout(times.drainMs * TIMEOUT_SHARE, undefined, { signal: timeout.signal })
    .then(() => registry.abortSoft())
    .then(() => setTimeout(times.drainMs * (1 - TIMEOUT_SHARE), undefined, { signal: timeout.signal }))
    .then(() => registry.end())
    .then(() => setTimeout(GIVING_BACK_MS, undefined, { signal: timeout.signal }))
    .then(() => registry.loseAll())
    .then(() => setTimeout(LETTING_GO_MS, undefined, { signal: timeout.signal }))
    .catch(() => undefined);
  // A sweep or a claim may wait for a silent database for any time, so the time limits apply to them too.
  const stopped = Promise.all(beside.map((one) => one.stop()));
  await Promise.race([stopped.then(() => registry.emptied()), outOfTime]);
  timeout.abort();
  await outOfTime;
  await state.reports.stop();
  await pTimeout(listener.close(), { milliseconds: GIVING_BACK_MS }).catch(() => undefined);
  await stopLast(state, heartbeat);
  log.info({ runs: registry.running }, 'drained');
}

async function stopLast({ throttles, servers }: WorkerState, heartbeat: Heartbeat): Promise<void> {
  await heartbeat.stop();
  throttles.stop();
  await servers.stop();
}
