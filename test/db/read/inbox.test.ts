// The inbox among very many rows: a page is a range of its own index, at any position.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WHOLE_TENANT } from '../../../src/core/access/reach.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { listInbox, type InboxKind, type InboxPlace } from '../../../src/db/read/jobs/inbox.ts';
import { createFreshDatabase } from '../../services/database.ts';
import { explainingJit } from '../../services/explaining.ts';
import { tagOf } from '../../services/statements.ts';

/** Calls of which one in ten waits for a person; set `NIGHTSHIFT_TEST_CALLS` to measure with more. */
const CALLS = Number(process.env['NIGHTSHIFT_TEST_CALLS'] ?? 20_000);
const WAITING = CALLS / 10;

let database: Database;
let drop: () => Promise<void>;
const texts: string[] = [];
beforeAll(async () => {
  const made = await createFreshDatabase();
  drop = () => made.drop();
  database = openDatabase(made.url, { max: 2, hook: (text) => void texts.push(text) });
  const { db } = database;
  const id = (of: string) => sql.raw(`('00000000-0000-7000-${of}-' || lpad(to_hex(n), 12, '0'))::uuid`);
  const rows = sql`generate_series(1, ${CALLS}::int) n`;
  await db.execute(sql`insert into contexts (id, tenant_id, scheduling_status, next_check_at)
    select ${id('8000')}, ${DEFAULT_TENANT}, 'waiting', now() + interval '1 day' from ${rows}`);
  await db.execute(sql`insert into workers (id, tenant_id, context_id, name, config)
    select ${id('8001')}, ${DEFAULT_TENANT}, ${id('8000')}, 'w', '{}' from ${rows}`);
  await db.execute(sql`insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, metadata, started_at)
    select ${id('8002')}, ${DEFAULT_TENANT}, ${id('8000')}, ${id('8001')}, 'retry', 'main', 'waiting', 1, '{}', now() from ${rows}`);
  await db.execute(sql`insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, job_id)
    select ${id('8003')}, ${DEFAULT_TENANT}, ${id('8000')}, 'main', 1, 'assistant', 'tool_call', 'a1', 'completed',
      jsonb_build_array(jsonb_build_object('type', 'tool_use', 'id', ${id('8004')}, 'name', 'mail', 'input', jsonb_build_object('n', n))),
      ${id('8002')} from ${rows}`);
  await db.execute(sql`insert into tool_calls (id, tenant_id, context_id, job_id, message_id, ordinal, name, effect, on_unknown,
      status, waits_for, asked_at, finished_at)
    select ${id('8004')}, ${DEFAULT_TENANT}, ${id('8000')}, ${id('8002')}, ${id('8003')}, 0, 'mail', 'once', 'tell',
      case n % 10 when 0 then 'waiting' else 'completed' end, case n % 10 when 0 then 'approval' end,
      timestamptz '2026-01-01' + n * interval '1 second', case n % 10 when 0 then null else now() end from ${rows}`);
  await db.execute(sql`analyze`);
}, 120_000);
afterAll(async () => {
  await database.close();
  await drop();
});

const ALL = { reach: WHOLE_TENANT, user: null };
const list = (...[kind, after, limit]: [InboxKind | null, InboxPlace | null, number]) =>
  database.transaction(async (tx) => (await listInbox(tx, DEFAULT_TENANT, { ...ALL, kind }, { after, limit })).items);

test('any page of it is read from its index, and nothing is sorted', async () => {
  const first = await list(null, null, 50);
  expect(first.map(({ input }) => input)).toEqual(Array.from({ length: 50 }, (_, at) => ({ n: (at + 1) * 10 })));
  const middle = await list(null, null, WAITING / 2);
  const last = middle.at(-1);
  if (last === undefined) throw new Error('no call waits');
  const began = performance.now();
  const place = { requestedAt: last.requestedAt, id: last.toolCallId };
  const page = await list('approval', place, 50);
  const took = performance.now() - began;
  expect(page[0]?.input).toEqual({ n: (WAITING / 2 + 1) * 10 });
  process.stdout.write(`a page in the middle of ${WAITING} of ${CALLS} calls: ${took.toFixed(1)} ms\n`);

  const text = texts.findLast((one) => tagOf(one) === 'inbox.list');
  if (text === undefined) throw new Error('no question was asked');
  const values = ['approval', new Date(last.requestedAt).toISOString(), last.toolCallId];
  let at = 0;
  const literal = text.replaceAll(/\$\d+/g, () => {
    at += 1;
    const [kind, asked, id] = values;
    return [`'${DEFAULT_TENANT}'`, `'${kind}'`, `'${asked}'`, `'${id}'`, '50', '4194304'][at - 1] ?? 'null';
  });
  const plan = await database.transaction(async (tx) => {
    await tx.execute(sql`select set_config('enable_sort', 'off', true)`);
    return tx.execute<{ 'QUERY PLAN': string }>(sql.raw(`explain analyze ${literal}`));
  });
  const lines = plan.map((row) => row['QUERY PLAN']);
  const whole = lines.join('\n');
  expect(whole).toContain('Index Scan using tool_calls_inbox');
  expect(whole).not.toMatch(/Sort|Seq Scan/);
  const scan = lines.find((line) => line.includes('tool_calls_inbox'));
  expect(Number(/rows=([\d.]+) loops=1\)/.exec(scan ?? '')?.[1])).toBeLessThanOrEqual(51);
});

test('it is not JIT-compiled, which would take longer than the read', async () => {
  const plans: string[] = [];
  await database.transaction(async (tx) => {
    await tx.execute(sql`select set_config('jit_above_cost', '0', true)`);
    return listInbox(explainingJit(tx, plans), DEFAULT_TENANT, { ...ALL, kind: null }, { after: null, limit: 50 });
  });
  expect(plans.at(-1)).toContain('tool_calls_inbox');
  expect(plans.at(-1)).not.toContain('JIT');
});
