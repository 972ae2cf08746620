// Transactional tools of an embedded instance: as the guide describes them, with Drizzle, and with a job of the same commit.
import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pg-proxy';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNightshift, defineTool, type Nightshift, type OperatorConfig } from '../../src/index.ts';
import { openShop, type Shop } from '../workers/run/transacting.ts';

let shop: Shop;
let nightshift: Nightshift | null = null;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(async () => {
  await nightshift?.stop();
  await shop.drop();
});

const bookings = pgTable('bookings', {
  id: integer('id'),
  callId: text('call_id'),
  note: text('note'),
});

const config = (isFull: () => boolean): OperatorConfig => ({
  tools: [
    defineTool({
      name: 'book',
      description: 'Books a room, and asks for a confirmation.',
      transactional: true,
      input_schema: { type: 'object', properties: { room: { type: 'string' } }, required: ['room'] },
      async execute({ room }, { tx, tenant, tool_call_id }) {
        const db = drizzle((statement, parameters, method) =>
          method === 'all' ? tx.values(statement, parameters) : tx.query(statement, parameters),
        );
        const [made] = await db
          .insert(bookings)
          .values({ callId: tool_call_id, note: room })
          .returning({ id: bookings.id, note: bookings.note });
        const { job_id } = await instance().enqueue(tx, {
          tenant,
          name: 'clerk',
          config: { model: 'simulated/default' },
          input: `say: confirmed ${room}`,
        });
        if (isFull()) throw new Error('It is full.');
        return { note: made?.note ?? null, job_id };
      },
    }),
  ],
});

function instance(): Nightshift {
  if (nightshift === null) throw new Error('no instance');
  return nightshift;
}

const rows = (what: string) => shop.database.db.execute(what);

test('a worker does not start without the login of the tools, and says what to do', async () => {
  const { url: databaseUrl } = shop;
  const options = { databaseUrl, logger: 'silent' as const, config: config(() => false) };
  const without = await createNightshift(options);
  await expect(without.startWorker()).rejects.toMatchObject({
    name: 'NightshiftStartError',
    code: 'invalid_options',
    message: expect.stringContaining('The tool book is transactional'),
  });
  await without.stop();
  const refused = await createNightshift({ ...options, toolsDatabaseUrl: shop.toolUrl.replace(':shop@', ':wrong@') });
  await expect(refused.startWorker()).rejects.toMatchObject({
    code: 'database_refused',
    message: expect.stringContaining('NIGHTSHIFT_TOOLS_DATABASE_URL'),
  });
  await refused.stop();
});

test('the rows, the result and the job that the tool enqueues exist together, or not at all', async () => {
  let isFull = true;
  const { url: databaseUrl, toolUrl: toolsDatabaseUrl } = shop;
  nightshift = await createNightshift({
    databaseUrl,
    toolsDatabaseUrl,
    logger: 'silent',
    config: config(() => isFull),
  });
  await nightshift.startWorker();
  const client = nightshift.tenant('default');
  const settings = { model: 'simulated/default', tools: ['book'] };
  const input = 'call: book {"room": "A"}\n---\nsay: done';
  const ask = async () => {
    const { job_id } = await client.workers.create({ name: 'desk', config: settings, input });
    return client.jobs.wait(job_id);
  };
  expect(await ask()).toMatchObject({ status: 'completed' });
  expect(await rows('select note from public.bookings')).toEqual([]);
  expect(await rows(`select 1 from submissions union all select 1 from workers where name = 'clerk'`)).toEqual([]);
  expect(await rows('select status from tool_calls')).toEqual([{ status: 'failed' }]);
  isFull = false;
  expect(await ask()).toMatchObject({ status: 'completed' });
  expect(await rows('select note from public.bookings')).toEqual([{ note: 'A' }]);
  const [result] = await rows(`select m.content -> 0 ->> 'content' as content
    from messages m join tool_calls t on t.id = m.id where t.status = 'completed'`);
  const { note, job_id } = JSON.parse(String(result?.['content']));
  expect(note).toBe('A');
  expect(await client.jobs.wait(job_id)).toMatchObject({ status: 'completed', output: { text: 'confirmed A' } });
  expect(await rows(`select count(*)::int as n from workers where name = 'clerk'`)).toEqual([{ n: 1 }]);
});
