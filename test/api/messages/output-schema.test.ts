// `output_schema` over HTTP: where it may be given, what is refused, and by whom.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ContextId, ProcessId, ToolCallId } from '../../../src/core/ids.ts';
import { ids } from '../../../src/platform/ids.ts';
import { tool } from '../../core/builders.ts';
import { openApi, type Api } from '../harness.ts';
import { addProcess, take } from '../manual-worker.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi({
    NIGHTSHIFT_API_KEYS: 'key-of-all:acme,key-that-runs:acme:run+read',
    NIGHTSHIFT_SECRET_KEY: 'a-secret-of-more-than-32-characters',
  });
  owner = await addProcess(api);
});
afterAll(() => api.close());

const ASK_USER = { ...tool('ask_user'), answered_by: 'person' as const };

const as = (key: string) => ({ authorization: `Bearer ${key}` });
const ALL = as('key-of-all');
/** jsonb would reorder its members. */
const SCHEMA = { type: 'object', properties: { zone: { type: 'string' }, a: {} }, required: ['a'] };

async function context(): Promise<string> {
  return (await api.post('/api/contexts', {}, ALL)).body.id;
}

async function storedOf(jobId: string): Promise<string> {
  const [row] = await api.database.db.execute(
    sql`select coalesce(output_schema::text, 'none') as schema from jobs where id = ${jobId}`,
  );
  return String(row?.['schema']);
}

describe('a schema', () => {
  test('of a post, of a retry, of a first input and of a delayed one is stored as it was written', async () => {
    const id = await context();
    const url = `/api/contexts/${id}/messages`;
    const posted = await api.post(url, { content: 'x', output_schema: SCHEMA }, ALL);
    const none = await api.post(url, { content: 'x', output_schema: false }, ALL);
    const plain = await api.post(url, { content: 'x' }, ALL);
    const later = await api.post(url, { content: 'x', output_schema: SCHEMA, after_s: 60 }, ALL);
    const retry = await api.post(`/api/contexts/${id}/jobs`, { output_schema: SCHEMA }, ALL);
    const input = { content: 'x', output_schema: SCHEMA };
    const first = await api.post('/api/workers', { name: 'ada', input }, ALL);
    const jobs = [posted, none, plain, later, retry, first].map(({ body }) => String(body.job_id));
    const text = JSON.stringify(SCHEMA);
    expect(await Promise.all(jobs.map(storedOf))).toEqual([text, 'false', 'none', text, text, text]);
  });

  test.each([
    [{ type: 'strng' }, 'output_schema: is not a valid JSON Schema (draft 2020-12 or 7).'],
    [{ $ref: '#/$defs/none' }, "output_schema: cannot be compiled: can't resolve reference #/$defs/none from id #."],
    [{ description: 'x'.repeat(40_000) }, 'output_schema: is larger than 32 KB of JSON.'],
    ['text', 'output_schema: must be an object or false, not a string.'],
  ])('that is not valid is refused: %j', async (output_schema, message) => {
    const { status, body } = await api.post(
      `/api/contexts/${await context()}/messages`,
      { content: 'x', output_schema },
      ALL,
    );
    expect(status).toBe(422);
    expect(body.error).toMatchObject({ code: 'invalid_request', param: 'output_schema' });
    expect(body.error.message).toBe(message);
  });

  test('that is not valid is refused in a config and in a role', async () => {
    const output_schema = { type: 'strng' };
    const made = await api.post('/api/contexts', { config: { output_schema } }, ALL);
    expect(made).toMatchObject({ status: 422, body: { error: { param: 'config.output_schema' } } });
    const changed = await api.call('PATCH', `/api/contexts/${await context()}`, { config: { output_schema } }, ALL);
    expect(changed).toMatchObject({ status: 422, body: { error: { param: 'config.output_schema' } } });
    const role = await api.call('PUT', '/api/roles/reader', { output_schema }, ALL);
    expect(role).toMatchObject({ status: 422, body: { error: { param: 'output_schema' } } });
    const retries = await api.post('/api/contexts', { config: { output_retries: 6 } }, ALL);
    expect(retries).toMatchObject({ status: 422, body: { error: { param: 'config.output_retries' } } });
  });

  test('is refused of an input that would join a job', async () => {
    const body = { content: 'x', delivery: 'steer', output_schema: SCHEMA };
    const steered = await api.post(`/api/contexts/${await context()}/messages`, body, ALL);
    expect(steered).toMatchObject({ status: 422, body: { error: { param: 'output_schema' } } });
  });

  test('may be given with the scope run, and not by a token', async () => {
    const body = { content: 'x', output_schema: SCHEMA };
    expect((await api.post(`/api/contexts/${await context()}/messages`, body, as('key-that-runs'))).status).toBe(202);
    const made = await api.post('/api/tokens', { user: 'ann', scopes: ['read', 'run'], expires_in_s: 60 }, ALL);
    const token = as(made.body.token);
    const own = (await api.post('/api/contexts', {}, token)).body.id;
    const refused = await api.post(`/api/contexts/${own}/messages`, body, token);
    expect(refused).toMatchObject({ status: 403, body: { error: { param: 'output_schema' } } });
    const first = await api.post('/api/workers', { name: 'ada', input: body }, token);
    expect(first).toMatchObject({ status: 403, body: { error: { param: 'input.output_schema' } } });
    expect((await api.post(`/api/contexts/${own}/messages`, { content: 'x' }, token)).status).toBe(202);
  });
});

test('an input with a schema does not answer a question that waits: it gets a job', async () => {
  const id = await context();
  const asked = await api.post(`/api/contexts/${id}/messages`, { content: 'x' }, ALL);
  const manual = await take(api, id as ContextId, owner, [ASK_USER]);
  await manual.admit();
  const use = {
    type: 'tool_use' as const,
    id: ids.next<ToolCallId>(),
    name: 'ask_user',
    input: { question: 'Which?' },
  };
  await manual.answer([use]);
  await manual.awaitCalls(Date.now() + 86_400_000);
  const posted = await api.post(`/api/contexts/${id}/messages`, { content: 'S', output_schema: SCHEMA }, ALL);
  expect(posted.body.job_id).not.toBe(asked.body.job_id);
  const answered = await api.post(`/api/contexts/${id}/messages`, { content: 'S' }, ALL);
  expect(answered.body.job_id).toBe(asked.body.job_id);
});
