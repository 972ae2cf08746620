import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { v7 } from 'uuid';
import { DEFAULT_TENANT, type MessageId, type ProcessId, type ToolCallId } from '../../../src/core/ids.ts';
import { placeAt } from '../../../src/db/read/messages/place-at.ts';
import { explaining } from '../../services/explaining.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_QUEUE_LIMIT: '3' });
  owner = await addProcess(api);
});
afterAll(() => api.close());

const messagesOf = async (contextId: string, query = ''): Promise<Body[]> =>
  (await api.get(`/api/contexts/${contextId}/messages${query}`)).body.data;

describe('an input message', () => {
  test('becomes a queued job in one statement, and sends a wake-up', async () => {
    const worker = await api.worker();
    api.statements.length = 0;
    api.wakeUps.length = 0;
    const { status, body } = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'hi' });
    expect(status).toBe(202);
    expect(body).toEqual({
      job_id: expect.any(String),
      message_id: expect.any(String),
      context_id: worker.context_id,
      status: 'queued',
      stream_url: `/api/contexts/${worker.context_id}/events?after=0`,
    });
    expect(api.statements).toHaveLength(1);
    expect(api.wakeUps).toHaveLength(1);
    const { body: job } = await api.get(`/api/jobs/${body.job_id}`);
    expect(job).toMatchObject({ kind: 'input', status: 'queued', worker_id: worker.id, branch: 'main' });
  });

  test('may be posted to its worker', async () => {
    const worker = await api.worker();
    const { status, body } = await api.post(`/api/workers/${worker.id}/messages`, { content: 'hi' });
    expect(status).toBe(202);
    expect(body.context_id).toBe(worker.context_id);
  });

  test('appears in the stream with the number at which it was accepted', async () => {
    const worker = await api.worker();
    await converse(api, worker.context_id, owner, 'one', 'two');
    const { body } = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'three' });
    const [row] = await api.database.db.execute<{ head_seq: number }>(
      sql`select head_seq from contexts where id = ${worker.context_id}`,
    );
    expect(body.stream_url).toBe(`/api/contexts/${worker.context_id}/events?after=${row?.head_seq}`);
  });

  test('carries metadata, a limit and a deadline', async () => {
    const worker = await api.worker();
    const metadata = { trace: 'abc', nested: [1, { a: null }] };
    const { body } = await api.post(`/api/contexts/${worker.context_id}/messages`, {
      content: 'hi',
      metadata,
      max_steps: 3,
      deadline: '2031-01-02T03:04:05+02:00',
      branch: 'main',
      delivery: 'queue',
    });
    expect((await api.get(`/api/jobs/${body.job_id}`)).body.metadata).toEqual(metadata);
    const [row] = await api.database.db.execute(
      sql`select max_steps, deadline = '2031-01-02T01:04:05Z' as exact from jobs where id = ${body.job_id}`,
    );
    expect(row).toEqual({ max_steps: 3, exact: true });
  });

  test.each([
    ['text', 'plain text'],
    ['NUL, half surrogates, pairs and our own mark', '\0 \u0000\ud800 \udc00x\ud83d\ude00 \uF8FE0041 \\u0000'],
    ['a megabyte of emoji', '🦊'.repeat(262_144)],
    ['spaces alone', '  \n\t '],
  ])('comes back unchanged: %s', async (_, text) => {
    const worker = await api.worker();
    const posted = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: text });
    expect(posted.status).toBe(202);
    const [message] = await messagesOf(worker.context_id);
    expect(message.content).toEqual([{ type: 'text', text }]);
    const one = await api.get(`/api/contexts/${worker.context_id}/messages/${message.id}`);
    expect(one.body).toEqual(message);
  });

  test('accepts text, images and documents as blocks', async () => {
    const worker = await api.worker();
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'aGVsbG8=' },
        title: 'a',
      },
      { type: 'document', source: { type: 'base64', media_type: 'text/plain', data: 'aGVsbG8=' } },
      { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
    ];
    const posted = await api.post(`/api/contexts/${worker.context_id}/messages`, { content });
    expect(posted.status).toBe(202);
    expect((await messagesOf(worker.context_id))[0].content).toEqual(content);
  });

  test('is refused while a job is unfinished, where it requires that', async () => {
    const worker = await api.worker();
    const path = `/api/contexts/${worker.context_id}/messages`;
    expect((await api.post(path, { content: 'one', delivery: 'reject' })).status).toBe(202);
    const refused = await api.post(path, { content: 'two', delivery: 'reject' });
    expect(refused.status).toBe(409);
    expect(refused.headers['x-should-retry']).toBe('false');
    expect(refused.body.error.code).toBe('context_busy');
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    expect((await api.post(path, { content: 'two', delivery: 'reject' })).status).toBe(409);
    await manual.complete('done');
    expect((await api.post(path, { content: 'two', delivery: 'reject' })).status).toBe(202);
  });

  test('is refused where too many are queued', async () => {
    const worker = await api.worker();
    const path = `/api/contexts/${worker.context_id}/messages`;
    for (const content of ['one', 'two', 'three']) await api.post(path, { content });
    const refused = await api.post(path, { content: 'four' });
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('5');
    expect(refused.body.error).toMatchObject({ code: 'queue_full', type: 'rate_limit_error' });
    expect(await messagesOf(worker.context_id)).toHaveLength(3);
  });
});

describe('a run without an input', () => {
  test('is a job without a message, with or without a body', async () => {
    const worker = await api.worker();
    for (const body of [undefined, {}, { max_steps: 2, metadata: { a: 1 } }]) {
      const { status, body: accepted } = await api.post(`/api/contexts/${worker.context_id}/jobs`, body);
      expect(status).toBe(202);
      expect(accepted).toMatchObject({ message_id: null, status: 'queued' });
      expect((await api.get(`/api/jobs/${accepted.job_id}`)).body.kind).toBe('retry');
    }
    expect(await messagesOf(worker.context_id)).toEqual([]);
  });
});

describe('the messages of a context', () => {
  test('are history in order, then the queued inputs', async () => {
    const worker = await api.worker();
    const job = await converse(api, worker.context_id, owner, 'hello', 'Hello yourself.');
    const queued = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'next' });
    const messages = await messagesOf(worker.context_id);
    expect(messages).toEqual([
      {
        id: expect.any(String),
        context_id: worker.context_id,
        branch: 'main',
        seq: expect.any(Number),
        turn: 'u1',
        role: 'user',
        type: 'text',
        status: 'completed',
        retraction: null,
        steered: false,
        compacted: false,
        content: [{ type: 'text', text: 'hello' }],
        job_id: job,
        sender_worker_id: null,
        created_at: expect.any(String),
        completed_at: expect.any(String),
        model_id: null,
        provider_id: null,
        usage: null,
        finish_reason: null,
        error: null,
      },
      {
        id: expect.any(String),
        context_id: worker.context_id,
        branch: 'main',
        seq: expect.any(Number),
        turn: 'a1',
        role: 'assistant',
        type: 'text',
        status: 'completed',
        retraction: null,
        steered: false,
        compacted: false,
        content: [{ type: 'text', text: 'Hello yourself.' }],
        job_id: job,
        sender_worker_id: null,
        created_at: expect.any(String),
        completed_at: expect.any(String),
        model_id: 'test-1',
        provider_id: 'simulated',
        usage: {
          input_tokens: 10,
          output_tokens: 5,
          cache_read_tokens: 2,
          cache_write_tokens: 1,
          cache_hit_ratio: 0.1538,
          cost: null,
        },
        finish_reason: 'stop',
        error: null,
      },
      {
        id: queued.body.message_id,
        context_id: worker.context_id,
        branch: 'main',
        seq: null,
        turn: null,
        role: 'user',
        type: 'text',
        status: 'queued',
        retraction: null,
        steered: false,
        compacted: false,
        content: [{ type: 'text', text: 'next' }],
        job_id: queued.body.job_id,
        sender_worker_id: null,
        created_at: expect.any(String),
        completed_at: null,
        model_id: null,
        provider_id: null,
        usage: null,
        finish_reason: null,
        error: null,
      },
    ]);
    expect(messages[0].seq).toBeLessThan(messages[1].seq);
  });

  test('show tool traffic, and no data private to the provider', async () => {
    const worker = await api.worker();
    await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'mail it' });
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    const id = ids.next<ToolCallId>();
    const provider = { name: 'simulated', data: { secret: 'signature' } };
    await manual.answer([
      { type: 'thinking', text: 'hm', provider },
      { type: 'text', text: 'I will.', provider },
      { type: 'tool_use', id, name: 'mail', input: { to: ['a', 1, null] }, provider },
    ]);
    await manual.results('sent\0\ud800');
    await manual.complete('Done.');
    const [, call, result, answer] = await messagesOf(worker.context_id);
    expect(call).toMatchObject({
      role: 'assistant',
      type: 'tool_call',
      turn: 'a1',
      content: [
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'I will.' },
        { type: 'tool_use', id, name: 'mail', input: { to: ['a', 1, null] } },
      ],
    });
    expect(result).toMatchObject({
      role: 'tool',
      type: 'tool_result',
      turn: 'a1',
      usage: null,
      content: [{ type: 'tool_result', tool_use_id: id, content: 'sent\0\ud800', is_error: false }],
    });
    expect(answer.content).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(JSON.stringify([call, result, answer])).not.toContain('signature');
  });

  test('may be those of one turn, or in descending order', async () => {
    const worker = await api.worker();
    await converse(api, worker.context_id, owner, 'one', 'two');
    await converse(api, worker.context_id, owner, 'three', 'four');
    await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'five' });
    const texts = async (query: string) =>
      (await messagesOf(worker.context_id, query)).map((message) => message.content[0].text);
    expect(await texts('')).toEqual(['one', 'two', 'three', 'four', 'five']);
    expect(await texts('?order=desc&branch=main')).toEqual(['five', 'four', 'three', 'two', 'one']);
    expect(await texts('?turn=u2')).toEqual(['three']);
    expect(await texts('?turn=a1')).toEqual(['two']);
    expect(await texts('?turn=u9')).toEqual([]);
  });

  test('may begin with one of them, in either direction', async () => {
    const worker = await api.worker();
    await converse(api, worker.context_id, owner, 'one', 'two');
    await converse(api, worker.context_id, owner, 'three', 'four');
    const { body: queued } = await api.post(`/api/contexts/${worker.context_id}/messages`, {
      content: 'five',
    });
    const [, two] = await messagesOf(worker.context_id);
    const texts = async (query: string) =>
      (await messagesOf(worker.context_id, query)).map((message) => message.content[0].text);
    expect(await texts(`?from=${two.id}`)).toEqual(['two', 'three', 'four', 'five']);
    expect(await texts(`?from=${two.id}&order=desc`)).toEqual(['two', 'one']);
    const list = async (query: string) => api.get(`/api/contexts/${worker.context_id}/messages?${query}`);
    const { body: page } = await list(`from=${two.id}&limit=2`);
    expect(await texts(`?limit=2&cursor=${page.next_cursor}`)).toEqual(['four', 'five']);
    expect((await list(`from=${two.id}&cursor=${page.next_cursor}`)).status).toBe(422);
    expect((await list(`from=${queued.message_id}`)).status).toBe(422);
    expect((await list(`from=${v7()}`)).status).toBe(404);
  });

  test('may begin at a time, in either direction, among 10,000 by a few reads', async () => {
    const entries = Array.from({ length: 5_000 }, (_, n) => ({ user: `q${n}`, assistant: `a${n}` }));
    const { body: context } = await api.post('/api/contexts/import', { entries });
    const { db } = api.database;
    const begin = Date.parse('2026-01-01T00:00:00Z');
    // One a minute; the ids and numbers stay.
    await db.execute(sql`update messages m set created_at = t.at, completed_at = t.at from (
        select id, ${new Date(begin).toISOString()}::timestamptz + (row_number() over (order by seq) - 1) * interval '1 minute' as at
        from messages where context_id = ${context.id}) t where m.id = t.id`);
    await api.post(`/api/contexts/${context.id}/messages`, { content: 'queued' });
    const at = (minutes: number, query = '') =>
      messagesOf(context.id, `?limit=2&at=${new Date(begin + minutes * 60_000).toISOString()}${query}`);
    const texts = async (found: Promise<Body[]>) => (await found).map((message) => message.content[0].text);
    expect(await texts(at(0))).toEqual(['q0', 'a0']);
    expect(await texts(at(5_001))).toEqual(['a2500', 'q2501']);
    expect(await texts(at(5_000.5))).toEqual(['a2500', 'q2501']);
    expect(await texts(at(5_001, '&order=desc'))).toEqual(['q2500', 'a2499']);
    expect(await texts(at(9_999))).toEqual(['a4999', 'queued']);
    expect(await texts(at(10_000))).toEqual(['queued']);
    expect(await texts(at(0, '&order=desc'))).toEqual([]);
    const plans: string[] = [];
    await placeAt(explaining(db, plans), DEFAULT_TENANT, context.id, begin + 5_001 * 60_000);
    const [, loops] = /messages_seq.*loops=(\d+)/.exec(plans[0] ?? '') ?? [];
    expect(Number(loops)).toBeGreaterThan(5);
    expect(Number(loops)).toBeLessThan(30);
  });

  test('with a time that is none, or with another start, are refused', async () => {
    const worker = await api.worker();
    const list = async (query: string) => api.get(`/api/contexts/${worker.context_id}/messages?${query}`);
    expect((await list('at=yesterday')).status).toBe(422);
    expect((await list(`at=2026-01-01T00:00:00Z&from=${v7()}`)).body.error).toMatchObject({ param: 'at' });
    expect((await list('at=2026-01-01T00:00:00Z')).body).toEqual({ data: [], next_cursor: null });
    expect((await api.get(`/api/contexts/${v7()}/messages?at=2026-01-01T00:00:00Z`)).status).toBe(404);
  });

  test('leave out withdrawn ones', async () => {
    const worker = await api.worker();
    const { body } = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'never mind' });
    await api.post(`/api/jobs/${body.job_id}/cancel`);
    expect(await messagesOf(worker.context_id)).toEqual([]);
    const one = await api.get(`/api/contexts/${worker.context_id}/messages/${body.message_id}`);
    expect(one.status).toBe(404);
  });

  test('are found in their own context only', async () => {
    const [here, there] = [await api.worker(), await api.worker()];
    const { body } = await api.post(`/api/contexts/${here.context_id}/messages`, { content: 'x' });
    const id: MessageId = body.message_id;
    expect((await api.get(`/api/contexts/${here.context_id}/messages/${id}`)).status).toBe(200);
    expect((await api.get(`/api/contexts/${there.context_id}/messages/${id}`)).status).toBe(404);
    expect((await api.get(`/api/contexts/${v7()}/messages`)).status).toBe(404);
  });
});
