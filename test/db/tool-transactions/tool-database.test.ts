// The login of transactional tools: what is checked before anything runs, and what it may settle.
import { randomUUID } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parseEnvironment } from '../../../src/config/config.ts';
import { DATABASE_SCHEMA } from '../../../src/core/database-schema.ts';
import { DEFAULT_TENANT_NAME } from '../../../src/core/ids.ts';
import { openDatabase } from '../../../src/db/connection/client.ts';
import { addGrant, removeGrant } from '../../../src/db/submissions/grants.ts';
import { toolDatabaseOf } from '../../../src/platform/services/tool-database.ts';
import { parseConfigFile } from '../../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../../src/tools/packages/secrets.ts';
import { freePort } from '../../../src/dev/free-port.ts';
import { createFreshDatabase } from '../../services/database.ts';
import { openShop, toolsOf, type Shop } from '../../workers/run/transacting.ts';

let shop: Shop;
let login: postgres.Sql;
beforeAll(async () => {
  shop = await openShop({ grants: false });
  login = postgres(shop.toolUrl, { max: 1, onnotice: () => undefined });
});
afterAll(async () => {
  await login.end();
  await shop.drop();
});

const grant = (tenant: string) =>
  shop.database.transaction((tx) => addGrant(tx, DATABASE_SCHEMA, { role: shop.role, tenant }));
const revoke = (tenant: string) => shop.database.transaction((tx) => removeGrant(tx, { role: shop.role, tenant }));

test('a login without a grant is refused, one with a grant is not', async () => {
  const refused = { name: 'DatabaseRefused', message: expect.stringContaining('nightshift submissions grant --role') };
  await expect(toolsOf(shop, shop.database)).rejects.toMatchObject(refused);
  await grant('acme');
  const tools = await toolsOf(shop, shop.database);
  await tools.close();
  await revoke('acme');
  await expect(toolsOf(shop, shop.database)).rejects.toMatchObject(refused);
});

test('the login that owns the tables needs no grant', async () => {
  const tools = await toolsOf({ url: shop.url, toolUrl: '' }, shop.database);
  await tools.close();
});

test('another database of the same server is refused', async () => {
  const other = await createFreshDatabase();
  await expect(toolsOf({ url: other.url, toolUrl: '' }, shop.database)).rejects.toMatchObject({
    name: 'DatabaseRefused',
    message: expect.stringContaining('leads to another database than DATABASE_URL'),
  });
  await other.drop();
});

test('a wrong password, and a server that is away, are told by the name of the variable', async () => {
  const wrong = Object.assign(new URL(shop.toolUrl), { username: 'nobody_here', password: 'wrong' }).href;
  await expect(toolsOf({ url: shop.url, toolUrl: wrong }, shop.database)).rejects.toMatchObject({
    name: 'DatabaseRefused',
    message: expect.stringContaining('PostgreSQL refused NIGHTSHIFT_TOOLS_DATABASE_URL'),
  });
  const away = 'postgres://x:y@127.0.0.1:1/z';
  await expect(toolsOf({ url: shop.url, toolUrl: away }, shop.database)).rejects.toMatchObject({
    name: 'ToolDatabaseAway',
    code: 'ECONNREFUSED',
    message: expect.stringContaining('NIGHTSHIFT_TOOLS_DATABASE_URL'),
  });
});

const toolNamed = (name: string, transactional: boolean) => ({
  name,
  description: 'd',
  input_schema: { type: 'object' },
  ...(transactional ? { transactional } : { effect: 'none' }),
  execute: () => 'x',
});

function readTools(...tools: object[]) {
  const parsed = parseConfigFile({ tools }, PLACEHOLDERS);
  if (!parsed.ok) throw new Error(parsed.faults.join());
  return parsed.settings.tools;
}

const start = { log: pino({ level: 'silent' }), signal: undefined };

test('a start that waits for the database of the tools says so, and ends with its signal', async () => {
  const ending = new AbortController();
  const lines: string[] = [];
  const write = (line: string): void => {
    lines.push(line);
    ending.abort(new Error('told to end'));
  };
  const log = pino({}, { write });
  const away = parseEnvironment({ NIGHTSHIFT_TOOLS_DATABASE_URL: 'postgres://x:y@127.0.0.1:1/z' });
  const { signal } = ending;
  const opening = toolDatabaseOf(away, readTools(toolNamed('book', true)), shop.database, { log, signal });
  await expect(opening).rejects.toThrow('told to end');
  expect(lines).toEqual([expect.stringContaining('waiting for PostgreSQL')]);
});

test('a start outlasts an outage of the database, however long, if its own login is away too', async () => {
  await grant('acme');
  const port = String(await freePort());
  const [url, toolUrl] = [shop.url, shop.toolUrl].map(
    (one) => Object.assign(new URL(one), { host: `127.0.0.1:${port}` }).href,
  );
  const own = openDatabase(url ?? '', { max: 1 });
  onTestFinished(() => own.close());
  const rounds = Promise.withResolvers<void>();
  const lines: string[] = [];
  const write = (line: string): void => {
    if (lines.push(line) === 2) rounds.resolve();
  };
  const given = parseEnvironment({ NIGHTSHIFT_TOOLS_DATABASE_URL: toolUrl });
  const outage = { log: pino({}, { write }), signal: undefined, comingUpMs: 600 };
  const opening = toolDatabaseOf(given, readTools(toolNamed('book', true)), own, outage);
  // The limit has passed once.
  await Promise.race([rounds.promise, opening]);
  const target = new URL(shop.url);
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    near.on('error', () => far.destroy()).pipe(far);
    far.on('error', () => near.destroy()).pipe(near);
  });
  server.listen(Number(port), '127.0.0.1');
  onTestFinished(() => void server.close());
  const opened = await opening;
  expect(opened).not.toBeNull();
  await opened?.close();
  await revoke('acme');
});

test('a URL that leads to no database, while that of Nightshift answers, ends the start', async () => {
  const away = parseEnvironment({ NIGHTSHIFT_TOOLS_DATABASE_URL: 'postgres://x:y@127.0.0.1:1/z' });
  const tools = readTools(toolNamed('book', true));
  const opening = toolDatabaseOf(away, tools, shop.database, { ...start, comingUpMs: 0 });
  await expect(opening).rejects.toMatchObject({
    name: 'DatabaseRefused',
    message: 'PostgreSQL does not answer at NIGHTSHIFT_TOOLS_DATABASE_URL (ECONNREFUSED).',
  });
});

test('a config with a transactional tool needs the login, another one does not', async () => {
  const config = parseEnvironment({});
  expect(await toolDatabaseOf(config, readTools(toolNamed('a', false)), shop.database, start)).toBeNull();
  const tools = readTools(toolNamed('a', false), toolNamed('book', true));
  await expect(toolDatabaseOf(config, tools, shop.database, start)).rejects.toMatchObject({
    name: 'ConfigError',
    faults: [
      'NIGHTSHIFT_TOOLS_DATABASE_URL is not set. The tool book is transactional: set it to the URL of the database of Nightshift, with a login of your service',
    ],
  });
  await grant('acme');
  const given = parseEnvironment({ NIGHTSHIFT_TOOLS_DATABASE_URL: shop.toolUrl });
  const opened = await toolDatabaseOf(given, tools, shop.database, start);
  expect(opened).not.toBeNull();
  await opened?.close();
  await revoke('acme');
});

type Held = { context: string; call: string; owner: string };

/** A call that runs under a lease of epoch 3. */
async function runningCall(status = 'pending', stopKind: string | null = null): Promise<Held> {
  const [context, call, owner, job] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const { db } = shop.database;
  const [tenant] = await db.execute<{ id: number }>(sql`select id from tenants where name = ${DEFAULT_TENANT_NAME}`);
  const at = new Date().toISOString();
  await db.execute(sql`insert into contexts (id, tenant_id, scheduling_status, state, lease_owner, lease_epoch)
    values (${context}, ${tenant?.id}, 'running', 'ExecutingTools', ${owner}, 3)`);
  await db.execute(sql`
    insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, metadata, started_at, stop_kind, stop_requested_at)
    values (${job}, ${tenant?.id}, ${context}, ${randomUUID()}, 'retry', 'main', 'running', 1, '{}', ${at}, ${stopKind},
      ${stopKind === null ? null : at})`);
  await db.execute(sql`
    insert into tool_calls (id, tenant_id, context_id, job_id, message_id, ordinal, name, effect, on_unknown, status, finished_at)
    values (${call}, ${tenant?.id}, ${context}, ${job}, ${randomUUID()}, 0, 'book', 'idempotent', 'tell', ${status},
      ${status === 'pending' ? null : at})`);
  return { context, call, owner };
}

type Over = { epoch?: number; owner?: string; result?: string; began?: string };

/** In a transaction of the login. */
async function settle({ context, call, owner }: Held, over: Over = {}): Promise<string> {
  const { epoch = 3, result = '{"content":"ok"}', began } = over;
  return login
    .begin(async (tx) => {
      const [at] = await tx`select (extract(epoch from transaction_timestamp()) * 1000000)::bigint::text as began`;
      await tx.unsafe(
        `select nightshift.nightshift_settle_v1($1::uuid, $2::uuid, $3::uuid, $4::bigint, $5::bigint, $6)`,
        [call, context, over.owner ?? owner, epoch, began ?? String(at?.['began']), result],
      );
      return 'settled';
    })
    .catch((error: unknown) => (error instanceof postgres.PostgresError ? error.code : String(error)));
}

test('the function settles an open call of a granted tenant once, and nothing else', async () => {
  const call = await runningCall();
  expect(await settle(call)).toBe('42501');
  await grant('other');
  expect(await settle(call)).toBe('NS001');
  await grant(DEFAULT_TENANT_NAME);
  expect(await settle(call, { epoch: 4 })).toBe('NS008');
  expect(await settle(call, { owner: randomUUID() })).toBe('NS008');
  expect(await settle({ ...call, call: randomUUID() })).toBe('NS008');
  expect(await settle({ ...call, context: randomUUID() })).toBe('NS008');
  expect(await settle(await runningCall('completed'))).toBe('NS008');
  expect(await settle(await runningCall('pending', 'cancel'))).toBe('NS008');
  expect(await settle({ ...(await runningCall()), call: call.call })).toBe('NS008');
  expect(await settle(call, { began: '1' })).toBe('NS010');
  expect(await settle(call)).toBe('settled');
  expect(await settle(call)).toBe('NS009');
  const rows = await shop.database.db.execute(
    sql`select t.reply::text, x.outcome, x.number, x.epoch::int as epoch from tool_calls t join tool_executions x on x.tool_call_id = t.id
      where t.id = ${call.call}`,
  );
  expect(rows).toEqual([{ reply: '{"content" : "ok", "isError" : false}', outcome: 'completed', number: 1, epoch: 3 }]);
  for (const table of ['tool_calls', 'tool_executions', 'contexts', 'jobs'])
    await expect(login.unsafe(`select 1 from nightshift.${table}`)).rejects.toMatchObject({ code: '42501' });
});

test('a process that freezes after the settlement keeps the row of the context for a second', async () => {
  await grant(DEFAULT_TENANT_NAME);
  const { call, context, owner } = await runningCall();
  const pause = await login.begin(async (tx) => {
    await tx`select nightshift.nightshift_settle_v1(${call}::uuid, ${context}::uuid, ${owner}::uuid, 3,
      (extract(epoch from transaction_timestamp()) * 1000000)::bigint, '{"content":"ok"}')`;
    return tx`show idle_in_transaction_session_timeout`;
  });
  expect([...pause]).toEqual([{ idle_in_transaction_session_timeout: '1s' }]);
});

test.each([
  ['no JSON', 'x'],
  ['no object', '[]'],
  ['no content', '{}'],
  ['a number', '{"content":1}'],
  ['a list of texts', '{"content":["x"]}'],
  ['a text without text', '{"content":[{"type":"text"}]}'],
  ['an image without source', '{"content":[{"type":"image","source":"x"}]}'],
  ['another block', '{"content":[{"type":"tool_use"}]}'],
  ['a summary that is none', '{"content":"x","compactSummary":1}'],
])('a result that is invalid is refused: %s', async (_, result) => {
  await grant(DEFAULT_TENANT_NAME);
  expect(await settle(await runningCall(), { result })).toBe('NS004');
});

test('a result that is too large is refused, and one with blocks and a summary is kept', async () => {
  await grant(DEFAULT_TENANT_NAME);
  const call = await runningCall();
  expect(await settle(call, { result: `{"content":"${'x'.repeat(16 * 1024 * 1024)}"}` })).toBe('NS003');
  const blocks = '[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","url":"https://x"}}]';
  expect(await settle(call, { result: `{"content":${blocks},"compactSummary":"short"}` })).toBe('settled');
  const [row] = await shop.database.db.execute(sql`select reply from tool_calls where id = ${call.call}`);
  expect(row).toEqual({ reply: { content: JSON.parse(blocks), isError: false, compactSummary: 'short' } });
});
