// The client over a bad connection to the API, with a `fetch` that a test scripts.
import { expect, test } from 'vitest';
import { NightshiftError, createClient, textMaker, type StreamEvent } from '../../src/client/index.ts';

type Sent = { url: string; method: string; headers: Headers; body: unknown };

/** Answers in order; then the last one again and again. */
function scripted(...answers: (() => Response)[]) {
  const sent: Sent[] = [];
  const client = createClient({
    url: 'http://api/',
    apiKey: 'secret',
    fetch: async (input, init) => {
      if (typeof input !== 'string') throw new Error('an address is text');
      init?.signal?.throwIfAborted();
      const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : null;
      sent.push({ url: input, method: init?.method ?? 'GET', headers: new Headers(init?.headers), body });
      const answer = answers[Math.min(sent.length, answers.length) - 1];
      if (answer === undefined) throw new Error('no answer is scripted');
      return answer();
    },
  });
  return { client, sent };
}

const lost = (): Response => {
  throw new TypeError('fetch failed');
};
const problem =
  (status: number, code: string, headers: Record<string, string> = {}) =>
  (): Response =>
    Response.json(
      { title: '', detail: '', error: { type: '', code, message: 'No.', param: 'name' } },
      { status, headers },
    );
const answered = (body: object) => (): Response => Response.json(body);

test('a write whose answer is lost is sent again under the same key', async () => {
  const { client, sent } = scripted(lost, problem(429, 'queue_full', { 'retry-after': '0' }), answered({ id: 'x' }));
  expect(await client.workers.create({ name: 'ada' })).toEqual({ id: 'x' });
  const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(sent[0]?.headers.get('authorization')).toBe('Bearer secret');
});

test('a worker is created with its first input, as text or with the options of its job', async () => {
  const { client, sent } = scripted(answered({ job_id: 'j' }), answered({ job_id: 'k' }), answered({ id: 'x' }));
  const made = await client.workers.create({ name: 'ada', input: 'hello' });
  expect(made.job_id satisfies string).toBe('j');
  await client.workers.create({ name: 'ada', input: { content: 'hello', max_steps: 3 } });
  await client.workers.create({ name: 'ada' });
  expect(sent.map(({ body }) => body)).toEqual([
    { name: 'ada', input: { content: 'hello' } },
    { name: 'ada', input: { content: 'hello', max_steps: 3 } },
    { name: 'ada' },
  ]);
});

test('a refusal is an error with its code, and not sent again', async () => {
  const { client, sent } = scripted(problem(409, 'context_busy'));
  const error = await client.contexts.send('c', 'hello').catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(NightshiftError);
  expect(error).toMatchObject({ code: 'context_busy', status: 409, param: 'name', message: 'No.' });
  expect(error).toMatchObject({ errors: [] });
  expect(sent).toHaveLength(1);
});

test('a refusal that waiting does not cure is not sent again', async () => {
  const { client, sent } = scripted(problem(429, 'quota_exceeded', { 'retry-after': '0', 'x-should-retry': 'false' }));
  const error = await client.workers.create({ name: 'ada' }).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: 'quota_exceeded', status: 429 });
  expect(sent).toHaveLength(1);
});

test('the error of an invalid request has all its faults', async () => {
  const errors = [
    { path: 'name', code: 'invalid_request', message: 'name: is missing.' },
    { path: 'config.mode', code: 'invalid_request', message: 'config.mode: must be act or plan, not "fly".' },
  ];
  const body = { error: { type: '', code: 'invalid_request', message: 'Two.', param: 'name', errors } };
  const { client } = scripted(() => Response.json(body, { status: 400 }));
  await expect(client.workers.create({ name: '' })).rejects.toMatchObject({
    code: 'invalid_request',
    errors,
  });
});

test("an answer that is not the API's is reported as such", async () => {
  const { client } = scripted(() => new Response('<html>', { status: 400 }));
  await expect(client.system.stats()).rejects.toMatchObject({ code: 'unexpected_answer', status: 400 });
  const away = scripted(lost).client;
  await expect(away.system.stats({ retries: 0 })).rejects.toMatchObject({
    code: 'unreachable',
    status: null,
    message: 'The API at http://api could not be reached.',
  });
});

test('a signal ends a request, and the wait before the next attempt', async () => {
  const { client } = scripted(problem(503, 'unavailable', { 'retry-after': '50' }));
  const controller = new AbortController();
  const asked = client.system.stats({ signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
});

test('lists are read page by page', async () => {
  const { client, sent } = scripted(
    answered({ data: [{ id: '1' }, { id: '2' }], next_cursor: 'two' }),
    answered({ data: [{ id: '3' }], next_cursor: null }),
  );
  const jobs = await client.jobs.list({ status: 'failed' }).all();
  expect(jobs.map(({ id }) => id)).toEqual(['1', '2', '3']);
  expect(sent.map(({ url }) => url)).toEqual([
    'http://api/api/jobs?status=failed',
    'http://api/api/jobs?status=failed&cursor=two',
  ]);
});

/** A stream of these pieces, which then breaks off. */
const stream =
  (...pieces: string[]) =>
  (): Response => {
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream({
        start(controller) {
          for (const piece of pieces) controller.enqueue(encoder.encode(piece));
          controller.close();
        },
      }),
      { headers: { 'content-type': 'text/event-stream' } },
    );
  };

test('a stream that breaks off is resumed after the last number, and delivers nothing twice', async () => {
  const { client, sent } = scripted(
    stream('retry: 1\nid: 7\n\n'),
    stream(
      'id: 8\r\nevent: ContextCleared\r\nda',
      'ta: {"context_id":"é"}\r',
      '\n\r\nevent: Heartbeat\ndata: {}\n\n',
      'id: 9\nevent: Context',
    ),
    lost,
    problem(503, 'unavailable', { 'retry-after': '0' }),
    stream(
      'id: 8\nevent: ContextCleared\ndata: {}\n\nid: 9\nevent: SomethingNew\ndata: {}\n\nid: 10\nevent: BranchDeleted\ndata: {}\n\n',
    ),
  );
  const shown: StreamEvent[] = [];
  for await (const event of client.contexts.events('c', { until: ({ id }) => id === 10 })) shown.push(event);
  expect(shown.map(({ event, id, connection }) => [event, id, connection])).toEqual([
    ['ContextCleared', 8, 2],
    ['BranchDeleted', 10, 5],
  ]);
  expect(shown[0]?.data).toEqual({ context_id: 'é' });
  const path = 'http://api/api/contexts/c/events';
  expect(sent.map(({ url }) => url)).toEqual([
    path,
    `${path}?after=7`,
    `${path}?after=8`,
    `${path}?after=8`,
    `${path}?after=8`,
  ]);
});

test('a stream of a missing context is an error; one that is aborted just ends', async () => {
  const { client } = scripted(problem(404, 'not_found'));
  await expect(client.contexts.events('c').next()).rejects.toMatchObject({ code: 'not_found' });
  const controller = new AbortController();
  const endless = scripted(() => new Response(new ReadableStream())).client;
  const next = endless.contexts.events('c', {
    signal: controller.signal,
    onConnection: () => controller.abort(),
  });
  expect(await next.next()).toEqual({ done: true, value: undefined });
});

test('texts are assembled over attempts and connections', () => {
  const take = textMaker();
  const of = { context_id: 'c', message_id: 'm' };
  const at = '2026-01-01T00:00:00.000Z';
  const delta = (
    event: 'ContentDelta' | 'ThinkingDelta',
    sequence: number,
    text: string,
    attempt = 1,
    connection = 1,
  ) => take({ event, id: null, connection, data: { ...of, attempt, sequence, delta: text, at } });
  delta('ThinkingDelta', 0, 'hm');
  delta('ThinkingDelta', 1, ', so');
  delta('ContentDelta', 0, 'one');
  expect(delta('ContentDelta', 1, ' two')).toMatchObject({ text: 'one two', thinking: 'hm, so' });
  expect(delta('ContentDelta', 1, ' two')).toBeNull();
  delta('ThinkingDelta', 2, 'hm, so it is', 1, 2);
  const joined = take({
    event: 'ContentSnapshot',
    id: null,
    connection: 2,
    data: { ...of, attempt: 1, text: 'one two three', sequence: 2, at },
  });
  expect(joined).toMatchObject({ text: 'one two three', thinking: 'hm, so it is' });
  expect(delta('ContentDelta', 0, 'again', 2)).toMatchObject({ attempt: 2, text: 'again', thinking: '' });
  expect(delta('ContentDelta', 3, 'late', 1)).toBeNull();
});

test('the version of an answer is returned, and none of a refused one', async () => {
  const { client, sent } = scripted(
    () => Response.json({ id: 'x' }, { headers: { etag: '"7"' } }),
    problem(412, 'version_conflict', { etag: '"8"' }),
  );
  const shown: string[] = [];
  const onEtag = (etag: string): void => void shown.push(etag);
  await client.contexts.get('x', { onEtag });
  await expect(client.contexts.update('x', {}, { ifMatch: '"7"', onEtag })).rejects.toMatchObject({
    code: 'version_conflict',
  });
  expect(shown).toEqual(['"7"']);
  expect(sent[1]?.headers.get('if-match')).toBe('"7"');
});
