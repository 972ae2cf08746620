// How many jobs are retried page by page, without a browser: which requests are sent, and what is sent again after an error.
import { expect, test, vi } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { beginRetry, retryJobs, type JobTarget, type Retry } from '../../web/src/data/retry-jobs.ts';

const ID = '00000000-0000-7000-8000-000000000001';
const ONE = { id: ID, context_id: ID, retry_job_id: null, error: null };

type Sent = { key: string | null; body: { cursor?: string; ids?: string[]; filter?: { created_after?: string } } };

/** An API whose answers to the second page are lost until `isUp` is set. */
function prepare() {
  const sent: Sent[] = [];
  const state = { isUp: false };
  const client = createClient({
    url: 'http://nightshift.test',
    retries: 0,
    fetch: async (_, { headers, body } = {}) => {
      sent.push({
        key: new Headers(headers).get('idempotency-key'),
        body: JSON.parse(typeof body === 'string' ? body : 'null'),
      });
      if (sent.length > 1 && !state.isUp) throw new Error('The connection was lost.');
      return Response.json({ data: [ONE], next_cursor: sent.length === 1 ? 'next' : null, retried: 1, refused: 0 });
    },
  });
  return { sent, state, client };
}

async function retriedInTwoParts(target: JobTarget): Promise<Sent[]> {
  const { sent, state, client } = prepare();
  let soFar: Retry = beginRetry(target);
  const onPage = (page: Retry): void => void (soFar = page);
  await expect(retryJobs(client, soFar, onPage)).rejects.toThrow();
  state.isUp = true;
  vi.setSystemTime(Date.now() + 60_000);
  expect(await retryJobs(client, soFar, onPage)).toEqual([ONE, ONE]);
  return sent;
}

test('a page whose answer was lost is sent again as it was, under its key, also if the filter moves with the time', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const [first, lost, again] = await retriedInTwoParts({ kind: 'matching', filter: { within_ms: 3_600_000 } });
    expect(again).toEqual(lost);
    expect(lost?.body.cursor).toBe('next');
    expect(lost?.key).not.toBe(first?.key);
    expect(lost?.body.filter).toEqual(first?.body.filter);
    const ids = Array.from({ length: 201 }, () => ID);
    const selected = await retriedInTwoParts({ kind: 'selected', ids, unfinished: [] });
    expect(selected[2]).toEqual(selected[1]);
    expect(selected.map(({ body }) => body.ids?.length)).toEqual([200, 1, 1]);
    expect(selected[1]?.key).not.toBe(selected[0]?.key);
  } finally {
    vi.useRealTimers();
  }
});
