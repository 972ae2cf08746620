// ETag and If-Match, and concurrent changes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const ROUTES: [string, string, (worker: Body) => string][] = [
  ['PATCH', 'a worker', ({ id }) => `/api/workers/${id}`],
  ['PATCH', 'a context', ({ context_id }) => `/api/contexts/${context_id}`],
  ['PUT', 'a context', ({ context_id }) => `/api/contexts/${context_id}`],
];

describe.each(ROUTES)('%s of %s', (method, _, path) => {
  const body = { config: { max_steps: 5 } };

  test.each(['"1"', 'W/"1"', '*', '"7", "1"', ' "1" '])('is done where If-Match %s matches', async (tag) => {
    const worker = await api.worker();
    const { status, headers } = await api.call(method, path(worker), body, { 'if-match': tag });
    expect(status).toBe(200);
    expect(headers['etag']).toBe('"2"');
  });

  test.each(['"2"', '"0"', '1', 'nonsense', '"1x"'])('is refused where If-Match %s does not', async (tag) => {
    const worker = await api.worker();
    const refused = await api.call(method, path(worker), body, { 'if-match': tag });
    expect(refused.status).toBe(412);
    expect(refused.body.error.code).toBe('version_conflict');
    expect((await api.get(path(worker))).headers['etag']).toBe('"1"');
  });

  test('with the same If-Match is done by one of many', async () => {
    const worker = await api.worker();
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((max_steps) =>
        api.call(method, path(worker), { config: { max_steps } }, { 'if-match': '"1"' }),
      ),
    );
    const statuses = answers.map((answer) => answer.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 412)).toHaveLength(4);
  });
});

describe.each([
  ['a worker', ({ id }: Body) => `/api/workers/${id}`],
  ['a context', ({ context_id }: Body) => `/api/contexts/${context_id}`],
])('DELETE of %s', (_, path) => {
  test('is refused where If-Match does not hold, and done where it does', async () => {
    const worker = await api.worker();
    const refused = await api.call('DELETE', path(worker), undefined, { 'if-match': '"2"' });
    expect(refused.status).toBe(412);
    expect((await api.get(path(worker))).status).toBe(200);
    expect((await api.call('DELETE', path(worker), undefined, { 'if-match': '"1"' })).status).toBe(204);
    expect((await api.get(path(worker))).status).toBe(404);
  });
});

test('worker and context share one version', async () => {
  const worker = await api.worker();
  await api.call('PATCH', `/api/workers/${worker.id}`, { name: 'x' });
  const stale = await api.call('PATCH', `/api/contexts/${worker.context_id}`, { title: 'x' }, { 'if-match': '"1"' });
  expect(stale.status).toBe(412);
});

test('concurrent patches are all kept: none overwrites another', async () => {
  const worker = await api.worker();
  const members: object[] = [
    { model: 'simulated/x' },
    { streaming: false },
    { system_prompt: 'p' },
    { max_tokens: 4 },
    { max_steps: 5 },
    { parameters: { a: 1 } },
  ];
  const answers = await Promise.all(
    members.map((config) => api.call('PATCH', `/api/workers/${worker.id}`, { config })),
  );
  expect(answers.map((answer) => answer.status)).toEqual(members.map(() => 200));
  const { body, headers } = await api.get(`/api/workers/${worker.id}`);
  expect(body.config).toEqual(Object.assign({}, ...members));
  expect(headers['etag']).toBe('"7"');
});
