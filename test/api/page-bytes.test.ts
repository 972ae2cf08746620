// Pages are bounded by bytes: what is large comes in small pages, what is larger than a page alone, and nothing is left out.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PAGE_BYTES } from '../../src/db/page-bytes.ts';
import { openApi } from './harness.ts';
import type { Api, Body } from './harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const MEGABYTE = 1024 * 1024;
const text = (bytes: number): string => 'x'.repeat(bytes);

/** All pages of a list: of each its ids, and its bytes as they were sent. */
async function pagesOf(path: string): Promise<{ ids: string[]; bytes: number }[]> {
  const pages: { ids: string[]; bytes: number }[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body }: Body = await api.get(`${path}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    pages.push({
      ids: body.data.map(({ id, tool_call_id: call }: Body) => id ?? call),
      bytes: JSON.stringify(body).length,
    });
    cursor = body.next_cursor;
  }
  return pages;
}

function expectBounded(pages: { ids: string[]; bytes: number }[], ids: readonly string[]): void {
  expect(pages.flatMap((page) => page.ids)).toEqual(ids);
  for (const page of pages.slice(0, -1)) expect(page.ids.length).toBeGreaterThan(0);
  for (const page of pages) {
    if (page.ids.length > 1) expect(page.bytes).toBeLessThan(PAGE_BYTES * 1.1);
  }
}

test('queued inputs, in either direction', async () => {
  const { context_id: id } = await api.worker();
  const ids: string[] = [];
  for (const size of [1, 1, 1, 1, 9, 0, 0, 5, 3, 3]) {
    const posted = await api.post(`/api/contexts/${id}/messages`, { content: text(size * MEGABYTE + 10) });
    ids.push(posted.body.message_id);
  }
  const asc = await pagesOf(`/api/contexts/${id}/messages?limit=100`);
  expectBounded(asc, ids);
  expect(asc.map((page) => page.ids.length)).toEqual([3, 1, 1, 2, 1, 1, 1]);
  const desc = await pagesOf(`/api/contexts/${id}/messages?limit=100&order=desc`);
  expectBounded(desc, ids.toReversed());
  expectBounded(await pagesOf(`/api/contexts/${id}/messages?limit=2`), ids);
});

test('jobs with what they put out', async () => {
  const { context_id: id } = await api.worker();
  const jobs: string[] = [];
  for (const size of [1, 3, 3, 7, 1]) {
    const { body } = await api.post(`/api/contexts/${id}/messages`, { content: text(size * MEGABYTE) });
    jobs.unshift(body.job_id);
  }
  await api.database.db.execute(sql`
    update jobs set output_message_id = message_id where context_id = ${id}`);
  expectBounded(await pagesOf(`/api/jobs?context_id=${id}&limit=100`), jobs);
});

test('workers and contexts with their configs', async () => {
  const own = await openApi();
  const made: Body[] = [];
  for (let count = 0; count < 90; count += 1) made.unshift(await own.worker({ system_prompt: text(60_000) }));
  for (const [path, ids] of [
    ['/api/workers?limit=200', made.map(({ id }) => id)],
    ['/api/contexts?limit=200', made.map(({ context_id: id }) => id)],
  ] as const) {
    const first = await own.get(path);
    expect(first.body.data.length).toBeLessThan(90);
    const rest = await own.get(`${path}&cursor=${first.body.next_cursor}`);
    expect(rest.body.next_cursor).toBeNull();
    expect([...first.body.data, ...rest.body.data].map(({ id }: Body) => id)).toEqual(ids);
  }
  await own.close();
});
