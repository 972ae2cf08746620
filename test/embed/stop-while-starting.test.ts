import { setTimeout } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openWorker } from '../../src/embed/worker.ts';
import { Heartbeat } from '../../src/workers/process/registration/heartbeat.ts';

/** A database that refuses every statement, and counts its open connections. */
function openAway() {
  let open = 0;
  const ports = {
    openHeartbeatConnection: () => {
      open += 1;
      const execute = async (): Promise<never> => {
        throw new Error('ECONNREFUSED');
      };
      return { db: { execute }, close: async () => void (open -= 1) };
    },
    abilities: { published: {} },
    ids: { next: () => 'id' },
    log: pino({ level: 'silent' }),
    times: { heartbeatIntervalMs: 60_000, leaseMs: 30_000 },
  };
  return { heartbeat: new Heartbeat(ports as never), open: () => open };
}

test('a heartbeat that waits for the database ends with the signal, and closes its connection', async () => {
  const { heartbeat, open } = openAway();
  const leaving = new AbortController();
  const starting = heartbeat.start(leaving.signal);
  starting.catch(() => undefined);
  await setTimeout(10);
  leaving.abort(new Error('stopped'));
  await expect(starting).rejects.toThrow('stopped');
  await heartbeat.stop();
  expect(open()).toBe(0);
});

test('stop ends a start of the worker that waits for the database', async () => {
  const startWorker: Parameters<typeof openWorker>[0]['startWorker'] = ({ signal } = {}) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  const worker = openWorker({ startWorker }, []);
  const code = worker.start().catch((error: unknown) => (error as { code: string }).code);
  await worker.stop();
  expect(await code).toBe('stopped');
});
