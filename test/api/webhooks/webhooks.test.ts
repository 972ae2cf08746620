// Webhooks over HTTP: who may make, read and change them, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { MOST_WEBHOOKS, WEBHOOK_EVENTS } from '../../../src/core/webhooks/webhook.ts';
import { openSecretBox } from '../../../src/webhooks/secret-box.ts';
import { DEFAULT_TENANT, parseId, type TenantId, type WebhookId } from '../../../src/core/ids.ts';
import { openApi, type Api, type Body } from '../harness.ts';

const SECRET = 'a-secret-of-these-tests-of-32-characters';
const withKey = (key: string) => ({ authorization: `Bearer ${key}` });
const KEYS = {
  all: withKey('all-of-acme-of-tests'),
  read: withKey('read-of-acme-of-tests'),
  run: withKey('run-of-acme-of-tests'),
  other: withKey('all-of-other-of-tests'),
  most: withKey('all-of-most-of-tests'),
};
const ENVIRONMENT = {
  NIGHTSHIFT_SECRET_KEY: SECRET,
  NIGHTSHIFT_API_KEYS: [
    'all-of-acme-of-tests:acme',
    'read-of-acme-of-tests:acme:read',
    'run-of-acme-of-tests:acme:run',
    'all-of-other-of-tests:other',
    'all-of-most-of-tests:most',
  ].join(),
};
const URL_ = 'https://example.com/hooks';
const MISSING = '01999999-9999-7999-8999-999999999999';

let api: Api;
beforeAll(async () => {
  api = await openApi(ENVIRONMENT);
});
afterAll(() => api.close());

async function made(body: object = {}, key = KEYS.all): Promise<Body> {
  const { status, body: webhook } = await api.post(
    '/api/webhooks',
    { url: URL_, events: ['job.finished'], ...body },
    key,
  );
  expect(status).toBe(201);
  return webhook;
}

const shownOf = async ({ id }: Body): Promise<Body> => (await api.get(`/api/webhooks/${id}`, KEYS.all)).body;

const patched = async ({ id }: Body, body: object) => api.call('PATCH', `/api/webhooks/${id}`, body, KEYS.all);

describe('a webhook', () => {
  test('shows its secret once, and is listed without it', async () => {
    const { status, body, headers } = await api.post(
      '/api/webhooks',
      { url: URL_, events: ['job.finished', 'job.waiting'], filter: { role: 'support', metadata: { team: 7 } } },
      { ...KEYS.all, 'idempotency-key': 'one' },
    );
    expect(status).toBe(201);
    expect(headers['location']).toBe(`/api/webhooks/${body.id}`);
    const { secret, ...shown } = body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toEqual({
      id: expect.any(String),
      url: URL_,
      events: ['job.finished', 'job.waiting'],
      filter: { role: 'support', metadata: { team: 7 } },
      status: 'active',
      disabled_reason: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      last_success_at: null,
      last_failure_at: null,
      last_error: null,
      failing_since: null,
      pending: 0,
    });
    expect(await shownOf(body)).toEqual(shown);
    const { body: list } = await api.get('/api/webhooks?limit=1', KEYS.all);
    expect(list.data).toEqual([shown]);
  });

  test('has its secret encrypted, in no table, no line of the log, and bound to it', async () => {
    const { id, secret } = await made();
    const rotated = await api.post(`/api/webhooks/${id}/rotate`, {}, { ...KEYS.all, 'idempotency-key': 'two' });
    expect(rotated.status).toBe(200);
    const tables = await api.database.db.execute<{ name: string }>(
      sql`select table_name as name from information_schema.tables where table_schema = 'nightshift'`,
    );
    for (const text of [secret, rotated.body.secret].map((one: string) => one.slice(6))) {
      for (const { name } of tables) {
        const found = await api.database.db.execute(
          sql`select 1 from ${sql.identifier(name)} t where strpos(t::text, ${text}) > 0`,
        );
        expect([name, found.length]).toEqual([name, 0]);
      }
      expect(JSON.stringify(api.lines)).not.toContain(text);
    }
    const [row] = await api.database.db.execute<{ tenant: TenantId; secret: string; old: string }>(
      sql`select tenant_id as tenant, secret, old_secret as old from webhooks where id = ${id}`,
    );
    const key = { tenantId: row?.tenant ?? DEFAULT_TENANT, id: parseId<WebhookId>(id) ?? ('' as WebhookId) };
    // The first secret of the environment encrypts, all decrypt.
    const box = openSecretBox(['another-secret-of-these-tests-32-characters', SECRET]);
    expect(box?.open(key, row?.secret ?? '')).toBe(rotated.body.secret);
    expect(box?.open(key, row?.old ?? '')).toBe(secret);
    expect(box?.open({ ...key, tenantId: 7 as TenantId }, row?.secret ?? '')).toBeNull();
    expect(openSecretBox(['one'])?.open(key, row?.secret ?? '')).toBeNull();
  });

  test('is changed, disabled, enabled and deleted', async () => {
    const webhook = await made({ filter: { role: 'support' } });
    const changed = await patched(webhook, { url: `${URL_}/2`, events: [...WEBHOOK_EVENTS], filter: null });
    expect(changed).toMatchObject({ status: 200, body: { url: `${URL_}/2`, events: WEBHOOK_EVENTS, filter: null } });
    expect((await patched(webhook, { status: 'disabled' })).body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'requested',
      url: `${URL_}/2`,
    });
    const test_ = await api.post(`/api/webhooks/${webhook.id}/test`, undefined, KEYS.all);
    expect([test_.status, test_.body.error.message]).toEqual([422, expect.stringContaining('Enable it first')]);
    expect((await patched(webhook, { status: 'active' })).body).toMatchObject({
      status: 'active',
      disabled_reason: null,
    });
    const path = `/api/webhooks/${webhook.id}`;
    expect((await api.call('DELETE', path, undefined, KEYS.all)).status).toBe(204);
    expect((await api.call('DELETE', path, undefined, KEYS.all)).status).toBe(404);
    expect((await api.get(path, KEYS.all)).status).toBe(404);
    expect((await api.get(`${path}/deliveries`, KEYS.all)).status).toBe(404);
    const [row] = await api.database.db.execute(sql`select secret from webhooks where id = ${webhook.id}`);
    expect(row).toEqual({ secret: '' });
  });

  test.each([
    [{ events: ['job.finished'] }, null],
    [{ url: URL_, events: [] }, 'events'],
    [{ url: URL_, events: ['budget.exceeded'] }, 'events.0'],
    [{ url: URL_, events: ['job.finished', 'job.finished'] }, 'events'],
    [{ url: 'example.com', events: ['job.finished'] }, 'url'],
    [{ url: 'ftp://example.com', events: ['job.finished'] }, 'url'],
    [{ url: 'https://me:secret@example.com', events: ['job.finished'] }, 'url'],
    [{ url: 'https://example.com/\u0000', events: ['job.finished'] }, 'url'],
    [{ url: 'https://10.0.0.1/', events: ['job.finished'] }, 'url'],
    [{ url: 'https://[fd00::1]/', events: ['job.finished'] }, 'url'],
    [{ url: 'https://metadata.google.internal/', events: ['job.finished'] }, 'url'],
    [{ url: `https://example.com/${'x'.repeat(2_000)}`, events: ['job.finished'] }, 'url'],
    [{ url: URL_, events: ['job.finished'], filter: { user: 'x' } }, 'filter.user'],
    [{ url: URL_, events: ['job.finished'], filter: { metadata: { x: 'y'.repeat(5_000) } } }, 'filter'],
    [{ url: URL_, events: ['job.finished'], secret: 'whsec_mine' }, 'secret'],
  ])('of %j is refused', async (body, param) => {
    const { status, body: answer } = await api.post('/api/webhooks', body, KEYS.all);
    expect([status, answer.error.code]).toEqual([422, 'invalid_request']);
    if (param !== null) expect(answer.error.param).toBe(param);
    expect(JSON.stringify(answer)).not.toContain('me:secret');
  });

  test('has its URL stored as it is used', async () => {
    const { id, url } = await made({ url: 'HTTPS://Example.com/a\tb\n' });
    expect(url).toBe('https://example.com/ab');
    expect((await patched({ id }, { url: 'https://example.com' })).body.url).toBe('https://example.com/');
  });

  test(`is one of ${MOST_WEBHOOKS} of its tenant at most`, async () => {
    for (let count = 0; count < MOST_WEBHOOKS; count += 1) await made({}, KEYS.most);
    const { status, body } = await api.post('/api/webhooks', { url: URL_, events: ['job.finished'] }, KEYS.most);
    expect([status, body.error.message]).toEqual([422, expect.stringContaining(`at most ${MOST_WEBHOOKS}`)]);
  });

  test('needs NIGHTSHIFT_SECRET_KEY', async () => {
    const without = await openApi({});
    const { status, body } = await without.post('/api/webhooks', { url: URL_, events: ['job.finished'] });
    await without.close();
    expect([status, body.error.code]).toEqual([422, 'unsupported']);
    expect(body.error.message).toContain('NIGHTSHIFT_SECRET_KEY');
  });
});

/** Every operation on a webhook, with the status that a key with all scopes gets. */
const operationsOn = (webhook: string, delivery: string): [string, string, object | undefined, number][] => [
  ['GET', `/api/webhooks/${webhook}`, undefined, 200],
  ['GET', `/api/webhooks/${webhook}/deliveries`, undefined, 200],
  ['GET', `/api/webhooks/${webhook}/deliveries/${delivery}`, undefined, 200],
  ['POST', `/api/webhooks/${webhook}/deliveries/${delivery}/retry`, undefined, 202],
  ['POST', `/api/webhooks/${webhook}/test`, undefined, 202],
  ['POST', `/api/webhooks/${webhook}/rotate`, {}, 200],
  ['PATCH', `/api/webhooks/${webhook}`, {}, 200],
  ['DELETE', `/api/webhooks/${webhook}`, undefined, 204],
];

describe('access', () => {
  test('read reads, configure changes, a token of an end user does neither; other tenants find nothing', async () => {
    const { id } = await made();
    const { body: delivery } = await api.post(`/api/webhooks/${id}/test`, undefined, KEYS.all);
    const token = await api.post('/api/tokens', { user: 'u', scopes: ['read', 'run'], expires_in_s: 60 }, KEYS.all);
    const asUser = withKey(token.body.token);
    for (const [method, path, body, status] of operationsOn(id, delivery.id)) {
      const by = async (key: Record<string, string>) => (await api.call(method, path, body, key)).status;
      expect([path, await by(asUser), await by(KEYS.run), await by(KEYS.other)]).toEqual([path, 403, 403, 404]);
      expect([path, await by(KEYS.read)]).toEqual([path, method === 'GET' ? 200 : 403]);
      expect([path, await by(KEYS.all)]).toEqual([path, status]);
    }
    expect((await api.get('/api/webhooks', asUser)).status).toBe(403);
    expect((await api.get('/api/webhooks', KEYS.other)).body.data).toEqual([]);
  });

  test('an id that is none, or of another webhook, is not found', async () => {
    const [one, two] = [await made(), await made()];
    const { body: delivery } = await api.post(`/api/webhooks/${one.id}/test`, undefined, KEYS.all);
    const paths = [
      `/api/webhooks/${MISSING}`,
      `/api/webhooks/${two.id}/deliveries/${delivery.id}`,
      `/api/webhooks/${one.id}/deliveries/${MISSING}`,
    ];
    for (const path of paths) expect([path, (await api.get(path, KEYS.all)).status]).toEqual([path, 404]);
    const retried = await api.post(`/api/webhooks/${two.id}/deliveries/${delivery.id}/retry`, undefined, KEYS.all);
    expect(retried.status).toBe(404);
  });
});

describe('deliveries', () => {
  test('a test is pending until a worker process sends it', async () => {
    const { id } = await made();
    const { status, body } = await api.post(`/api/webhooks/${id}/test`, undefined, KEYS.all);
    expect(status).toBe(202);
    expect(body).toEqual({
      id: expect.any(String),
      webhook_id: id,
      type: 'webhook.test',
      context_id: null,
      job_id: null,
      seq: null,
      status: 'pending',
      attempts: 0,
      created_at: expect.any(String),
      next_attempt_at: expect.any(String),
      last_attempt_at: null,
      delivered_at: null,
      duration_ms: null,
      response_status: null,
      error: null,
      body: expect.stringContaining(`"type":"webhook.test"`),
      response_body: null,
    });
    const { body: text, response_body: _, ...shown } = body;
    expect(JSON.parse(text)).toEqual({ type: 'webhook.test', timestamp: expect.any(String), data: { webhook_id: id } });
    const { body: second } = await api.post(`/api/webhooks/${id}/test`, undefined, KEYS.all);
    const page = await api.get(`/api/webhooks/${id}/deliveries?limit=1`, KEYS.all);
    expect(page.body.data.map((one: Body) => one.id)).toEqual([second.id]);
    const cursor = encodeURIComponent(page.body.next_cursor);
    const next = await api.get(`/api/webhooks/${id}/deliveries?limit=1&cursor=${cursor}`, KEYS.all);
    expect(next.body).toEqual({ data: [shown], next_cursor: null });
    expect((await api.get(`/api/webhooks/${id}/deliveries?status=delivered`, KEYS.all)).body.data).toEqual([]);
    expect((await shownOf({ id })).pending).toBe(2);
  });
});

describe('a message that names a webhook', () => {
  test('is accepted by every route that posts one, and its job is stored with it', async () => {
    const { id } = await made();
    const webhook = { id };
    const worker = await api.post('/api/workers', { name: 'w', input: { content: 'x', webhook } }, KEYS.all);
    expect(worker.status).toBe(201);
    const jobs = [worker.body.job_id];
    for (const [path, body] of [
      [`/api/contexts/${worker.body.context_id}/messages`, { content: 'x', webhook }],
      [`/api/contexts/${worker.body.context_id}/messages`, { content: 'x', webhook, delivery: 'steer' }],
      [`/api/contexts/${worker.body.context_id}/jobs`, { webhook }],
      [`/api/workers/${worker.body.id}/messages`, { content: 'x', webhook }],
    ] as const) {
      const { status, body: accepted } = await api.post(path, body, KEYS.run);
      expect([path, status]).toEqual([path, 202]);
      jobs.push(accepted.job_id);
    }
    const rows = await api.database.db.execute<{ id: string }>(
      sql`select job_id as id from job_webhooks where webhook_id = ${id}`,
    );
    expect(new Set(rows.map((row) => row.id))).toEqual(new Set(jobs));
  });

  test('is refused for one that is missing, disabled or of another tenant, for an address, and from a token', async () => {
    const [active, disabled, foreign] = [await made(), await made({ status: 'disabled' }), await made({}, KEYS.other)];
    const { body: worker } = await api.post('/api/workers', { name: 'w', user: 'u' }, KEYS.all);
    const path = `/api/contexts/${worker.context_id}/messages`;
    const post = async (webhook: object, key = KEYS.all) => {
      const { status, body } = await api.post(path, { content: 'x', webhook }, key);
      return [status, body.error?.param];
    };
    for (const id of [MISSING, disabled.id, foreign.id]) expect(await post({ id })).toEqual([422, 'webhook.id']);
    expect(await post({ url: URL_ })).toEqual([422, expect.stringContaining('webhook')]);
    const token = await api.post('/api/tokens', { user: 'u', scopes: ['run'], expires_in_s: 60 }, KEYS.all);
    expect(await post({ id: active.id }, withKey(token.body.token))).toEqual([403, 'webhook']);
    // Nothing was queued.
    const { body: jobs } = await api.get(`/api/jobs?context_id=${worker.context_id}`, KEYS.all);
    expect(jobs.data).toEqual([]);
  });
});
