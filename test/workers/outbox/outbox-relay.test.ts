// The relay of a worker process: it looks by itself, and a database that is away holds up nothing.
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { onTestFinished, expect, test } from 'vitest';
import { submissionsDue } from '../../../src/bus/bus.ts';
import { localBus } from '../../../src/bus/local.ts';
import { DEFAULT_TENANT_NAME } from '../../../src/core/ids.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { createWorkerMetrics } from '../../../src/workers/process/metrics/metrics.ts';
import { OutboxRelay } from '../../../src/workers/outbox/outbox-relay.ts';
import { given, ids, type Given } from '../../db/database-fixture.ts';
import { newWorker } from '../../db/submissions/submissions-fixture.ts';
import { until } from '../../e2e/rig/until.ts';
import { OUTBOX_SCHEMA, createServiceDatabase, type ServiceDatabase } from '../../services/outbox.ts';

const SOON_MS = 20;
const NEVER_MS = 3_600_000;

type Line = { msg: string; code?: string; reason?: string };

async function started(lookMs: number, openOutbox: (service: ServiceDatabase) => Promise<Database>) {
  const [the, service] = await Promise.all([given(), createServiceDatabase()]);
  onTestFinished(async () => {
    await Promise.all([the.close(), service.close()]);
  });
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const registry = new Registry();
  const metrics = createWorkerMetrics({ running: 0, capacity: 0 }, [], { registry });
  const bus = localBus();
  const outbox = await openOutbox(service);
  const settings = { name: 'shop', url: service.url, schema: OUTBOX_SCHEMA, tenants: [DEFAULT_TENANT_NAME] };
  const state = { database: the.database, bus, log, metrics, random: () => 0.5 };
  const relay = new OutboxRelay(state, settings, outbox, lookMs);
  await relay.subscribe();
  relay.start();
  onTestFinished(() => relay.stop());
  return { the, service, lines, registry, bus, relay };
}

const submit = (service: ServiceDatabase) => {
  const body = JSON.stringify({ job_id: ids.next(), message_id: ids.next(), ...newWorker() });
  return service.sql`select nightshift.nightshift_submit_v1(${DEFAULT_TENANT_NAME}, ${body})`;
};
const isRelayed = (the: Given) => async () => (await the.rows('select 1 from submissions')).length > 0;

test('an outbox that is installed later is relayed then, and the log says both once', async () => {
  const { the, service, lines, registry } = await started(SOON_MS, async (own) => own.open());
  await until('the first line', () => lines.length > 0);
  await service.install();
  await submit(service);
  await until('the submission', isRelayed(the));
  await until('the second line', () => lines.length > 1);
  expect(lines.map(({ msg }) => msg)).toEqual(['could not relay an outbox', 'the outbox is relayed again']);
  expect(lines[0]).toMatchObject({
    code: 'not_installed',
    reason: 'The database has no outbox in this schema. Run `nightshift outbox install`.',
  });
  const counted = 'nightshift_outbox_relayed_total{outbox="shop"} 1\n';
  await until('the metric', async () => (await registry.metrics()).includes(counted));
  expect(await registry.metrics()).toContain('nightshift_outbox_up{outbox="shop"} 1\n');
});

test.each([
  ['of any kind', ''],
  ['on the tables', 'grant usage on schema nightshift to relay'],
  [
    'to delete rows',
    'grant usage on schema nightshift to relay; grant select, update on all tables in schema nightshift to relay',
  ],
])('a login without rights %s is named as the reason', async (_, grants) => {
  const role = `relay_${randomUUID().slice(0, 8)}`;
  const { service, lines, relay } = await started(SOON_MS, async (own) => {
    await own.install();
    await own.sql.unsafe(
      `create role ${role} login password 'of-tests'; ${grants.replaceAll('to relay', `to ${role}`)}`,
    );
    const url = Object.assign(new URL(own.url), { username: role, password: 'of-tests' }).href;
    return openDatabase(url, { max: 1, schema: OUTBOX_SCHEMA });
  });
  await until('the line', () => lines.length > 0);
  expect(lines[0]).toMatchObject({
    code: 'not_granted',
    reason: 'The login may not relay this outbox. Run `nightshift outbox install … --relay <login>`.',
  });
  await relay.stop();
  await service.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
});

test('an outbox that a newer version upgrades, or that is installed again, is noticed by a running process', async () => {
  const { the, service, lines } = await started(SOON_MS, async (own) => {
    await own.install();
    return own.open();
  });
  await submit(service);
  await until('the submission', isRelayed(the));
  await service.sql`update nightshift.outbox_about set version = 2`;
  await submit(service);
  await until('the first line', () => lines.length > 0);
  expect(lines[0]).toMatchObject({
    code: 'newer_version',
    reason: 'A newer version of Nightshift has made the outbox. Upgrade the worker processes.',
  });
  expect(await service.rows()).toHaveLength(1);
  await service.sql`update nightshift.outbox_about set version = 1`;
  await until('the second line', () => lines.length > 1);
  await until('the relay', async () => (await service.rows()).length === 0);
  await service.sql`update nightshift.outbox_about set id = gen_random_uuid()`;
  await submit(service);
  await until('the lines', () => lines.length > 3);
  expect(lines.slice(1).map(({ msg, code }) => code ?? msg)).toEqual([
    'the outbox is relayed again',
    'replaced',
    'the outbox is relayed again',
  ]);
});

test('a database that is away: one line, a metric, and a stop that does not wait for it', async () => {
  const away = 'postgres://x:hidden@127.0.0.1:1/x';
  const { lines, registry, relay } = await started(SOON_MS, async () => openDatabase(away, { max: 1 }));
  await until('the metric', async () => (await registry.metrics()).includes('outbox_up{outbox="shop"} 0'));
  await relay.stop();
  expect(lines).toMatchObject([{ msg: 'could not relay an outbox', code: 'ECONNREFUSED' }]);
  expect(JSON.stringify(lines)).not.toContain('hidden');
});

test('an announcement leads to a look', async () => {
  let looks = 0;
  const hook = (text: string): void => void (text.includes('from outbox o') && (looks += 1));
  const { the, service, bus } = await started(NEVER_MS, async (own) => {
    await own.install();
    return own.open({ hook });
  });
  // The first look has found nothing, and the next one would come in an hour.
  await until('the first look', () => looks > 0);
  await submit(service);
  bus.publish(submissionsDue(), {});
  await until('the submission', isRelayed(the));
});
