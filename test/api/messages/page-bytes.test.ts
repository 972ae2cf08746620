// Pages are bounded by bytes: large entries come in small pages, an entry larger than a page alone, and none is left
// out.
import { sql } from 'drizzle-orm';
import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PREVIEWED_BYTES } from '../../../src/db/read/contexts/context-views.ts';
import { PAGE_BYTES } from '../../../src/db/read/page.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const MEGABYTE = 1024 * 1024;
const text = (bytes: number): string => 'x'.repeat(bytes);

/** All pages of a list: of each its ids, and its bytes as sent. */
async function pagesOf(path: string, of = api): Promise<{ ids: string[]; bytes: number }[]> {
  const pages: { ids: string[]; bytes: number }[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body }: Body = await of.get(`${path}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    pages.push({
      ids: body.data.map(({ id, tool_call_id: call, name }: Body) => id ?? call ?? name),
      bytes: JSON.stringify(body).length,
    });
    cursor = body.next_cursor;
  }
  return pages;
}

function expectBounded(pages: { ids: string[]; bytes: number }[], ids: readonly string[]): void {
  expect(pages.flatMap((page) => page.ids)).toEqual(ids);
  for (const page of pages.slice(0, -1)) expect(page.ids.length).toBeGreaterThan(0);
  for (const page of pages) {
    if (page.ids.length > 1) expect(page.bytes).toBeLessThan(PAGE_BYTES * 1.1);
  }
}

/** Text that PostgreSQL stores and cannot read: a statement that reads it fails. */
const UNREADABLE = '"\\u0000"';

type Written = { type: 'text' | 'tool_call'; content: string };

/** An entry of history, inserted directly. */
async function insertMessage(of: Api, contextId: string, seq: number, written: Written): Promise<string> {
  const id = v7();
  const { type, content } = written;
  await of.database.db.execute(sql`
    with context as (update contexts set head_seq = greatest(head_seq, ${seq}::bigint) where id = ${contextId} returning id)
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content)
    select ${id}, 1, context.id, 'main', ${seq}::bigint, 'assistant', ${type}, 'a1', 'completed', ${content}::json from context`);
  return id;
}

const textMessage = (json: string): Written => ({
  type: 'text',
  content: `[{"type":"text","text":${json}}]`,
});

/** A call that waits for approval, with the message that asks for it. */
async function insertCall(of: Api, worker: Body, place: number, input: string): Promise<string> {
  const id = v7();
  const content = `[{"type":"tool_use","id":"${id}","name":"mail","input":{"body":${input}}}]`;
  const messageId = await insertMessage(of, worker.context_id, place, { type: 'tool_call', content });
  await of.database.db.execute(sql`
    with job as (
      insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, metadata, finished_at)
      values (${v7()}, 1, ${worker.context_id}, ${worker.id}, 'retry', 'main', 'completed', 1, '{}', now())
      returning id
    )
    insert into tool_calls (id, tenant_id, context_id, job_id, message_id, ordinal, name, effect, on_unknown, status, waits_for, asked_at)
    select ${id}, 1, ${worker.context_id}, job.id, ${messageId}, 0, 'mail', 'once', 'tell', 'waiting', 'approval',
      timestamptz '2026-01-01' + ${place} * interval '1 second' from job`);
  return id;
}

/** Of a list, in megabytes, and how many of them come in each page. */
const SIZES = [2, 1, 2, 5, 0, 3, 3];
const CUTS = [2, 1, 1, 2, 1];

test('queued inputs, in either direction', async () => {
  const { context_id: id } = await api.worker();
  const ids: string[] = [];
  for (const size of SIZES) {
    const posted = await api.post(`/api/contexts/${id}/messages`, { content: text(size * MEGABYTE + 10) });
    ids.push(posted.body.message_id);
  }
  const asc = await pagesOf(`/api/contexts/${id}/messages?limit=100`);
  expectBounded(asc, ids);
  expect(asc.map((page) => page.ids.length)).toEqual(CUTS);
  const desc = await pagesOf(`/api/contexts/${id}/messages?limit=100&order=desc`);
  expectBounded(desc, ids.toReversed());
  expectBounded(await pagesOf(`/api/contexts/${id}/messages?limit=2`), ids);
});

test('messages of a history, in either direction, and those of a turn', async () => {
  const { context_id: id } = await api.worker();
  const ids: string[] = [];
  for (const [place, size] of SIZES.entries())
    ids.push(await insertMessage(api, id, place + 1, textMessage(`"${text(size * MEGABYTE + 10)}"`)));
  for (const path of [`/api/contexts/${id}/messages?limit=100`, `/api/contexts/${id}/messages?limit=100&turn=a1`]) {
    const pages = await pagesOf(path);
    expectBounded(pages, ids);
    expect(pages.map((page) => page.ids.length)).toEqual(CUTS);
  }
  expectBounded(await pagesOf(`/api/contexts/${id}/messages?limit=100&order=desc`), ids.toReversed());
});

test('calls that wait for approval: none beyond a page is read', async () => {
  const own = await openApi();
  const worker = await own.worker();
  const ids: string[] = [];
  for (const [place, size] of SIZES.entries())
    ids.push(await insertCall(own, worker, place, `"${text(size * MEGABYTE + 10)}"`));
  const pages = await pagesOf('/api/approvals?limit=100', own);
  expectBounded(pages, ids);
  expect(pages.map((page) => page.ids.length)).toEqual(CUTS);
  await own.database.db.execute(sql`
    update messages set content = ${`[{"type":"tool_use","id":${UNREADABLE}}]`}::json
    where id = (select message_id from tool_calls where id = ${ids.at(-1)})`);
  const { status, body } = await own.get('/api/approvals?limit=100');
  expect([status, body.data.length]).toEqual([200, CUTS[0]]);
  await own.close();
});

test('roles with their definitions, with those of the file between them', async () => {
  const files = new Map(['r000a', 'r050a', 'r089a'].map((name) => [name, { model: 'simulated/x' }]));
  const own = await openApi({}, undefined, files);
  const names: string[] = [...files.keys()];
  for (let count = 0; count < 90; count += 1) {
    const name = `r${String(count).padStart(3, '0')}`;
    names.push(name);
    await own.database.db.execute(sql`
      insert into roles (tenant_id, name, version, definition)
      values (1, ${name}, 1, json_build_object('system_prompt', ${text(60_000)}::text))`);
  }
  const pages = await pagesOf('/api/roles?limit=200', own);
  expectBounded(pages, names.toSorted());
  expect(pages).toHaveLength(2);
  expectBounded(await pagesOf('/api/roles?limit=7', own), names.toSorted());
  await own.close();
});

test('compactions with their summaries', async () => {
  const { context_id: id } = await api.worker();
  const ids: string[] = [];
  for (const [place, size] of SIZES.entries()) {
    const made = v7();
    ids.push(made);
    await api.database.db.execute(sql`
      insert into compactions (id, tenant_id, context_id, branch, seq, upto_seq, type, summary, tokens_before, tokens_after, job_id)
      values (${made}, 1, ${id}, 'main', ${place + 2}, ${place + 1}, 'llm', ${text(size * MEGABYTE + 10)}, 2, 1, ${made})`);
  }
  const pages = await pagesOf(`/api/contexts/${id}/compactions?limit=100`);
  expectBounded(pages, ids);
  expect(pages.map((page) => page.ids.length)).toEqual(CUTS);
  const other = await api.worker();
  expect(await pagesOf(`/api/contexts/${other.context_id}/compactions?limit=100`)).toMatchObject([{ ids: [] }]);
});

test('jobs with their output', async () => {
  const { context_id: id } = await api.worker();
  const jobs: string[] = [];
  for (const size of [1, 3, 5, 1]) {
    const { body } = await api.post(`/api/contexts/${id}/messages`, { content: text(size * MEGABYTE) });
    jobs.unshift(body.job_id);
  }
  await api.database.db.execute(sql`
    update jobs set output_message_id = message_id where context_id = ${id}`);
  expectBounded(await pagesOf(`/api/jobs?context_id=${id}&limit=100`), jobs);
});

test('jobs whose output is shown as text and as data', async () => {
  const { context_id: id } = await api.worker();
  const jobs: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    const { body } = await api.post(`/api/contexts/${id}/messages`, { content: `"${text(0.9 * MEGABYTE)}"` });
    jobs.unshift(body.job_id);
  }
  await api.database.db.execute(sql`
    update jobs set status = 'completed', finished_at = now(), output_message_id = message_id, has_data = true
    where context_id = ${id}`);
  const pages = await pagesOf(`/api/jobs?context_id=${id}&limit=100`);
  expectBounded(pages, jobs);
  expect(pages.map((page) => page.ids.length)).toEqual([2, 2]);
});

test('workers and contexts with their configs', async () => {
  const own = await openApi();
  const made: Body[] = [];
  for (let count = 0; count < 90; count += 1) made.unshift(await own.worker({ system_prompt: text(60_000) }));
  for (const [path, ids] of [
    ['/api/workers?limit=200', made.map(({ id }) => id)],
    ['/api/contexts?limit=200', made.map(({ context_id: id }) => id)],
  ] as const) {
    const first = await own.get(path);
    expect(first.body.data.length).toBeLessThan(90);
    const rest = await own.get(`${path}&cursor=${first.body.next_cursor}`);
    expect(rest.body.next_cursor).toBeNull();
    expect([...first.body.data, ...rest.body.data].map(({ id }: Body) => id)).toEqual(ids);
  }
  await own.close();
});

test('the last message of a context is read for the contexts of a page alone, and where it is short', async () => {
  const own = await openApi();
  const made: Body[] = [];
  for (let count = 0; count < 75; count += 1) made.unshift(await own.worker({ system_prompt: text(60_000) }));
  const long = `"${text(PREVIEWED_BYTES)}\\u0000"`;
  await insertMessage(own, made[0].context_id, 1, textMessage(long));
  await insertMessage(own, made[1].context_id, 1, textMessage(`"${text(PREVIEWED_BYTES - 100)}"`));
  await insertMessage(own, made.at(-1).context_id, 1, textMessage(UNREADABLE));
  const { status, body } = await own.get('/api/contexts?limit=200');
  expect(status).toBe(200);
  expect(body.data.length).toBeLessThan(75);
  expect(body.data[0].last_message).toMatchObject({ role: 'assistant', text: '' });
  expect(body.data[1].last_message).toMatchObject({ text: text(240) });
  expect(body.data[2].last_message).toBeNull();
  const one = await own.get(`/api/contexts/${made[0].context_id}`);
  expect([one.status, one.body.last_message.text]).toEqual([200, '']);
  await own.close();
});
