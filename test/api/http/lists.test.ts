// Filtered lists: jobs by kind and status, contexts by their state and role, with the last message.
import { sql } from 'drizzle-orm';
import { v7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ProcessId } from '../../../src/core/ids.ts';
import { SCANNED } from '../../../src/db/read/contexts/find-contexts.ts';
import { addProcess, take } from '../manual-worker.ts';
import { isQuery, openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  // A key is looked up again after some time: here it stands still, so that statements can be counted.
  vi.useFakeTimers({ toFake: ['performance'] });
  api = await openApi({ NIGHTSHIFT_API_KEYS: 'ours:default,theirs:other' });
  owner = await addProcess(api);
});
afterAll(async () => {
  vi.useRealTimers();
  await api.close();
});

const OURS = { authorization: 'Bearer ours' };
const THEIRS = { authorization: 'Bearer theirs' };
const get = (path: string, headers = OURS) => api.get(path, headers);
const idsOf = async (path: string, headers = OURS): Promise<string[]> =>
  (await get(path, headers)).body.data.map((one: Body) => one.id);

describe('the list of jobs', () => {
  const made: Record<string, string> = {};
  beforeAll(async () => {
    await api.call('PUT', '/api/roles/coder', { max_steps: 3 }, OURS);
    const job = async (name: string, role: string | null, metadata: object, headers = OURS) => {
      const given = headers === OURS ? { name, role } : { name };
      const worker = (await api.post('/api/workers', given, headers)).body;
      const posted = await api.post(
        `/api/contexts/${worker.context_id}/messages`,
        { content: name, metadata },
        headers,
      );
      made[name] = posted.body.job_id;
      return worker.context_id;
    };
    await job('queued', 'coder', { team: 'a', tags: ['nightly', 'x'] });
    await api.post(
      `/api/jobs/${await job('cancelled', null, { team: 'a' }).then(() => made['cancelled'])}/cancel`,
      {},
      OURS,
    );
    const failed = await take(api, await job('failed', 'coder', { team: 'b' }), owner);
    await failed.admit();
    await failed.settle({ status: 'failed', error: { code: 'provider_auth', message: 'No key.' } });
    const running = await take(api, await job('running', null, {}), owner);
    await running.admit();
    await job('theirs', null, { team: 'a' }, THEIRS);
  });
  const named = (...names: string[]) =>
    names
      .map((name) => made[name] ?? '')
      .toSorted()
      .toReversed();

  test.each([
    ['', ['queued', 'cancelled', 'failed', 'running']],
    ['status=failed', ['failed']],
    ['status=failed,cancelled', ['cancelled', 'failed']],
    ['status=failed&status=running', ['failed', 'running']],
    ['status=queued,running,waiting', ['queued', 'running']],
    ['role=coder', ['queued', 'failed']],
    ['role=missing', []],
    ['kind=input', ['queued', 'cancelled', 'failed', 'running']],
    ['kind=compact', []],
    ['metadata={"team":"a"}', ['queued', 'cancelled']],
    ['metadata={"tags":["nightly"]}', ['queued']],
    ['metadata={"team":"\\u0000"}', []],
    ['metadata={}&status=running', ['running']],
    ['created_before=1990-01-01T00:00:00Z', []],
    ['created_after=1990-01-01T00:00:00Z&created_before=2990-01-01T00:00:00Z&role=coder', ['queued', 'failed']],
  ])('is filtered by "%s"', async (query, expected) => {
    expect(await idsOf(`/api/jobs?${query}`)).toEqual(named(...expected));
  });

  test('shows no jobs of other tenants', async () => {
    expect(await idsOf('/api/jobs?metadata={"team":"a"}', THEIRS)).toEqual([made['theirs']]);
    expect(await idsOf('/api/jobs?role=coder', THEIRS)).toEqual([]);
  });

  test('keeps its filter on the next page', async () => {
    const { body } = await get('/api/jobs?status=failed,cancelled&limit=1');
    const next = await get(`/api/jobs?status=failed,cancelled&limit=1&cursor=${body.next_cursor}`);
    expect([...body.data, ...next.body.data].map((one: Body) => one.id)).toEqual(named('cancelled', 'failed'));
    expect(next.body.next_cursor).toBeNull();
  });

  test.each([
    ['status=gone', 'status'],
    ['status=failed,gone', 'status.1'],
    ['status=', 'status'],
    ['status=,', 'status.1'],
    [`status=${Array(10).fill('failed').join(',')}`, 'status'],
    ['kind=any', 'kind'],
    ['role=', 'role'],
    ['metadata=x', 'metadata'],
    ['metadata=[]', 'metadata'],
    ['metadata=null', 'metadata'],
    ['created_before=now', 'created_before'],
    ['created_before=0001-01-01T00:00:00Z', 'created_before'],
    ['kind=input&kind=retry', 'kind'],
    ['nothing=1', 'nothing'],
  ])('refuses "%s"', async (query, param) => {
    const { status, body } = await get(`/api/jobs?${query}`);
    expect(status).toBe(422);
    expect(body.error).toMatchObject({ code: 'invalid_request' });
    expect(body.error.param).toMatch(new RegExp(`^${param.split('.')[0]}`));
  });

  test('finds failed jobs by an index of their own, however many succeeded', async () => {
    const { db } = api.database;
    await db.execute(sql`insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position,
        metadata, error, started_at, finished_at)
      select gen_random_uuid(), 9, gen_random_uuid(), gen_random_uuid(), 'retry', 'main',
        case when n % 1000 = 0 then 'failed' else 'completed' end, 1, '{}',
        case when n % 1000 = 0 then '{"code":"internal","message":"x"}'::jsonb end, now(), now()
      from generate_series(1, 20000) n`);
    await db.execute(sql`analyze jobs`);
    const plan = await db.execute<{ 'QUERY PLAN': string }>(sql`explain select id from jobs j
      where j.tenant_id = 9 and j.status in ('failed') order by j.id desc limit 50`);
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('jobs_ended_badly');
    await db.execute(sql`delete from jobs where tenant_id = 9`);
  });
});

describe('the list of contexts', () => {
  let idle: Body;
  let failed: Body;
  let queued: Body;
  beforeAll(async () => {
    const make = async (title: string, role: string | null) =>
      (await api.post('/api/contexts', { title, name: `of ${title}`, role }, OURS)).body;
    idle = await make('idle', 'coder');
    failed = await make('failed', null);
    queued = await make('queued', 'coder');
    const post = (context: Body, content: unknown) =>
      api.post(`/api/contexts/${context.id}/messages`, { content }, OURS);
    await post(idle, 'hello');
    const manual = await take(api, idle.id, owner);
    await manual.admit();
    await manual.complete('Hi there.');
    await post(failed, [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ]);
    const broken = await take(api, failed.id, owner);
    await broken.admit();
    await broken.settle({ status: 'failed', error: { code: 'provider_auth', message: 'No key.' } });
    await post(queued, 'not yet');
  });
  beforeEach(() => {
    api.statements.length = 0;
  });
  const ofOurs = async (query: string): Promise<string[]> => {
    const found = await idsOf(`/api/contexts?${query}`);
    return [idle, failed, queued].filter(({ id }) => found.includes(id)).map(({ title }) => title);
  };

  test('shows worker and last message, all in one statement', async () => {
    const { body } = await get('/api/contexts');
    expect(api.statements.filter(isQuery)).toHaveLength(1);
    const shown = (context: Body) => body.data.find(({ id }: Body) => id === context.id);
    expect(shown(idle)).toMatchObject({
      worker_name: 'of idle',
      role: 'coder',
      last_message: { role: 'assistant', text: 'Hi there.' },
    });
    expect(shown(failed)).toMatchObject({
      worker_name: 'of failed',
      role: null,
      last_message: { role: 'user', text: 'one two' },
    });
    expect(shown(queued).last_message).toBeNull();
    expect((await get(`/api/contexts/${idle.id}`)).body.last_message).toEqual(shown(idle).last_message);
  });

  test.each([
    ['state=Idle', ['idle']],
    ['state=PermanentFailure', ['failed']],
    ['state=ProcessingUserMessage', ['queued']],
    ['state=Idle,PermanentFailure', ['idle', 'failed']],
    ['state=AwaitingToolApproval,ExecutingTools', []],
    ['state=StreamingLLMResponse', []],
    ['state=StreamingLLMResponse,Idle', ['idle']],
    ['role=coder', ['idle', 'queued']],
    ['role=coder&state=Idle', ['idle']],
    ['archived=true', []],
  ])('is filtered by "%s"', async (query, expected) => {
    expect(await ofOurs(query)).toEqual(expected);
  });

  test('has those below a worker, and those below none', async () => {
    const make = async (parent?: string) =>
      (await api.post('/api/contexts', parent === undefined ? {} : { parent_worker_id: parent }, OURS)).body;
    const parent = await make();
    const child = await make(parent.worker_id);
    const shown = (await get(`/api/contexts/${parent.id}`)).body;
    expect([shown.has_children, child.has_children, child.parent_worker_id]).toEqual([true, false, parent.worker_id]);
    expect(await idsOf(`/api/contexts?parent_worker_id=${parent.worker_id}`)).toEqual([child.id]);
    const within = async (query: string) =>
      (await idsOf(`/api/contexts?${query}`)).filter((id) => id === parent.id || id === child.id);
    expect(await within('spawned=true')).toEqual([child.id]);
    expect(await within('spawned=false')).toEqual([parent.id]);
    expect(await within('')).toEqual([child.id, parent.id]);
    await api.database.db.execute(sql`update workers set archived_at = now() where id = ${parent.worker_id}`);
    // No list of parents leads to it.
    expect(await within('spawned=false')).toEqual([child.id]);
    expect(await within('spawned=false&sort=activity')).toEqual([child.id]);
    expect(await within('spawned=false&archived=true')).toEqual([parent.id]);
    expect(await within('spawned=true')).toEqual([child.id]);
    for (const { id } of [child, parent]) await api.call('DELETE', `/api/contexts/${id}`, undefined, OURS);
  });

  test('is sorted by activity, page by page, in one statement', async () => {
    await api.call('PATCH', `/api/contexts/${failed.id}`, { title: 'failed' }, OURS);
    await api.call('PATCH', `/api/contexts/${idle.id}`, { title: 'idle' }, OURS);
    api.statements.length = 0;
    const all = await idsOf('/api/contexts?sort=activity');
    expect(api.statements.filter(isQuery)).toHaveLength(1);
    expect(all.slice(0, 2)).toEqual([idle.id, failed.id]);
    expect(all.toSorted()).toEqual((await idsOf('/api/contexts')).toSorted());
    const paged: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await get(`/api/contexts?sort=activity&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      paged.push(...body.data.map((one: Body) => one.id));
      cursor = body.next_cursor;
    }
    expect(paged).toEqual(all);
    const { status, body } = await get('/api/contexts?sort=activity&q=idle');
    expect([status, body.error.param]).toEqual([422, 'sort']);
  });

  test.each(['sort=title', 'spawned=yes', 'parent_worker_id=x'])('refuses "%s" too', async (query) => {
    expect((await get(`/api/contexts?${query}`)).status).toBe(422);
  });

  test.each(['state=Sleeping', 'state=Idle,', 'state=', 'role=', 'states=Idle'])('refuses "%s"', async (query) => {
    expect((await get(`/api/contexts?${query}`)).status).toBe(422);
  });

  test('shows the last message cut, without calls of tools, their results, and retracted messages', async () => {
    const context = (await api.post('/api/contexts', {}, OURS)).body;
    const last = async () => (await get(`/api/contexts/${context.id}`)).body.last_message;
    expect(await last()).toBeNull();
    await api.post(`/api/contexts/${context.id}/messages`, { content: `\0${'ä'.repeat(500)}` }, OURS);
    const manual = await take(api, context.id, owner);
    await manual.admit();
    await manual.answer([
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id: '0190a000-0000-7000-8000-00000000000a' as never, name: 'look', input: {} },
    ]);
    await manual.results('seen');
    const { role, text } = await last();
    expect(role).toBe('user');
    expect(text).toBe(`\0${'ä'.repeat(239)}`);
    await manual.complete('');
    expect(await last()).toMatchObject({ role: 'assistant', text: '' });
  });

  test.each([`x${'ä'.repeat(600)}`, '😀'.repeat(300), `${'x'.repeat(238)}\0y\ud800z`])(
    'cuts between characters',
    async (answer) => {
      const context = (await api.post('/api/contexts', {}, OURS)).body;
      await haveAnswered(context.id, answer);
      const { text } = (await get(`/api/contexts/${context.id}`)).body.last_message;
      expect(text).toBe(Array.from(answer).slice(0, 240).join(''));
    },
  );

  async function haveAnswered(id: string, answer: string): Promise<void> {
    await api.post(`/api/contexts/${id}/messages`, { content: 'x' }, OURS);
    const manual = await take(api, id as never, owner);
    await manual.admit();
    await manual.complete(answer);
  }
});

describe('a search for contexts', () => {
  const made: Record<string, string> = {};
  beforeAll(async () => {
    await api.call('PUT', '/api/roles/auditor', { max_steps: 3 }, OURS);
    const context = async (key: string, body: object, headers = OURS) => {
      made[key] = (await api.post('/api/contexts', body, headers)).body.id;
    };
    await context('title', { title: 'The Gebühr of May' });
    await context('worker', { worker: { name: 'gebühr clerk' } });
    await context('role', { worker: { role: 'auditor' } });
    await context('tagged', { title: 'plain' });
    await api.post(
      `/api/contexts/${made['tagged']}/messages`,
      { content: 'say: x', metadata: { invoice: 'R-2044' } },
      OURS,
    );
    await context('theirs', { title: 'Gebühr' }, THEIRS);
  });
  const found = async (q: string, more = ''): Promise<string[]> => {
    const ids = await idsOf(`/api/contexts?q=${encodeURIComponent(q)}${more}`);
    return ids.map((id) => Object.keys(made).find((key) => made[key] === id) ?? id);
  };

  test('matches title, worker, role, id and the metadata of their jobs, in upper or lower case', async () => {
    expect(await found('gebühr')).toEqual(['worker', 'title']);
    expect(await found('AUDITOR')).toEqual(['role']);
    expect(await found('r-2044')).toEqual(['tagged']);
    expect(await found(made['title'] ?? '')).toEqual(['title']);
    expect(await found((made['title'] ?? '').slice(-8))).toEqual(['title']);
  });

  test('treats no character as a pattern', async () => {
    expect(await found('%')).toEqual([]);
    expect(await found('_itle')).toEqual([]);
    expect((await get('/api/contexts?q=')).status).toBe(422);
    expect((await get(`/api/contexts?q=${'x'.repeat(201)}`)).status).toBe(422);
    expect((await get('/api/contexts?q=%00')).status).toBe(422);
  });

  test('works with other filters, page by page', async () => {
    expect(await found('gebühr', '&role=auditor')).toEqual([]);
    const first = (await get('/api/contexts?q=geb%C3%BChr&limit=1')).body;
    expect(first.data.map(({ id }: Body) => id)).toEqual([made['worker']]);
    const second = (await get(`/api/contexts?q=geb%C3%BChr&limit=1&cursor=${first.next_cursor}`)).body;
    expect(second).toMatchObject({ data: [{ id: made['title'] }], next_cursor: null });
  });

  test('reads a limited number of contexts, and the next page continues after them', async () => {
    const many = JSON.stringify(Array.from({ length: SCANNED }, () => ({ id: v7(), worker: v7() })));
    await api.database.db.execute(sql`
      with given as (select * from json_to_recordset(${many}::json) g(id uuid, worker uuid)),
      made as (insert into contexts (id, tenant_id) select id, 1 from given)
      insert into workers (id, tenant_id, context_id, name, config) select worker, 1, id, 'one of many', '{}' from given`);
    const first = (await get('/api/contexts?q=geb%C3%BChr')).body;
    expect(first).toMatchObject({ data: [] });
    const second = (await get(`/api/contexts?q=geb%C3%BChr&cursor=${first.next_cursor}`)).body;
    expect(second.data.map(({ id }: Body) => id)).toEqual([made['worker'], made['title']]);
    expect(second.next_cursor).toBe(null);
  });

  test('reads a limited amount of metadata, and the next page continues after it', async () => {
    const own = await openApi();
    const contexts = 100;
    const id = (of: string) => sql.raw(`('00000000-0000-7000-${of}-' || lpad(to_hex(n), 12, '0'))::uuid`);
    await own.database.db.execute(sql`
      with made as (
        insert into contexts (id, tenant_id) select ${id('8000')}, 1 from generate_series(1, ${contexts}::int) n
      ), owners as (
        insert into workers (id, tenant_id, context_id, name, config)
        select ${id('8001')}, 1, ${id('8000')}, 'w', '{}' from generate_series(1, ${contexts}::int) n
      ), lines as (
        insert into branches (context_id, tenant_id, name)
        select ${id('8000')}, 1, 'main' from generate_series(1, ${contexts}::int) n
      )
      insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, metadata, finished_at)
      select gen_random_uuid(), 1, ${id('8000')}, ${id('8001')}, 'retry', 'main', 'completed', 1,
        jsonb_build_object('text', repeat('x', 60000), 'n', 'job of ' || n), now()
      from generate_series(1, ${contexts}::int) n, generate_series(1, 20)`);
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: Body = await own.get(`/api/contexts?q=JOB%20of&limit=200${cursor && `&cursor=${cursor}`}`);
      pages.push(body.data.map((one: Body) => one.id));
      cursor = body.next_cursor;
    }
    expect(pages.length).toBeGreaterThan(1);
    const all = await own.get('/api/contexts?limit=200');
    expect(pages.flat()).toEqual(all.body.data.map((one: Body) => one.id));
    // Where nothing is found, too.
    const none = await own.get('/api/contexts?q=nothing');
    expect(none.body).toMatchObject({ data: [], next_cursor: expect.any(String) });
    await own.close();
  });
});
