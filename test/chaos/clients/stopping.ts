// Workers that are stopped and, a while later, started again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './crowd.ts';
import { write } from './inputs.ts';
import { post, toPost } from './posting.ts';
import type { Random } from '../random.ts';
import type { Moment, Posted, Stop } from '../world/world.ts';

/** One at a time for each worker, so that it is known when it is stopped. */
export async function stopAndStart(client: Client, { tag, contextId }: Posted): Promise<void> {
  const { ask, random, crowd } = client;
  await sleep(random.between(0, 1_500));
  const context = await ask.insist('GET', `/api/contexts/${contextId}`);
  if (context === null || crowd.stops.some((one) => one.contextId === contextId && one.started === null)) return;
  const path = `/api/workers/${String(context.body['worker_id'])}`;
  const stop: Stop = { contextId, asked: now(), stopped: null, startRequested: null, started: null };
  crowd.stops.push(stop);
  const stopped = await ask.insist('POST', `${path}/stop`, undefined, `stop-${tag}`);
  if (stopped === null) return;
  stop.stopped = { ...now(), reported: String(stopped.body['state']) };
  if (random.chance(0.6)) await post(client, inputWhileStopped(`${tag}-knocks`, contextId, random));
  await sleep(random.between(0, 2_500));
  stop.startRequested = now();
  const started = await ask.insist('POST', `${path}/start`, undefined, `start-${tag}`);
  if (started !== null) stop.started = { ...now(), reported: String(started.body['state']) };
}

/** An input that arrives while the worker is stopped. */
function inputWhileStopped(tag: string, contextId: string, random: Random): Posted {
  const delivery = random.pick(['queue', 'steer', 'interrupt'] as const);
  return { ...toPost(tag, contextId, write(tag, random, true, false)), delivery };
}

function now(): Moment {
  return { at: performance.now(), wall: Date.now() };
}
