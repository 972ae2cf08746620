// Finding workers, contexts and jobs among the newest by a part of an id, where a worker's name looks like a part, too.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { findContextId, findContextOf, findPlace, findWorker } from '../../src/cli/find/find.ts';
import { idOf, openFakeApi, type FakeApi } from './fake-api.ts';

let api: FakeApi;
beforeAll(async () => {
  api = await openFakeApi();
  api.answers.set('GET /api/jobs', () => ({ data: [], next_cursor: null }));
});
afterAll(() => api.close());

type Named = { n: number; name: string; title?: string };

/** Workers with their contexts, newest first, in pages of two. */
function workers(...all: readonly Named[]) {
  const made = all.map(({ n, name, title = '' }) => ({
    worker: {
      id: idOf(n),
      name,
      context_id: idOf(1_000_000 + n),
      state: 'inactive',
      created_at: '2026-01-01T00:00:00Z',
    },
    context: {
      id: idOf(1_000_000 + n),
      title,
      worker_id: idOf(n),
      worker_name: name,
      created_at: '2026-01-01T00:00:00Z',
    },
  }));
  const pages = (rows: readonly { id: string }[]) => (query: URLSearchParams) => {
    const from = Number(query.get('cursor') ?? 0);
    const next = from + 2 < rows.length ? String(from + 2) : null;
    return { data: rows.slice(from, from + 2), next_cursor: next };
  };
  api.answers.set('GET /api/workers', pages(made.map(({ worker }) => worker)));
  api.answers.set('GET /api/contexts', pages(made.map(({ context }) => context)));
  for (const { worker } of made) api.answers.set(`GET /api/workers/${worker.id}`, () => worker);
  return createClient({ url: api.url, retries: 0 });
}

test('a part is found on later pages, too', async () => {
  const client = workers({ n: 1, name: 'a' }, { n: 2, name: 'b' }, { n: 123_456, name: 'c' });
  expect(await findContextId(client, '1123456')).toBe(idOf(1_123_456));
  expect((await findWorker(client, '0123456')).name).toBe('c');
});

test('the exact name of a worker is not taken for a part of the id of another one', async () => {
  const client = workers({ n: 123_456, name: 'other' }, { n: 1, name: '0123456' });
  for (const find of [findWorker, findPlace, findContextOf]) {
    const found: Promise<unknown> = find(client, '0123456');
    await expect(found).rejects.toThrow('2 ids begin or end with 0123456');
  }
});

test('a name that looks like a part, and a worker whose name is also a part of its own id, are found', async () => {
  const client = workers({ n: 2, name: 'facade' }, { n: 123_456, name: '0123456' });
  expect((await findWorker(client, 'facade')).id).toBe(idOf(2));
  expect((await findWorker(client, '0123456')).id).toBe(idOf(123_456));
  expect((await findPlace(client, 'facade')).workerId).toBe(idOf(2));
  expect((await findPlace(client, '0123456')).workerId).toBe(idOf(123_456));
  expect(await findContextOf(client, '0123456')).toBe(idOf(1_123_456));
  await expect(findPlace(client, 'decade')).rejects.toThrow('No worker has the name decade');
});
