// All pages together are the list: no duplicates and no omissions, whatever happens between two pages.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProcessId } from '../../../src/core/ids.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

/** All pages; `between` runs after each. */
async function readAll(path: string, limit: number, between: () => Promise<unknown>): Promise<Body[]> {
  const all: Body[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await api.get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${query}`);
    expect(status).toBe(200);
    expect(body.data.length).toBeLessThanOrEqual(limit);
    if (body.next_cursor !== null) expect(body.data).toHaveLength(limit);
    all.push(...body.data);
    cursor = body.next_cursor;
    if (cursor !== null) await between();
  } while (cursor !== null);
  return all;
}

const idsOf = (items: Body[]): string[] => items.map((item) => item.id);
const noChange = async (): Promise<void> => undefined;

/** The rows that a reader must have seen: all of `before`, each once. */
function expectWhole(read: Body[], before: string[]): void {
  const ids = idsOf(read);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(before));
}

describe.each([1, 2, 3, 7, 200])('in pages of %i', (limit) => {
  test('workers, contexts and jobs are complete, while more are made and one is deleted', async () => {
    const made: Body[] = [];
    for (let n = 0; n < 7; n += 1) {
      const worker = await api.worker();
      await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'x' });
      made.push(worker);
    }
    const lists = {
      '/api/workers': idsOf(made),
      '/api/contexts': made.map((worker) => worker.context_id),
      '/api/jobs?status=queued': idsOf((await api.get('/api/jobs?limit=7')).body.data),
    };
    for (const [path, expected] of Object.entries(lists)) {
      let steps = 0;
      const read = await readAll(path, limit, async () => {
        steps += 1;
        if (steps > 4) return;
        const worker = await api.worker();
        await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'y' });
        if (steps % 2 === 0) await api.call('DELETE', `/api/workers/${worker.id}`);
      });
      expectWhole(read, expected);
      expect(idsOf(read)).toEqual([...idsOf(read)].sort().reverse());
    }
  });

  test.each(['asc', 'desc'])(
    'messages %s are complete, while queued inputs are posted, admitted and answered',
    async (order) => {
      const worker = await api.worker();
      const path = `/api/contexts/${worker.context_id}/messages`;
      await converse(api, worker.context_id, owner, 'one', 'two');
      await converse(api, worker.context_id, owner, 'three', 'four');
      for (let n = 0; n < 5; n += 1) await api.post(path, { content: `queued ${n}` });
      const before = idsOf((await api.get(`${path}?limit=200&order=${order}`)).body.data);
      expect(before).toHaveLength(9);
      expect(idsOf(await readAll(`${path}?order=${order}`, limit, noChange))).toEqual(before);
      const manual = await take(api, worker.context_id, owner);
      let steps = 0;
      const read = await readAll(`${path}?order=${order}`, limit, async () => {
        steps += 1;
        if (steps > 5) return;
        await manual.admit();
        await manual.complete(`answer ${steps}`);
        await api.post(path, { content: `later ${steps}` });
      });
      expectWhole(read, before);
    },
  );
});

test.each(['', 'x', 'W10', 'WzEsMiwzXQ', Buffer.from('["a","b"]').toString('base64url'), '%00'])(
  'an invented cursor is refused: "%s"',
  async (cursor) => {
    const worker = await api.worker();
    for (const path of ['/api/workers', `/api/contexts/${worker.context_id}/messages`]) {
      const { status, body } = await api.get(`${path}?cursor=${cursor}`);
      if (path.endsWith('messages') && cursor === 'WzEsMiwzXQ') continue;
      expect(status).toBe(422);
      expect(body.error).toMatchObject({ code: 'invalid_request', param: 'cursor' });
    }
  },
);
