// Processes that are terminated while a service is silent.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { OwnService } from '../../services/own-service.ts';
import { expectBalanced, startLedger } from './ledger.ts';
import { CALLS, SCRIPT, SHORT_REQUEST, expectOnce, openPlatform, say } from './outage-platform.ts';
import { startWorker } from '../rig/platform.ts';
import type { Own } from '../rig/environment.ts';

/** `service` is silent; a platform of its own runs on it. */
export async function expectEndInTime(service: OwnService, own: Own, inputs: number): Promise<void> {
  const platform = await openPlatform(own, { NIGHTSHIFT_DRAIN_MS: '2000', ...SHORT_REQUEST });
  const { environment } = platform;
  const ledger = await startLedger(platform, { contexts: 4, script: SCRIPT });
  await ledger.more(inputs);
  await service.pause();
  const begun = performance.now();
  const ends = [platform.api, ...platform.workers].map(async (child) => {
    child.signal('SIGTERM');
    const end = await child.exited;
    return { ...end, ms: performance.now() - begun };
  });
  const late = sleep(20_000).then(() => null);
  const ended = await Promise.all(ends.map((end) => Promise.race([end, late])));
  say(
    `terminated in the silence: ended in ${ended.map((end) => (end === null ? 'no time' : `${Math.round(end.ms)} ms`)).join(', ')}`,
  );
  await service.resume();
  expect(ended.map((end) => end?.code)).toEqual([0, 0, 0]);
  await ledger.abandon();
  const worker = await startWorker(platform.env);
  await environment.settled();
  await expectBalanced(environment, ledger, CALLS);
  expectOnce(environment);
  worker.signal('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
}
