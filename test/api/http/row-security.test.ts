// Row security below the filters of the application: without any of them, a tenant still reads and changes no row of
// another one. The filters are taken out of the statements on their way to PostgreSQL.
import { sql } from 'drizzle-orm';
import { afterEach, expect, test } from 'vitest';
import { indexBacklog } from '../../../src/db/search/search-index.ts';
import { startStatementNetwork, type StatementNetwork } from '../../db/connection/statement-network.ts';
import { createTestDatabase, type TestDatabase } from '../../services/database.ts';
import { withLogins } from '../../services/logins.ts';
import { ABOUT, openApi, withKey, type Api } from '../harness.ts';
import { makeOwned, ownedAnswers, tryEveryPath, type Owned } from './every-id.ts';

const KEYS = { NIGHTSHIFT_API_KEYS: 'ours:acme,theirs:globex', NIGHTSHIFT_SECRET_KEY: 's'.repeat(40) };
const FILTER = /(?:"?\w+"?\.)?"?tenant_id"? = (\$\d+)(?:::bigint)?/g;
/** The marks of tenants and contexts in a search, which are a filter, too. */
const MARKS = /(\$\d+)::tsquery &&/;
/** Of lists: every row of another tenant that one could contain. */
const LISTS = ['workers', 'contexts', 'jobs', 'approvals', 'schedules', 'webhooks', 'keys', 'audit'];
/** What reads a view in place of the table, so that it uses an index. */
const SEARCHES = ['search?q=hello', `jobs?metadata=${encodeURIComponent('{"batch":"first"}')}`];

type Setting = { api: Api; owned: Owned; removed: () => number };

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});

const withoutFilter = (text: string): string =>
  text.replace(FILTER, '($1::bigint is not null)').replace(MARKS, '(left($1::text, 0)::tsquery) &&');
/** The same, and without the views, which filter by themselves. */
const withoutViews = (text: string): string =>
  withoutFilter(text).replace('tenant_search_entries', 'search_entries').replace('tenant_job_metadata', 'jobs');

/** `login`: whose connections the API uses. `without`: a statement without the filters. */
async function withoutFilters(
  login: (database: TestDatabase) => Promise<string>,
  without: (text: string) => string,
): Promise<Setting> {
  const database = await createTestDatabase();
  closing.push(() => database.drop());
  let removed = 0;
  const network: StatementNetwork = await startStatementNetwork(await login(database), (text) => {
    const rest = without(text);
    if (rest === text) return null;
    removed += 1;
    return rest;
  });
  closing.push(() => network.close());
  const whole = await openApi(KEYS, database.url);
  closing.push(() => whole.close());
  const ours = withKey(whole, 'ours');
  const owned = await makeOwned(ours);
  const { body: other } = await ours.post('/api/workers', { name: 'other' });
  await ours.post(`/api/contexts/${other.context_id}/messages`, { content: 'hello', metadata: { batch: 'first' } });
  while (await indexBacklog(whole.database.db));
  const api = await openApi(
    KEYS,
    database.url,
    new Map(),
    async () => null,
    null,
    ABOUT,
    async () => network.url,
  );
  closing.push(() => api.close());
  return { api, owned, removed: () => removed };
}

test('without filters, the login of the API finds nothing of another tenant and changes nothing', async () => {
  const { api, owned, removed } = await withoutFilters(async ({ url }) => (await withLogins(url)).api, withoutFilter);
  const ours = () => ownedAnswers(withKey(api, 'ours'), owned);
  const before = await ours();
  expect(before.map(({ id }) => id)).toEqual([owned.worker.id, owned.worker.context_id, undefined, owned.job]);
  for (const { operation, isOfOperator, status, code } of await tryEveryPath(withKey(api, 'theirs'), owned)) {
    const expected = isOfOperator ? '403 forbidden' : '404 not_found';
    expect(`${operation} ${status} ${code}`).toBe(`${operation} ${expected}`);
  }
  for (const list of [...LISTS, ...SEARCHES]) {
    const { status, body } = await withKey(api, 'theirs').get(`/api/${list}`);
    expect({ list, status, body }).toMatchObject({ list, status: 200, body: { data: [] } });
  }
  for (const list of SEARCHES) expect((await withKey(api, 'ours').get(`/api/${list}`)).body.data, list).toHaveLength(1);
  expect(await ours()).toEqual(before);
  expect(removed()).toBeGreaterThanOrEqual(40);
});

test('without filters and without row security, another tenant finds them: the filters are really gone', async () => {
  const { api, owned } = await withoutFilters(async ({ url }) => url, withoutViews);
  const theirs = withKey(api, 'theirs');
  expect((await theirs.get(`/api/workers/${owned.worker.id}`)).status).toBe(200);
  expect((await theirs.get(`/api/contexts/${owned.worker.context_id}/messages`)).body.data).not.toEqual([]);
  for (const list of SEARCHES) expect((await theirs.get(`/api/${list}`)).body.data, list).toHaveLength(1);
  const found = (await tryEveryPath(theirs, owned)).filter(({ status }) => status < 400);
  expect(found.length).toBeGreaterThan(5);
});

test('an API whose login is not limited any more says so, and is ready again once it is', async () => {
  const limited = async (url: string): Promise<string> => (await withLogins(url)).api;
  const api = await openApi({}, undefined, new Map(), async () => null, null, ABOUT, limited);
  closing.push(() => api.close());
  expect((await api.get('/readyz')).status).toBe(200);
  await api.database.db.execute(sql`/* test */ alter table tenants disable row level security`);
  const { status, body } = await api.get('/readyz');
  expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'unavailable' });
  expect(body.error.message).toContain('Row security does not limit the login of NIGHTSHIFT_API_DATABASE_URL');
  await api.database.db.execute(sql`/* test */ alter table tenants enable row level security`);
  expect((await api.get('/readyz')).status).toBe(200);
});

test('metrics over OTLP count the work of all tenants', async () => {
  const limited = async (url: string): Promise<string> => (await withLogins(url)).api;
  const api = await openApi({}, undefined, new Map(), async () => null, null, ABOUT, limited);
  closing.push(() => api.close());
  const { id } = await api.worker();
  await api.post(`/api/workers/${id}/messages`, { content: 'x' });
  const jobs = (await api.sentFigures()).find(({ name }) => name === 'nightshift_jobs');
  expect(jobs?.samples).toContainEqual({ name: 'nightshift_jobs', labels: { status: 'queued' }, value: 1 });
});
