// Nightshift within this process: tools that are closures, calls without HTTP, several instances.
import { expect, test } from 'vitest';
import type { Client } from '../../src/client/index.ts';
import { defineConfig, type Nightshift } from '../../src/index.ts';
import { createEmptyDatabase } from '../services/database.ts';
import { afterTest, openNightshift } from './opened.ts';

/** A job of a new worker, when it has ended. */
async function ended(client: Client, input: string, config: object = {}) {
  const { job_id } = await client.workers.create({
    name: 'w',
    config: { model: 'simulated/default', ...config },
    input,
  });
  return client.jobs.wait(job_id);
}

test('a worker runs tools that are closures over objects of the service', async () => {
  const orders = new Map([['A-17', { shipped: false }]]);
  const config = defineConfig({
    tools: [
      {
        name: 'ship',
        description: 'Ships an order.',
        input_schema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
        effect: 'once',
        execute({ order }, { tenant }) {
          orders.set(order, { shipped: true });
          return `shipped for ${tenant}`;
        },
      },
    ],
  });
  const nightshift = await openNightshift({ config });
  await nightshift.startWorker();
  const acme = nightshift.tenant('acme');
  const script = 'call: ship {"order": "A-17"}\n---\nsay: done';
  const job = await ended(acme, script, { tools: ['ship'] });
  expect(job).toMatchObject({ status: 'completed', output: { text: 'done' } });
  expect(orders.get('A-17')).toEqual({ shipped: true });
});

test('every call names a tenant, and sees no other', async () => {
  const nightshift = await openNightshift();
  const [acme, other] = [nightshift.tenant('acme'), nightshift.tenant('other')];
  const { id } = await acme.workers.create({ name: 'w' });
  expect((await acme.workers.get(id)).name).toBe('w');
  await expect(other.workers.get(id)).rejects.toMatchObject({ code: 'not_found', status: 404 });
  expect(() => nightshift.tenant('a b')).toThrow(expect.objectContaining({ code: 'invalid_options' }));
});

test('a client of a user sees the contexts of this user alone', async () => {
  const nightshift = await openNightshift();
  const acme = nightshift.tenant('acme');
  const [alice, bob] = ['alice', 'bob'].map((user) => nightshift.tenant('acme', { user }));
  const { context_id } = (await alice?.workers.create({ name: 'w' })) ?? { context_id: '' };
  expect((await alice?.contexts.get(context_id))?.id).toBe(context_id);
  await expect(bob?.contexts.get(context_id)).rejects.toMatchObject({ code: 'not_found' });
  expect((await acme.contexts.get(context_id)).id).toBe(context_id);
  await expect(alice?.keys.create({ name: 'k', scopes: ['read'] })).rejects.toMatchObject({ code: 'forbidden' });
});

test('events stream without HTTP, and end when the reader leaves', async () => {
  const nightshift = await openNightshift();
  await nightshift.startWorker();
  const acme = nightshift.tenant('acme');
  const config = { model: 'simulated/default' };
  const { context_id } = await acme.workers.create({ name: 'w', config, input: 'say: streamed' });
  const names: string[] = [];
  for await (const { event } of acme.contexts.events(context_id, {
    after: 0,
    until: ({ event: e }) => e === 'JobFinished',
  }))
    names.push(event);
  expect(names.at(-1)).toBe('JobFinished');
  expect(names).toContain('MessageCompleted');
});

test('two instances with schemas of their own run beside each other', async () => {
  const database = await createEmptyDatabase();
  afterTest(() => database.drop());
  const made: string[] = [];
  const one = (schema: string): Promise<Nightshift> =>
    openNightshift({
      databaseUrl: database.url,
      schema,
      migrate: true,
      config: defineConfig({
        tools: [
          {
            name: 'note',
            description: 'Notes the instance.',
            input_schema: { type: 'object' },
            effect: 'none',
            execute: () => made.push(schema),
          },
        ],
      }),
    });
  const instances = [await one('first_agents'), await one('second_agents')];
  for (const instance of instances) await instance.startWorker();
  const script = 'call: note {}\n---\nsay: done';
  const jobs = await Promise.all(instances.map((each) => ended(each.tenant('acme'), script, { tools: ['note'] })));
  expect(jobs.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(made.toSorted()).toEqual(['first_agents', 'second_agents']);
  await instances[0]?.stop();
  const [, second] = instances;
  if (second === undefined) throw new Error('there is no second instance');
  expect(await ended(second.tenant('acme'), 'say: still here')).toMatchObject({ status: 'completed' });
});
