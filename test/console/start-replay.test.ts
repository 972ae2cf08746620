// How a replay is started, without a browser: which requests are sent, and what happens to its fork if one fails.
import { describe, expect, test } from 'vitest';
import { createClient, type Context, type Job } from '../../src/client/index.ts';
import { readSettings } from '../../web/src/data/jobs/replay.ts';
import type { ToolMode } from '../../web/src/data/jobs/replay-settings.ts';
import { beginReplay, startReplay } from '../../web/src/data/jobs/start-replay.ts';

type Request = { call: string; key: string | null; body: unknown };
/** Null: the answer is lost. */
type Answer = { status: number; body: object } | null;

const ok = (body: object): Answer => ({ status: 200, body });
const refused = (status: number): Answer => ({ status, body: { error: { code: 'forbidden', message: 'No.' } } });

const job: Job = JSON.parse(
  JSON.stringify({ id: 'job', context_id: 'c', worker_id: 'w', role: null, user: 'mia', model: 'a/old', metadata: {} }),
);
const FORK = { id: 'fork', worker_id: 'w2', config: { model: 'a/b', system_prompt: 'Be.' } };
const EFFECTIVE = { effective: { offered_tools: [] } };

/** An API that answers each call as the table says, and otherwise as if all went well. */
function prepare(answers: Record<string, Answer> = {}) {
  const requests: Request[] = [];
  const usual: Record<string, Answer> = {
    'POST /api/contexts/c/fork': ok(FORK),
    'GET /api/workers/w2': ok(EFFECTIVE),
    'PATCH /api/contexts/fork': ok(FORK),
    'POST /api/contexts/fork/jobs': ok({ job_id: 'other' }),
    'DELETE /api/contexts/fork': ok({}),
  };
  const all = { ...usual, ...answers };
  const client = createClient({
    url: 'http://nightshift.test',
    retries: 0,
    fetch: async (input, { method = 'GET', headers, body } = {}) => {
      const call = `${method} ${new URL(input instanceof Request ? input.url : input).pathname}`;
      const key = new Headers(headers).get('idempotency-key');
      requests.push({ call, key, body: typeof body === 'string' ? JSON.parse(body) : null });
      const answer = all[call] ?? null;
      if (answer === null) throw new Error('The connection was lost.');
      return Response.json(answer.body, { status: answer.status });
    },
  });
  const of = (call: string) => requests.filter((one) => one.call === call);
  return { client, all, requests, of };
}

function attempt(tools: ToolMode = 'none') {
  const wanted = { model: 'a/b', systemPrompt: 'Be.', parameters: {} };
  return beginReplay({ messageId: 'm', title: 'Replay', wanted, tools, outputSchema: null });
}

const START = 'POST /api/contexts/fork/jobs';
const DELETE = 'DELETE /api/contexts/fork';

test('the user of the job is named only where the session acts for no user', async () => {
  const { client, of } = prepare();
  await startReplay(client, job, attempt(), null);
  await startReplay(client, job, attempt(), 'https://login.example#vera');
  expect(of(START).map(({ body }) => body)).toEqual([{ metadata: {}, user: 'mia' }, { metadata: {} }]);
});

test('the model of the form is always written, and the rest where the fork has something else', async () => {
  const { client, of } = prepare({ 'POST /api/contexts/c/fork': ok({ ...FORK, config: { system_prompt: 'Other.' } }) });
  await startReplay(client, { ...job, model: 'a/b' }, attempt('same'), null);
  expect(of('PATCH /api/contexts/fork')[0]?.body).toEqual({ config: { model: 'a/b', system_prompt: 'Be.' } });
  const same = prepare();
  await startReplay(same.client, job, attempt('same'), null);
  expect(same.of('PATCH /api/contexts/fork')[0]?.body).toEqual({ config: { model: 'a/b' } });
});

describe('a replay that does not start', () => {
  test.each(['PATCH /api/contexts/fork', START])('is refused by %s: its fork is deleted', async (call) => {
    const { client, of } = prepare({ [call]: refused(403) });
    await expect(startReplay(client, job, attempt(), null)).rejects.toMatchObject({ code: 'forbidden' });
    expect(of(DELETE)).toHaveLength(1);
  });

  test.each([null, refused(500), refused(503), refused(408)])(
    'after an answer that is not definite it keeps its fork, and is repeated under the same key',
    async (answer) => {
      const api = prepare({ [START]: answer });
      const first = await startReplay(api.client, job, attempt(), null);
      if (first.kind !== 'unknown') throw new Error('It has started.');
      expect(api.of(DELETE)).toEqual([]);
      expect(first.attempt.fork?.id).toBe('fork');
      api.all[START] = ok({ job_id: 'other' });
      expect(await startReplay(api.client, job, first.attempt, null)).toEqual({ kind: 'started', jobId: 'other' });
      expect(api.of('POST /api/contexts/c/fork')).toHaveLength(1);
      expect(api.of('PATCH /api/contexts/fork')).toHaveLength(1);
      const [one, other] = api.of(START);
      expect(other).toEqual(one);
    },
  );

  test('is not deleted by a refusal of the repeated request: the first one may have started it', async () => {
    const api = prepare({ [START]: null });
    const first = await startReplay(api.client, job, attempt(), null);
    if (first.kind !== 'unknown') throw new Error('It has started.');
    api.all[START] = refused(401);
    expect((await startReplay(api.client, job, first.attempt, null)).kind).toBe('unknown');
    expect(api.of(DELETE)).toEqual([]);
  });

  test('asks for the same fork again if the answer with it was lost', async () => {
    const api = prepare({ 'POST /api/contexts/c/fork': null });
    const first = await startReplay(api.client, job, attempt(), null);
    if (first.kind !== 'unknown') throw new Error('It has started.');
    api.all['POST /api/contexts/c/fork'] = ok(FORK);
    await startReplay(api.client, job, first.attempt, null);
    const [one, other] = api.of('POST /api/contexts/c/fork');
    expect(other).toEqual(one);
  });
});

describe('a replay that asks before each call', () => {
  const offered = (name: string, rule: object | null, field = 'tools') => ({ name, field, rule });
  const asks = { tool: '*', decision: 'always' };

  const approvalWith = async (tools: object[], own: NonNullable<Context['config']['approval']> = []) => {
    const { client, of } = prepare({
      'POST /api/contexts/c/fork': ok({ ...FORK, config: { ...FORK.config, approval: own } }),
      'GET /api/workers/w2': ok({ effective: { offered_tools: tools } }),
    });
    await startReplay(client, job, attempt('ask'), null);
    return of('PATCH /api/contexts/fork')[0]?.body;
  };

  test('does not ask about questions and timers, unless a rule does', async () => {
    const free = [offered('ask_user', null), offered('sleep_until', null), offered('send_mail', null)];
    expect(await approvalWith(free)).toMatchObject({
      config: { approval: [{ tool: 'ask_user', decision: 'never' }, { tool: 'sleep_until', decision: 'never' }, asks] },
    });
    const own = { tool: 'ask_*', decision: 'always' } as const;
    expect(await approvalWith([offered('ask_user', { ...own, source: 'worker' })], [own])).toMatchObject({
      config: { approval: [asks, own] },
    });
    expect(await approvalWith([offered('ask_user', null, 'client_tools')])).toMatchObject({
      config: { approval: [asks] },
    });
  });
});

test('the settings of a job without a model call are those that apply to its worker, also from its role', async () => {
  const value = (one: unknown) => ({ value: one, source: 'role', inherited: null });
  const { client } = prepare({
    'GET /api/jobs/job/steps/1/prompt': { status: 404, body: { error: { code: 'not_found', message: 'None.' } } },
    'GET /api/workers/w': ok({
      config: {},
      effective: { model: value('a/role'), system_prompt: value('Of the role.'), parameters: value({ top_p: 1 }) },
    }),
  });
  expect(await readSettings(client, job, new AbortController().signal)).toEqual({
    from: 'current',
    model: 'a/role',
    systemPrompt: 'Of the role.',
    parameters: { top_p: 1 },
    outputSchema: null,
  });
});
