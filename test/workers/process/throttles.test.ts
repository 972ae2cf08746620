// One throttle for a tenant's calls to a model: the Retry-After of one call delays all of them, on every worker process;
// calls of other tenants begin gradually.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { Accepted } from '../../../src/commands/inputs/posted-input.ts';
import { DEFAULT_TENANT, type ContextId, type JobId } from '../../../src/core/ids.ts';
import { throttleId } from '../../../src/llm/key-id.ts';
import { createModels } from '../../../src/llm/models.ts';
import { openApi, type Api, type Body } from '../../api/harness.ts';
import { startFakeProvider, type FakeProvider } from '../../llm/fake-provider.ts';
import { settings } from '../../core/builders.ts';
import { fails, says, startFleet, type Fleet } from '../worker-fleet.ts';

const KEY = 'sk-ant-not-to-be-seen';
/** The Retry-After of a busy provider, and how long it refuses: clocks that follow the database's differ a little. */
const RETRY_AFTER_S = 6;
const REFUSES_MS = 5_000;
const AN_HOUR_S = 3_600;
/** How long the provider takes until its first output. */
const THINKS_MS = 150;

let fleet: Fleet | null = null;
let provider: FakeProvider | null = null;
let api: Api | null = null;
afterEach(async () => {
  await api?.close();
  await fleet?.close();
  await provider?.close();
  [fleet, provider, api] = [null, null, null];
});

/** `text`: the input. `answered`: how many were answered by then. */
type Came = { at: number; text: string; isRefused: boolean; answered: number };

/** A provider that refuses every request for a while, from the first one on; and the time of each request. */
async function startBusyProvider(retryAfterS = RETRY_AFTER_S) {
  const came: Came[] = [];
  let answered = 0;
  const started = await startFakeProvider(async ({ entries }) => {
    const at = performance.now();
    const isRefused = retryAfterS > RETRY_AFTER_S || at < (came[0]?.at ?? at) + REFUSES_MS;
    came.push({ at, text: entries.at(-1)?.text ?? '', isRefused, answered });
    const headers = { 'retry-after': String(retryAfterS) };
    if (isRefused) return { status: 429, type: 'rate_limit_error', headers };
    await sleep(THINKS_MS);
    answered += 1;
    return { text: 'at last' };
  });
  provider = started;
  const models = createModels({
    anthropic: { apiKey: KEY, baseURL: started.anthropicURL },
    idleTimeoutMs: 50_000,
  });
  return { came, models };
}

async function createContexts(of: Fleet, count: number): Promise<ContextId[]> {
  const created = await Promise.all(Array.from({ length: count }, () => of.createContext()));
  return created.map(({ contextId }) => contextId);
}

function postTo(of: Fleet, contexts: readonly ContextId[]): Promise<Accepted[]> {
  return Promise.all(contexts.map((contextId, n) => of.post(contextId, `hi ${n}`)));
}

/** Posts to a new context, and waits until the refusal is known. */
async function setThrottle(of: Fleet): Promise<Accepted> {
  const { contextId } = await of.createContext();
  const posted = await of.post(contextId, 'hi');
  await of.until(async () => (await of.query('select 1 from provider_throttles')).length === 1);
  return posted;
}

test('the reason of a waiting context names the throttle, in plain words', async () => {
  const { models } = await startBusyProvider(AN_HOUR_S);
  const of = (fleet = await startFleet({
    model: () => says('never'),
    provider: { models, name: 'anthropic' },
  }));
  api = await openApi({}, of.url);
  await setThrottle(of);
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'hi');
  await of.until(async () => (await of.job(jobId))['status'] === 'waiting');
  const { body } = await api.get(`/api/contexts/${contextId}/state`);
  expect(body).toMatchObject({ state: 'TransientFailure', attempt: 1 });
  expect(body.why).toMatch(
    /^The model anthropic\/\S+ is throttled until 20\S+Z \(rate limited\)\. The next model call is at 20\S+Z\.$/,
  );
  expect(body.waiting_for).toEqual([{ kind: 'timer', until: expect.any(String) }]);
  const steps = await api.get(`/api/jobs/${jobId}/steps`);
  expect(steps.body.data).toMatchObject([
    { kind: 'wait', name: 'throttle', status: 'waiting', attempt: 1, reason: 'rate_limited', ended_at: null },
  ]);
  expect((await api.get('/metrics')).body).toContain('nightshift_provider_throttles{provider="anthropic"} 1\n');
});

test('a Retry-After throttles sixty contexts on two processes, which are then let in gradually', async () => {
  const { came, models } = await startBusyProvider();
  const of = (fleet = await startFleet({
    model: () => says('never'),
    provider: { models, name: 'anthropic' },
    processes: 2,
    concurrency: 20,
  }));
  api = await openApi({}, of.url);
  const contexts = await createContexts(of, 60);
  const first = await setThrottle(of);
  const rest = await postTo(of, contexts);

  // All are answered; throttled ones never failed.
  for (const { jobId } of [first, ...rest]) {
    expect(await of.ended(jobId)).toMatchObject({ status: 'completed', failures: 0, error: null });
  }
  const attempts = await of.query('select attempt, count(*)::int as jobs from jobs group by attempt order by 1');
  expect(attempts).toEqual([
    { attempt: 1, jobs: 60 },
    { attempt: 2, jobs: 1 },
  ]);

  // The timeline of each of them has the wait, up to its call.
  for (const { jobId } of rest) {
    const [wait, call, ...more] = (await api.get(`/api/jobs/${jobId}/steps`)).body.data;
    expect(wait).toMatchObject({ kind: 'wait', name: 'throttle', status: 'completed', reason: 'rate_limited' });
    expect(call).toMatchObject({ kind: 'model', status: 'completed', attempt: 1, reason: null });
    expect(Date.parse(wait.ended_at) - Date.parse(wait.started_at)).toBeGreaterThan(0);
    expect(wait.ended_at).toBe(call.started_at);
    expect(more).toEqual([]);
  }

  // None arrived during the throttle, and then two from each process before any was answered.
  const [, ...later] = came;
  expect(later).toHaveLength(61);
  expect(later.filter(({ isRefused }) => isRefused)).toEqual([]);
  expect(later.filter(({ answered }) => answered === 0).length).toBeLessThanOrEqual(4);

  // The key itself is stored nowhere.
  const throttles = await of.query('select * from provider_throttles');
  expect(throttles).toMatchObject([{ provider: 'anthropic', reason: 'rate_limited' }]);
  expect(JSON.stringify(throttles)).not.toContain(KEY);
  expect((await api.get('/metrics')).body).toContain('nightshift_provider_throttles{provider="anthropic"} 0\n');
});

test('of many calls already sent, none is repeated during the throttle', async () => {
  const { came, models } = await startBusyProvider();
  const of = (fleet = await startFleet({
    model: () => says('never'),
    provider: { models, name: 'anthropic' },
    processes: 2,
    concurrency: 30,
  }));
  const posted = await postTo(of, await createContexts(of, 60));
  for (const { jobId } of posted) expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  const refused = came.filter(({ isRefused }) => isRefused).map(({ text }) => text);
  expect(new Set(refused).size).toBe(refused.length);
  expect(came).toHaveLength(60 + refused.length);
  // A busy machine may handle a refusal when its throttle is nearly over: that job waits in place, in its attempt.
  const [again] = await of.query('select count(*)::int as jobs from jobs where attempt > 1');
  expect(again?.['jobs']).toBeGreaterThan(0);
  expect(again?.['jobs']).toBeLessThanOrEqual(refused.length);
});

test('a short throttle is waited out in place, and costs no row', async () => {
  let calls = 0;
  const of = (fleet = await startFleet({
    model: async () => {
      calls += 1;
      await sleep(20);
      return calls === 1 ? fails({ class: 'overloaded', message: 'busy', retryAfterMs: null }) : says('ok');
    },
    concurrency: 20,
  }));
  // As many as are let in at once when the throttle ends.
  const contexts = await createContexts(of, 1);
  const first = await setThrottle(of);
  const rest = await postTo(of, contexts);
  for (const { jobId } of [first, ...rest]) {
    expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  }
  const waited = await of.query(`
    select context_id from events where name = 'StateChanged' and data->>'new_state' = 'TransientFailure'`);
  expect(waited).toEqual([{ context_id: first.contextId }]);
});

test('a throttle outlives the process that received the Retry-After, and applies to one key', async () => {
  const { came, models } = await startBusyProvider(AN_HOUR_S);
  const other = await startFakeProvider({ text: 'at once' });
  const received = (fleet = await startFleet({
    model: () => says('never'),
    provider: { models, name: 'anthropic' },
  }));
  const { jobId } = await setThrottle(received);
  const of = await startFleet({
    model: () => says('never'),
    databaseUrl: received.url,
    processes: 0,
    provider: {
      models: createModels({
        anthropic: { apiKey: KEY, baseURL: other.anthropicURL },
        idleTimeoutMs: 10_000,
      }),
      name: 'anthropic',
    },
  });
  try {
    // The throttle begins with the answer; the failure of the job is stored a little later.
    await received.until(async () => (await received.query('select 1 from jobs where failures = 1')).length === 1);
    await received.processes[0]?.drain();
    await of.startProcess();
    const { contextId } = await of.createContext();
    expect(await of.ended((await of.post(contextId, 'hi')).jobId)).toMatchObject({ status: 'completed' });
    expect(other.requests).toHaveLength(1);
    expect(came).toHaveLength(1);
    expect(await of.query('select key_id from provider_throttles')).toEqual([{ key_id: models.keyId('anthropic') }]);
    await of.cancel(jobId);
  } finally {
    await of.close();
    await other.close();
  }
});

test('a process without Redis messages learns of a throttle by its heartbeat, and so does one that starts later', async () => {
  let calls = 0;
  const of = (fleet = await startFleet({ model: () => says(String((calls += 1))), processes: 1 }));
  const name = { provider: 'simulated', model: 'scripted' } as const;
  await of.query(`
    insert into provider_throttles (id, tenant_id, provider, key_id, model, reason, since, refused_at, until)
    values ('${throttleId('simulated', name, DEFAULT_TENANT)}', ${DEFAULT_TENANT}, 'simulated', 'simulated', '${name.model}',
      'overloaded', now(), now(), now() + interval '1 hour')`);
  await of.startProcess();
  // The second heartbeat of each is sent when the result of the first is known.
  await of.until(
    async () =>
      (
        await of.query(`
        select 1 from processes p, provider_throttles g
        where p.heartbeat_at < greatest(g.since, p.started_at) + interval '250 milliseconds'`)
      ).length === 0,
  );
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'hi');
  await of.until(async () => (await of.job(jobId))['status'] === 'waiting');
  expect(calls).toBe(0);
  await of.cancel(jobId);
  expect(await of.job(jobId)).toMatchObject({ status: 'cancelled', error: null });
});

test('a deadline is met while the key is throttled', async () => {
  const of = (fleet = await startFleet({
    model: () => fails({ class: 'rate_limited', message: 'slow', retryAfterMs: 60_000 }),
  }));
  await setThrottle(of);
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'hi', { deadlineMs: 3_600_000 });
  await of.until(async () => (await of.job(jobId))['status'] === 'waiting');
  await of.passDeadline(jobId);
  expect(await of.ended(jobId)).toMatchObject({
    status: 'incomplete',
    error: { code: 'deadline' },
    attempt: 1,
  });
});

const KEYS = { NIGHTSHIFT_API_KEYS: 'key-a:a,key-b:b', NIGHTSHIFT_ADMIN_KEY: 'key-of-the-operator' };
const A = { authorization: 'Bearer key-a' };
const B = { authorization: 'Bearer key-b' };
const OPERATOR = { authorization: 'Bearer key-of-the-operator' };

/** A provider that refuses inputs that begin with `no`, for a minute each. */
async function startRefusingProvider() {
  const started = await startFakeProvider(({ entries }) =>
    entries.at(-1)?.text.startsWith('no') === true
      ? { status: 429, type: 'rate_limit_error', headers: { 'retry-after': '60' } }
      : { text: 'yes' },
  );
  provider = started;
  const models = createModels({ anthropic: { apiKey: KEY, baseURL: started.anthropicURL }, idleTimeoutMs: 50_000 });
  const of = (fleet = await startFleet({
    model: () => says('never'),
    provider: { models, name: 'anthropic' },
    resolve: ({ config }) => ({
      kind: 'served',
      settings: settings({ model: { provider: 'anthropic', model: config.model?.replace('anthropic/', '') ?? '' } }),
    }),
  }));
  const on = (api = await openApi(KEYS, of.url));
  const ask = async (who: Record<string, string>, content: string, model: string): Promise<string> => {
    const config = { model: `anthropic/${model}` };
    const { body } = await on.post('/api/workers', { name: 'test', config, input: { content } }, who);
    return body.job_id;
  };
  const until = (jobId: string, status: string) =>
    of.until(async () => (await of.job(jobId as JobId))['status'] === status);
  return { of, on, ask, until, provider: started };
}

test('the throttle that one tenant caused delays another one by a second, and no other model', async () => {
  const { of, ask, until, provider: seen } = await startRefusingProvider();
  const refused = await ask(A, 'no', 'm-1');
  await until(refused, 'waiting');
  const began = performance.now();
  // All of the second tenant are sent within the minute of the first one, although they come together.
  const others = await Promise.all([1, 2, 3].map((n) => ask(B, `yes ${n}`, 'm-1')));
  const elsewhere = await ask(A, 'yes', 'm-2');
  for (const jobId of [...others, elsewhere]) await until(jobId, 'completed');
  expect(performance.now() - began).toBeLessThan(30_000);
  const waiting = await ask(A, 'yes', 'm-1');
  await until(waiting, 'waiting');
  expect(seen.requests).toHaveLength(5);
  expect(
    await of.query('select g.provider, g.model, t.name from provider_throttles g join tenants t on t.id = g.tenant_id'),
  ).toEqual([{ provider: 'anthropic', model: 'm-1', name: 'a' }]);
});

test('the operator sees a throttle and lifts it: the refused job and those that wait go on', async () => {
  const { of, on, ask, until, provider: seen } = await startRefusingProvider();
  const refused = await ask(A, 'no', 'm-1');
  await until(refused, 'waiting');
  const waiting = await ask(A, 'yes', 'm-1');
  await until(waiting, 'waiting');
  const throttlesOf = async (who: Record<string, string>): Promise<Body> => {
    const { body } = await on.get('/api/system', who);
    return body.providers.find(({ name }: Body) => name === 'anthropic').throttles;
  };
  expect(await throttlesOf(A)).toBeNull();
  const [throttle, ...more] = await throttlesOf(OPERATOR);
  expect(more).toEqual([]);
  expect(throttle).toMatchObject({ model: 'm-1', reason: 'rate_limited', tenants: ['a'] });

  const path = `/api/providers/anthropic/throttles/${throttle.id}`;
  expect((await on.call('DELETE', path, undefined, A)).status).toBe(403);
  expect((await on.call('DELETE', `/api/providers/openai/throttles/${throttle.id}`, undefined, OPERATOR)).status).toBe(
    404,
  );
  seen.answer({ text: 'yes' });
  expect((await on.call('DELETE', path, undefined, OPERATOR)).status).toBe(204);
  await until(refused, 'completed');
  await until(waiting, 'completed');
  expect(await throttlesOf(OPERATOR)).toEqual([]);
  // It may be repeated for a minute.
  expect((await on.call('DELETE', path, undefined, OPERATOR)).status).toBe(204);
  await of.query(`update provider_throttles set lifted_at = lifted_at - interval '2 minutes'`);
  expect((await on.call('DELETE', path, undefined, OPERATOR)).status).toBe(404);
});

test('failures of the simulated model throttle their own tenant only', async () => {
  const of = (fleet = await startFleet({
    model: ({ messages }) =>
      JSON.stringify(messages.at(-1)).includes('no')
        ? fails({ class: 'rate_limited', message: 'slow', retryAfterMs: 60_000 })
        : says('yes'),
  }));
  const on = (api = await openApi(KEYS, of.url));
  const ask = async (who: Record<string, string>, content: string): Promise<JobId> =>
    (await on.post('/api/workers', { name: 'test', input: { content } }, who)).body.job_id;
  const refused = await ask(A, 'no');
  await of.until(async () => (await of.job(refused))['status'] === 'waiting');
  expect(await of.ended(await ask(B, 'yes'))).toMatchObject({ status: 'completed', attempt: 1 });
  const ids = await of.query('select id from provider_throttles');
  await ask(B, 'no');
  await of.until(async () => (await of.query('select id from provider_throttles')).length === 2);
  expect(ids).toHaveLength(1);
});
