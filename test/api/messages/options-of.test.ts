// A post that takes the options of an earlier job.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApi, type Answer, type Api, type Body } from '../harness.ts';

const KEY = { authorization: 'Bearer key-of-acme' };
const SCHEMA = { type: 'object', properties: { b: { type: 'string' }, a: { type: 'number' } }, required: ['b'] };

let api: Api;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_API_KEYS: 'key-of-acme:acme', NIGHTSHIFT_SECRET_KEY: 's'.repeat(40) });
});
afterAll(() => api.close());

async function postWith(options: object): Promise<{ id: string; worker: Body; job: string }> {
  const worker = (await api.post('/api/workers', { name: 'w', config: { model: 'simulated/x' } }, KEY)).body;
  const posted = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'hi', ...options }, KEY);
  expect(posted.status).toBe(202);
  return { id: worker.context_id, worker, job: posted.body.job_id };
}

async function optionsOf({ status, body }: Answer): Promise<Body> {
  expect([status, body.error]).toEqual([202, undefined]);
  const [row] = await api.database.db.execute(sql`
    select j.priority, j.metadata, j.max_steps, j.output_schema::text as schema, j.deadline,
      (select n.webhook_id from job_webhooks n where n.job_id = j.id) as webhook
    from jobs j where j.id = ${body.job_id}`);
  return row;
}

test('a retry, an input and an input of its worker take those that they do not give', async () => {
  const made = await api.post('/api/webhooks', { url: 'https://hooks.example.com/', events: ['job.finished'] }, KEY);
  const webhook = { id: made.body.id };
  const deadline = new Date(Date.now() + 3_600_000).toISOString();
  const options = { priority: 2, metadata: { order: 7 }, max_steps: 9, output_schema: SCHEMA, deadline, webhook };
  const { id, worker, job } = await postWith(options);
  const all = {
    priority: 2,
    metadata: { order: 7 },
    max_steps: 9,
    schema: JSON.stringify(SCHEMA),
    deadline: expect.anything(),
    webhook: webhook.id,
  };
  const paths = [`/api/contexts/${id}/jobs`, `/api/contexts/${id}/messages`, `/api/workers/${worker.id}/messages`];
  for (const path of paths) {
    const content = path.endsWith('/jobs') ? {} : { content: 'again' };
    expect(await optionsOf(await api.post(path, { ...content, options_of: job }, KEY))).toEqual(all);
    const own = { ...content, options_of: job, priority: 6, metadata: {}, output_schema: false };
    expect(await optionsOf(await api.post(path, own, KEY))).toEqual({
      ...all,
      priority: 6,
      metadata: {},
      schema: 'false',
    });
  }
});

test('but no deadline that has passed, and no webhook that is disabled', async () => {
  const made = await api.post('/api/webhooks', { url: 'https://hooks.example.com/', events: ['job.finished'] }, KEY);
  const { id, job } = await postWith({ webhook: { id: made.body.id }, deadline: new Date(Date.now() + 60_000) });
  await api.database.db.execute(
    sql`update jobs set deadline = now() - interval '1 second', priority = 0 where id = ${job}`,
  );
  await api.call('PATCH', `/api/webhooks/${made.body.id}`, { status: 'disabled' }, KEY);
  const options = await optionsOf(await api.post(`/api/contexts/${id}/jobs`, { options_of: job }, KEY));
  expect(options).toMatchObject({ deadline: null, webhook: null, priority: 1, schema: null, max_steps: null });
});

test('of a job of this context, with a key, and for a job of its own', async () => {
  const { id, worker, job } = await postWith({});
  const other = await postWith({});
  const path = `/api/contexts/${id}/messages`;
  const unfit = [
    [{ content: 'x', options_of: other.job }, KEY, 422],
    [{ content: 'x', options_of: worker.id }, KEY, 422],
    [{ content: 'x', options_of: job, delivery: 'steer' }, KEY, 422],
  ] as const;
  for (const [body, key, status] of unfit) {
    const refused = await api.post(path, body, key);
    expect([refused.status, refused.body.error.param]).toEqual([status, 'options_of']);
  }
  const token = await api.post(
    '/api/tokens',
    { user: 'ann', scopes: ['run'], expires_in_s: 600, context_ids: [id] },
    KEY,
  );
  const asUser = { authorization: `Bearer ${token.body.token}` };
  const refused = await api.post(path, { content: 'x', options_of: job }, asUser);
  expect([refused.status, refused.body.error.param]).toEqual([403, 'options_of']);
});
