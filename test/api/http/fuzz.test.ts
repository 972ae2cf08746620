// Random requests over the whole OpenAPI document: none is answered with 5xx, none with a status or a body that the
// document does not have, none is left without an answer. NIGHTSHIFT_TEST_SEED and NIGHTSHIFT_TEST_REQUESTS choose
// others.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { random } from '../../chaos/random.ts';
import { depth } from '../../services/depth.ts';
import { Fuzzer } from './fuzz.ts';
import { addProcess, converse } from '../manual-worker.ts';
import { openApi, withKey, type Api, type Body } from '../harness.ts';

const SEED = Number(process.env['NIGHTSHIFT_TEST_SEED'] ?? 1);
const REQUESTS = Number(process.env['NIGHTSHIFT_TEST_REQUESTS'] ?? depth(800, 2_000));
/** Far longer than any request takes: a request that is cut off there has hung. */
const HANGS_MS = 60_000;
/** So many requests may have deleted the first fixtures. */
const STOCK_EVERY = 100;

const KEY = 'key-of-the-fuzzer';

let api: Api;
beforeAll(async () => {
  // Without keys, the first that a request makes would be needed from then on.
  api = withKey(await openApi({ NIGHTSHIFT_API_KEYS: `${KEY}:default` }), KEY);
});
afterAll(() => api.close());

/** A worker with a conversation, a queued input, a branch and a role. */
async function stock(fuzzer: Fuzzer): Promise<void> {
  const owner = await addProcess(api);
  const worker = await api.worker({ model: 'simulated/default' });
  await converse(api, worker.context_id, owner, 'one', 'two');
  const path = `/api/contexts/${worker.context_id}`;
  const { body: job } = await api.post(`${path}/messages`, { content: 'three' });
  await api.post(`${path}/branches`, { name: 'other' });
  await api.call('PUT', '/api/roles/reader', { system_prompt: 'You read.' });
  fuzzer.learn({ worker_id: worker.id, context_id: worker.context_id, job_id: job.job_id });
  for (const list of [
    `${path}/messages`,
    `${path}/turns`,
    `${path}/branches`,
    '/api/workers',
    '/api/jobs',
    '/api/roles',
  ]) {
    fuzzer.learn((await api.get(`${list}?limit=1`)).body);
  }
}

test(`${REQUESTS} random requests get valid answers, seed ${SEED}`, { timeout: 600_000 }, async () => {
  const fuzzer = new Fuzzer(api.contract.document, random(SEED));
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  for (let n = 0; n < REQUESTS; n += 1) {
    if (n % STOCK_EVERY === 0) await stock(fuzzer);
    const { method, url, headers, body, isStream } = fuzzer.next();
    const asked = `${n}: ${method} ${url} ${JSON.stringify(headers)} ${body?.slice(0, 500) ?? ''}`;
    try {
      const answer = isStream ? await begin(url, headers) : await inTime(api.call(method, url, body, headers));
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status >= 500) faults.push(`${answer.status} ${asked}`);
      else fuzzer.learn(answer.body);
    } catch (error) {
      faults.push(`${String(error)} ${asked}`);
    }
  }
  expect(faults).toEqual([]);
  // Some requests are refused, and some are accepted.
  const share = (from: number): number =>
    [...statuses].reduce((sum, [status, times]) => (Math.floor(status / 100) === from ? sum + times : sum), 0) /
    REQUESTS;
  expect(share(2)).toBeGreaterThan(0.25);
  expect(share(4)).toBeGreaterThan(0.25);
});

/** A stream never ends by itself: its head is read, then the client disconnects. */
async function begin(url: string, headers: Record<string, string>): Promise<{ status: number; body: Body }> {
  const response = await inTime(
    api.app.inject({
      method: 'GET',
      url,
      headers: { host: 'localhost', authorization: `Bearer ${KEY}`, ...headers },
      payloadAsStream: true,
    }),
  );
  response.stream().destroy();
  return { status: response.statusCode, body: {} };
}

function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer')), HANGS_MS);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
