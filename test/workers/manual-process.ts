// A worker process without background work: no heartbeats, no sweeps, no queue consumer. A test that has its state runs
// contexts explicitly.
import { createFingerprinter } from '../../src/core/model/fingerprint.ts';
import type { ProcessId } from '../../src/core/ids.ts';
import { digest } from '../../src/db/model-calls/digest.ts';
import { createAppender } from '../../src/workers/run/appender.ts';
import { ReportWriter } from '../../src/workers/reports/report-writer.ts';
import { SubscriberRegistry } from '../../src/workers/process/subscriber-registry.ts';
import { createClaimer } from '../../src/workers/run/claimer.ts';
import { DatabaseClock } from '../../src/workers/process/clock.ts';
import { FollowUps } from '../../src/workers/process/follow-ups.ts';
import { Tenants } from '../../src/workers/process/tenants.ts';
import { Throttles } from '../../src/workers/process/throttles.ts';
import { createWorkerMetrics } from '../../src/workers/process/metrics/metrics.ts';
import { WebhookSender } from '../../src/workers/webhooks/sender.ts';
import type { WorkerPorts, WorkerState } from '../../src/workers/process/ports.ts';
import { Registry } from '../../src/workers/process/registry.ts';
import { TenantShares } from '../../src/workers/scheduling/tenant-shares.ts';
import { Slots } from '../../src/workers/scheduling/slots.ts';

const fingerprinter = createFingerprinter(digest);

/** Stores no tool lists: their statement is not awaited and would come between those whose order a test decides. */
export const QUIET_FINGERPRINTS: WorkerState['fingerprints'] = {
  of: (_, sent, memory) => fingerprinter.of(sent, memory),
};

/** The shared state of a process, as `startWorkerProcess` builds it. Its row exists already. */
export function manualState(ports: WorkerPorts, id: ProcessId, capacity: number): WorkerState {
  const registry = new Registry();
  const slots = new Slots(new TenantShares(), capacity);
  const clock = new DatabaseClock();
  const metrics = createWorkerMetrics(slots, []);
  return {
    ...ports,
    appender: createAppender(ports.database.db),
    claimer: createClaimer({ ...ports, clock, registry, slots }),
    registry,
    slots,
    subscribers: new SubscriberRegistry(),
    clock,
    metrics,
    throttles: new Throttles(ports, clock, metrics),
    tenants: new Tenants(slots.shares, registry),
    followUps: new FollowUps(ports),
    webhookSender: new WebhookSender({ ...ports, identity: () => id }),
    fingerprints: QUIET_FINGERPRINTS,
    reports: new ReportWriter(ports.database.db, ports.log),
    identity: () => id,
  };
}
