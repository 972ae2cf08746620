// A tenant sees its own rows: on every path of the document, an id of another tenant is not found.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { tagOf } from '../../services/statements.ts';
import { openApi, withKey, type Api, type Body } from '../harness.ts';
import { makeOwned, ownedAnswers, tryEveryPath, type Owned } from './every-id.ts';

const OURS = { authorization: 'Bearer ours' };
const THEIRS = { authorization: 'Bearer theirs' };

let api: Api;
let owned: Owned;
beforeAll(async () => {
  api = await openApi({
    NIGHTSHIFT_API_KEYS: 'ours:acme,theirs:globex',
    NIGHTSHIFT_SECRET_KEY: 's'.repeat(40),
  });
  owned = await makeOwned(withKey(api, 'ours'));
});
afterAll(() => api.close());
afterEach(() => vi.useRealTimers());

test('every path with an id of another tenant is not found, and changes nothing', async () => {
  const ours = () => ownedAnswers(withKey(api, 'ours'), owned);
  const before = await ours();
  const answers = await tryEveryPath(withKey(api, 'theirs'), owned);
  expect(answers.length).toBeGreaterThanOrEqual(36);
  for (const { operation, isOfOperator, status, code } of answers) {
    const expected = isOfOperator ? '403 forbidden' : '404 not_found';
    expect(`${operation} ${status} ${code}`).toBe(`${operation} ${expected}`);
  }
  expect(await ours()).toEqual(before);
});

describe('the id of a tenant', () => {
  /** Not whether it is active, which a request that took long asks again before its answer. */
  const lookUps = (of: Api) =>
    of.statements
      .filter((text) => /\btenants\b/.test(text))
      .map(tagOf)
      .filter((tag) => tag !== 'tenants.find_active');

  test('is looked up by requests together, and not again for 0.45 s', async () => {
    // Its time stands still until it is advanced; timers go on.
    vi.useFakeTimers({ toFake: ['performance'] });
    const other = await openApi({ NIGHTSHIFT_API_KEYS: 'ours:acme,new:initech,old:default' }, api.databaseUrl);
    const ask = async (key: string) => (await other.get('/api/workers', { authorization: `Bearer ${key}` })).status;
    expect(await Promise.all([ask('new'), ask('new'), ask('new')])).toEqual([200, 200, 200]);
    expect(lookUps(other)).toEqual(['tenants.find_of_key', 'tenants.find', 'tenants.add']);
    vi.advanceTimersByTime(449);
    await Promise.all([ask('new'), ask('new')]);
    expect(lookUps(other).slice(3)).toEqual([]);
    vi.advanceTimersByTime(1);
    await Promise.all([ask('new'), ask('new')]);
    expect(lookUps(other).slice(3)).toEqual(['tenants.find_of_key']);
    await other.close();
  });

  test('stays when the API starts again, and each name has its own rows', async () => {
    const again = await openApi({ NIGHTSHIFT_API_KEYS: 'theirs:acme,ours:globex' }, api.databaseUrl);
    expect((await again.get(`/api/workers/${owned.worker.id}`, THEIRS)).body.id).toBe(owned.worker.id);
    expect((await again.get(`/api/workers/${owned.worker.id}`, OURS)).status).toBe(404);
    expect(lookUps(again)).toEqual(['tenants.find_of_key', 'tenants.find_of_key']);
    await again.close();
  });
});

describe('another tenant', () => {
  test('finds our rows in no list and no metric', async () => {
    for (const path of [
      '/api/workers',
      '/api/contexts',
      '/api/jobs',
      '/api/roles',
      '/api/approvals',
      `/api/jobs?context_id=${owned.worker.context_id}`,
      `/api/jobs?worker_id=${owned.worker.id}`,
      `/api/workers?parent_worker_id=${owned.worker.id}`,
    ]) {
      expect((await api.get(path, THEIRS)).body.data).toEqual([]);
    }
    const { body } = await api.get('/api/stats', THEIRS);
    expect(body).toEqual({ queue_depth: 0, running: 0, waiting: 0, by_state: {}, waits: [] });
  });

  test('cannot make a child of our worker', async () => {
    const refused = await api.post('/api/workers', { name: 'c', parent_worker_id: owned.worker.id }, THEIRS);
    expect(refused.status).toBe(404);
  });

  test('has idempotency keys of its own', async () => {
    const key = { 'idempotency-key': 'shared' };
    const one = await api.post('/api/workers', { name: 'a' }, { ...OURS, ...key });
    const two = await api.post('/api/workers', { name: 'b' }, { ...THEIRS, ...key });
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.body.id).not.toBe(two.body.id);
  });

  test('sees its own rows', async () => {
    const { body } = await api.get('/api/workers', THEIRS);
    expect(body.data.map((one: Body) => one.name)).toEqual(['b']);
  });
});
