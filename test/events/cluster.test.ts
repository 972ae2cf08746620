// Redis Cluster: sharded channels, the queue's keys in one slot, and streams as on a single server.
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { isCluster } from '../../src/bus/redis-cluster.ts';
import { freePort } from '../../src/dev/free-port.ts';
import { until } from '../e2e/rig/until.ts';
import { containerById, startClusterContainer } from '../services/containers.ts';
import { openInstallation, runRedis } from './installation.ts';
import { addUp, numbered } from './sse-client.ts';

const hasContainers = inject('serviceContainers') !== null;
let cluster = { id: '', url: '' };
beforeAll(async () => {
  if (!hasContainers) return;
  cluster = await startClusterContainer(inject('testRun'), await freePort());
  await until('the cluster', () => isCluster(cluster.url));
});
afterAll(async () => {
  if (hasContainers) await (await containerById(cluster.id)).remove({ force: true, v: true });
});

test.runIf(hasContainers)('a cluster is recognised by the answer of the server', async () => {
  expect(await isCluster(cluster.url)).toBe(true);
  expect(await isCluster(runRedis() ?? '')).toBe(false);
  expect(await isCluster(`redis://127.0.0.1:${await freePort()}`)).toBe(false);
});

test.runIf(hasContainers)('two API processes and two workers: streams publish everything live', async () => {
  let publishes = 0;
  const installation = await openInstallation({
    apis: 2,
    workers: 2,
    redisUrl: cluster.url,
    cluster: true,
    bus: (bus) => ({
      ...bus,
      subscribe: (channel, receive) =>
        bus.subscribe(channel, (message) => {
          publishes += 1;
          receive(message);
        }),
    }),
  });
  try {
    const { id } = await installation.client.createContext({});
    const streams = await Promise.all([0, 1].map((api) => installation.listen(id, { after: 0 }, api)));
    const { job_id: first } = await installation.client.post(id, 'say: warm');
    await Promise.all(
      streams.map((one) => one.until(({ event, data }) => event === 'JobFinished' && data.job_id === first)),
    );
    const { job_id: job } = await installation.client.post(
      id,
      'tokens: 80 over 600ms\ncall: look {}\nthen:\nsay: done',
    );
    await Promise.all(
      streams.map((one) => one.until(({ event, data }) => event === 'JobFinished' && data.job_id === job)),
    );
    const stored = new Map(
      (await installation.client.messages(id)).map((message) => [
        message.id,
        message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      ]),
    );
    for (const { received } of streams) {
      const ids = numbered(received).map((one) => one.id);
      expect(ids).toEqual(ids.map((_, at) => at + 1));
      expect(received.filter(({ event }) => event === 'ContentDelta').length).toBeGreaterThan(5);
      for (const [message, { text }] of addUp(received)) expect(text).toBe(stored.get(message));
    }
    expect(await (await fetch(`${installation.servers[0]?.url}/readyz`)).json()).toMatchObject({
      queue: 'ok',
    });
    // It came by publishes, through channels of shards.
    expect(publishes).toBeGreaterThan(0);
  } finally {
    await installation.close();
  }
});
