// The log of a job in the API: in order, page by page, by level and call, and only for its tenant.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Accepted } from '../../../src/commands/inputs/posted-input.ts';
import { result, says, startFleet, type Fleet } from '../../workers/worker-fleet.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let fleet: Fleet;
let api: Api;
let job: Accepted;
beforeAll(async () => {
  let asked = 0;
  fleet = await startFleet({
    model: () => ((asked += 1) % 2 === 1 ? says('', ...['one', 'two'].map((name) => ({ name, input: {} }))) : says('')),
    tools: {
      one: {
        execute(_, _signal, { report }) {
          report.log('debug', 'a', { n: 1 });
          report.log('warn', 'b', undefined);
          report.progress({ message: 'half', done: 1, total: 2 });
          return result('1');
        },
      },
      two: {
        execute(_, _signal, { report }) {
          report.log('error', 'c', undefined);
          return result('2');
        },
      },
    },
  });
  api = await openApi({ NIGHTSHIFT_API_KEYS: 'ours:default,theirs:globex' }, fleet.url);
  job = await fleet.begin('go');
  await fleet.ended(job.jobId);
  await fleet.until(async () => (await fleet.query('select 1 from tool_logs')).length === 3);
});
afterAll(async () => {
  await api.close();
  await fleet.close();
});

const get = (path: string, key = 'ours') => api.get(path, { authorization: `Bearer ${key}` });
const logs = (query = '', key = 'ours') => get(`/api/jobs/${job.jobId}/logs${query}`, key);
const texts = ({ body }: { body: Body }): string[] => body.data.map(({ message }: Body) => message);

test('lists the entries of all calls in order, page by page, or after an entry', async () => {
  const { status, body } = await logs();
  expect(status).toBe(200);
  const [first, second, third] = body.data;
  expect(first).toEqual({
    id: expect.stringMatching(/^\d+-1$/),
    job_id: job.jobId,
    tool_call_id: second.tool_call_id,
    attempt: 1,
    level: 'debug',
    message: 'a',
    fields: { n: 1 },
    at: expect.any(String),
  });
  expect(texts({ body })).toEqual(['a', 'b', 'c']);
  expect(body.next_cursor).toBeNull();
  const page = await logs('?limit=2');
  expect(texts(page)).toEqual(['a', 'b']);
  const next = await logs(`?limit=2&cursor=${page.body.next_cursor}`);
  expect(texts(next)).toEqual(['c']);
  expect(next.body.next_cursor).toBeNull();
  expect(texts(await logs(`?after=${first.id}`))).toEqual(['b', 'c']);
  expect(texts(await logs(`?after=${third.id}`))).toEqual([]);
});

test('filters by level and by call', async () => {
  const [first, , third] = (await logs()).body.data;
  expect(texts(await logs('?level=warn'))).toEqual(['b', 'c']);
  expect(texts(await logs('?level=error'))).toEqual(['c']);
  expect(texts(await logs(`?tool_call_id=${first.tool_call_id}`))).toEqual(['a', 'b']);
  expect(texts(await logs(`?tool_call_id=${third.tool_call_id}&level=debug&limit=1`))).toEqual(['c']);
  expect(texts(await logs(`?tool_call_id=${job.jobId}`))).toEqual([]);
});

test('refuses what is no entry, no level and no job; another tenant finds nothing', async () => {
  for (const query of ['?after=x', '?after=1', '?level=loud', '?cursor=x', '?tool_call_id=1'])
    expect((await logs(query)).status).toBe(422);
  expect((await get(`/api/jobs/${job.contextId}/logs`)).status).toBe(404);
  expect((await logs('', 'theirs')).status).toBe(404);
});

test('a call and its step tell the last progress, and how many entries there are', async () => {
  const [{ tool_call_id: id }] = (await logs()).body.data;
  const progress = { message: 'half', done: 1, total: 2, at: expect.any(String) };
  const reported = { progress, log: { entries: 2, dropped: 0 } };
  expect((await get(`/api/contexts/${job.contextId}/tools/${id}`)).body).toMatchObject(reported);
  const steps: Body[] = (await get(`/api/jobs/${job.jobId}/steps`)).body.data;
  expect(steps.find(({ tool_call_id }) => tool_call_id === id)).toMatchObject(reported);
  expect(steps[0]).toMatchObject({ kind: 'model', progress: null, log: null });
  const messages = await get(`/api/contexts/${job.contextId}/messages?include=tool_calls`);
  const calls: Body[] = messages.body.data.flatMap(({ tool_calls = [] }: Body) => tool_calls);
  expect(calls.map(({ log }) => log.entries)).toEqual([2, 1]);
});
