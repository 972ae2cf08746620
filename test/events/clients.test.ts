// Slow clients, many clients and disconnected clients, and how the process handles them.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { SseStream } from '../../src/api/response/sse.ts';
import { until } from '../e2e/rig/until.ts';
import { tagOf } from '../services/statements.ts';
import { openInstallation, type Installation, type InstallationOptions } from './installation.ts';
import { addUp, numbered } from './sse-client.ts';

let installation: Installation | null = null;
afterEach(async () => {
  await installation?.close();
  installation = null;
});

async function open(options: InstallationOptions = {}): Promise<Installation> {
  installation = await openInstallation(options);
  return installation;
}

/** A long past, inserted directly: `count` events. */
async function past(of: Installation, contextId: string, count: number, size: number): Promise<void> {
  await of.query(`
    with ctx as (update contexts set head_seq = head_seq + ${count} where id = '${contextId}'
      returning id, tenant_id, head_seq - ${count} as base)
    insert into event_batches (context_id, tenant_id, first_seq, seq, epoch, events)
    select ctx.id, ctx.tenant_id, ctx.base + n, ctx.base + n, 0, json_build_array(json_build_array(0, 'ToolCallStarted',
      json_build_object('tool_call_id', ctx.id, 'name', repeat('x', ${size}), 'status', 'started')))
    from ctx, generate_series(1, ${count}) as n`);
}

async function figure(of: Installation, name: string): Promise<number> {
  const text = await (await fetch(`${of.servers[0]?.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

test('a client that does not read is dropped, resumes by its cursor, and misses nothing', async () => {
  const of = await open({ workers: 0 });
  const { id } = await of.client.createContext({});
  const slow = await of.listen(id);
  await until('the first words', () => slow.lastId() !== null);
  slow.pause();
  // Live, more than its connection and its buffer can hold.
  for (let round = 1; (await figure(of, 'nightshift_streams_dropped_total')) === 0; round += 1) {
    if (round > 60) throw new Error('it was never dropped');
    await past(of, id, 400, 5_000);
    await until(
      'the tail',
      async () =>
        (await figure(of, 'nightshift_stream_events_total')) >= round * 400 ||
        (await figure(of, 'nightshift_streams_dropped_total')) > 0,
    );
  }
  slow.resume();
  await slow.ended;
  const [row] = await of.query(`select head_seq from contexts where id = '${id}'`);
  const head = Number(row?.['head_seq']);
  const again = await of.listen(id, { lastEventId: slow.lastId() ?? '0' });
  if (slow.lastId() !== String(head)) await again.until(({ id: number }) => number === head);
  const ids = [...numbered(slow.received), ...numbered(again.received)].map((received) => received.id);
  expect(ids).toEqual(Array.from({ length: head }, (_, at) => at + 1));
  expect(await figure(of, 'nightshift_streams')).toBe(1);
  again.close();
});

test('a long past is read no faster than its client reads', async () => {
  const of = await open({ workers: 0 });
  const { id } = await of.client.createContext({});
  await past(of, id, 20_000, 1_000);
  of.statements.length = 0;
  const slow = await of.listen(id, { after: 0 });
  slow.pause();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const pages = () => of.statements.filter((text) => tagOf(text) === 'events.read').length;
  expect(pages()).toBeLessThan(30);
  slow.resume();
  await slow.until((received) => received.id === 20_000);
  expect(pages()).toBeLessThanOrEqual(41);
  expect(numbered(slow.received)).toHaveLength(20_000);
  slow.close();
});

test('beyond the limit of streams a client is asked to come later, and a free place is given again', async () => {
  const of = await open({ workers: 0, env: { NIGHTSHIFT_MAX_STREAMS: '2' } });
  const { id } = await of.client.createContext({});
  const [first, second] = [await of.listen(id), await of.listen(id)];
  const third = await of.listen(id);
  expect(third.status).toBe(503);
  expect(third.headers['retry-after']).toMatch(/^\d+$/);
  third.close();
  first?.close();
  await until('a place', async () => (await figure(of, 'nightshift_streams')) === 1);
  const fourth = await of.listen(id);
  expect(fourth.status).toBe(200);
  for (const client of [second, fourth]) client?.close();
});

test('a refused request takes no place', async () => {
  const of = await open({ workers: 0, env: { NIGHTSHIFT_MAX_STREAMS: '1' } });
  const { id } = await of.client.createContext({});
  for (let round = 0; round < 3; round += 1) {
    const missing = await of.listen('018f0000-0000-7000-8000-000000000000');
    expect(missing.status).toBe(404);
    missing.close();
  }
  const client = await of.listen(id);
  expect(client.status).toBe(200);
  client.close();
});

test('streams end when the API closes, also those whose clients do not read', async () => {
  const of = await open({ workers: 0 });
  const { id } = await of.client.createContext({});
  const live = await of.listen(id);
  await past(of, id, 30_000, 1_000);
  const stuck = await of.listen(id, { after: 0 });
  stuck.pause();
  await of.servers[0]?.close();
  await live.ended;
  stuck.resume();
  await stuck.ended;
});

test('a client that disconnects before it is answered leaves nothing behind', async () => {
  const of = await open({ workers: 0 });
  const { id } = await of.client.createContext({});
  const { port, hostname } = new URL(of.servers[0]?.url ?? '');
  for (let round = 0; round < 20; round += 1) {
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(`GET /api/contexts/${id}/events HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
    setTimeout(() => socket.destroy(), round / 2);
    await once(socket, 'close');
  }
  await until('no subscriber to be served, for longer than the polling interval', async () => {
    of.statements.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    return !of.statements.some((text) => tagOf(text) === 'events.read_progress');
  });
  expect(await figure(of, 'nightshift_streams')).toBe(0);
});

test('another tenant’s stream is not found, and a key is needed', async () => {
  const of = await open({ workers: 0, env: { NIGHTSHIFT_API_KEYS: 'ours:acme,theirs:globex' } });
  const made = await fetch(`${of.servers[0]?.url}/api/contexts`, {
    method: 'POST',
    headers: { authorization: 'Bearer ours', 'content-type': 'application/json' },
    body: '{}',
  });
  const { id } = (await made.json()) as { id: string };
  const as = async (key: string | null): Promise<number> => {
    const client = await of.listen(id, { headers: key === null ? {} : { authorization: `Bearer ${key}` } });
    client.close();
    return client.status;
  };
  expect([await as('ours'), await as('theirs'), await as(null)]).toEqual([200, 404, 401]);
});

test('a heartbeat comes within 15 seconds, without an id', async () => {
  const of = await open({ workers: 0 });
  const { id } = await of.client.createContext({});
  const began = performance.now();
  const client = await of.listen(id);
  const beat = await client.until(({ event }) => event === 'Heartbeat');
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(beat.id).toBeNull();
  expect(Date.parse(beat.data.timestamp)).toBeGreaterThan(Date.now() - 60_000);
  client.close();
});

/** A stream on a connection that accepts everything, and the bytes written to it. */
function stream(): { stream: SseStream; written: (Buffer | string)[] } {
  const written: (Buffer | string)[] = [];
  const response = {
    socket: null,
    writableLength: 0,
    on: () => response,
    writeHead: () => response,
    write: (bytes: Buffer | string) => written.push(bytes) > 0,
  };
  return { stream: new SseStream(response as never, 7, { sent: 0, dropped: 0 }), written };
}

test('each event is written whole', () => {
  const { stream: one, written } = stream();
  one.send([{ seq: 8, name: 'A', data: { text: 'one\ntwo' } }]);
  one.send([
    { seq: null, name: 'B', data: {} },
    { seq: null, name: 'C', data: { text: '🦊' } },
  ]);
  const untimed = written.map((bytes) => String(bytes).replaceAll(/"at":"[-\d]+T[.:\d]+Z"/g, '"at":"now"'));
  expect(untimed).toEqual([
    'retry: 2000\nid: 7\n\n',
    'id: 8\nevent: A\ndata: {"text":"one\\ntwo"}\n\n',
    'event: B\ndata: {"at":"now"}\n\nevent: C\ndata: {"text":"🦊","at":"now"}\n\n',
  ]);
});

test('an event for many clients is serialised once', () => {
  const all = Array.from({ length: 3 }, stream);
  const events = [{ seq: null, name: 'A', data: {} }];
  for (const { stream: one } of all) one.send(events);
  const [first, ...others] = all.map(({ written }) => written.at(-1));
  expect(String(first)).toMatch(/^event: A\ndata: {"at":"[^"]+"}\n\n$/);
  for (const other of others) expect(other).toBe(first);
});

test('each of many clients of a few contexts receives all of each text', async () => {
  const of = await open();
  const ids = await Promise.all(Array.from({ length: 4 }, async () => (await of.client.createContext({})).id));
  await Promise.all(
    ids.map(async (id) => {
      const clients = await Promise.all(Array.from({ length: 50 }, () => of.listen(id, { after: 0 })));
      await of.client.post(id, 'think: so\ntokens: 300 over 1500ms');
      await Promise.all(clients.map((client) => client.until(({ event }) => event === 'JobFinished')));
      const stored = (await of.client.messages(id)).find(({ role }) => role === 'assistant');
      const text = stored?.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      const entries = clients.map(({ received }) =>
        numbered(received.slice(0, received.findIndex(({ event }) => event === 'JobFinished') + 1)),
      );
      for (const [at, { received }] of clients.entries()) {
        for (const [message, shown] of addUp(received)) expect([message, shown.text]).toEqual([stored?.id, text]);
        expect(entries[at]).toEqual(entries[0]);
      }
      for (const client of clients) client.close();
    }),
  );
});
