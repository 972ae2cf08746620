// Postgres fails in the middle of work, briefly or for long: everything continues by itself, nothing is lost, nothing
// is sent or done twice, and accepted inputs are answered exactly once.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { depth } from '../../services/depth.ts';
import { expectEndInTime } from './terminated-in-outage.ts';
import { expectBalanced, startLedger } from './ledger.ts';
import {
  CALLS,
  LONG,
  LONG_LEASE,
  SCRIPT,
  SHORT_LEASE,
  databaseOn,
  endAll,
  expectGoodLogs,
  SHORT_REQUEST,
  expectOnce,
  openPlatform,
  redis,
  say,
  sharedPostgres,
  type OutagePlatform,
} from './outage-platform.ts';
import type { OwnService } from '../../services/own-service.ts';
import { until } from '../rig/until.ts';

/** Inputs that are accepted between two faults. */
const SOME = depth(6, 20);

const server = sharedPostgres();
afterAll(() => server.remove());

describe.skipIf(!redis)('on one platform whose lease no outage outlasts', () => {
  let service: OwnService;
  let platform: OutagePlatform;
  beforeAll(async () => {
    service = await server.get();
    platform = await openPlatform(await databaseOn(service), { ...LONG_LEASE, ...SHORT_REQUEST });
  });
  afterAll(endAll);

  test(
    'Postgres is restarted and killed in the middle of work: the API reports it, and everything continues',
    LONG,
    async () => {
      const ledger = await startLedger(platform, { contexts: 6, script: SCRIPT });
      for (const blow of ['stop', 'kill'] as const) {
        await ledger.more(SOME);
        await service[blow]();
        await until(
          'the API to say that Postgres is away',
          async () => (await platform.client.status('/readyz')) === 503,
        );
        await until('a refused input', () => (ledger.answers.get(503) ?? 0) > 0);
        ledger.answers.delete(503);
        await service.start();
        const begun = performance.now();
        await ledger.more(1);
        say(`after ${blow}: the next input was accepted ${Math.round(performance.now() - begun)} ms later`);
      }
      await ledger.more(SOME);
      await ledger.stop();
      await platform.environment.settled();
      expect([...ledger.answers.keys()].filter((status) => ![202, 503].includes(status))).toEqual([]);
      const unknown = await expectBalanced(platform.environment, ledger, CALLS);
      say(`Postgres restarted twice: ${ledger.accepted.size} inputs accepted, ${unknown} outcomes unknown`);
      expectOnce(platform.environment);
      expect(platform.workers.map((worker) => worker.ended())).toEqual([null, null]);
      expectGoodLogs(platform);
    },
  );

  test('Postgres is silent for less than the lease: every run continues where it was', LONG, async () => {
    const ledger = await startLedger(platform, { contexts: 6, script: SCRIPT });
    await ledger.more(SOME);
    await service.pause();
    await until('the API to give up', async () => (ledger.answers.get(503) ?? 0) > 0);
    await sleep(1_500);
    await service.resume();
    await ledger.more(SOME);
    await ledger.stop();
    await platform.environment.settled();
    expect(await expectBalanced(platform.environment, ledger, CALLS)).toBe(0);
    expectOnce(platform.environment);
    expectGoodLogs(platform);
  });
});

describe.skipIf(!redis)('on a platform of its own', () => {
  afterEach(endAll);

  test('Postgres is silent for longer than the lease: runs are abandoned, and each is resumed once', LONG, async () => {
    const service = await server.get();
    const platform = await openPlatform(await databaseOn(service), { ...SHORT_LEASE, ...SHORT_REQUEST });
    const ledger = await startLedger(platform, { contexts: 6, script: SCRIPT });
    await ledger.more(SOME);
    await service.pause();
    await Promise.all(platform.workers.map((worker) => worker.says(/ending all runs|a heartbeat was missed/)));
    await sleep(Number(SHORT_LEASE.NIGHTSHIFT_LEASE_MS) + 1_000);
    await service.resume();
    const begun = performance.now();
    await ledger.more(SOME);
    say(`after the silence: ${SOME} inputs accepted within ${Math.round(performance.now() - begun)} ms`);
    await ledger.stop();
    await platform.environment.settled();
    const unknown = await expectBalanced(platform.environment, ledger, CALLS);
    say(`Postgres silent beyond the lease: ${ledger.accepted.size} inputs accepted, ${unknown} outcomes unknown`);
    expectOnce(platform.environment);
    expectGoodLogs(platform, /declared dead|ending all runs/);
  });

  test('processes that are terminated while Postgres is silent end in time', LONG, async () => {
    const service = await server.get();
    await expectEndInTime(service, await databaseOn(service), SOME);
  });
});
