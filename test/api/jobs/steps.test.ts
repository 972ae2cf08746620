// The timeline of a job: its steps, its waits, its current step.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import type { ContextId, JobId, ProcessId } from '../../../src/core/ids.ts';
import { aborted, fails, result, says, startFleet, type Fleet, type Script } from '../../workers/worker-fleet.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { isQuery, openApi, type Api, type Body } from '../harness.ts';

const busy = { class: 'overloaded', message: 'too busy', retryAfterMs: null } as const;

describe('the work of a fleet', () => {
  let fleet: Fleet;
  let api: Api;
  /** By the text of the input. */
  const scripts = new Map<string, Script>();
  beforeAll(async () => {
    fleet = await startFleet({
      model: (request, ...more) => {
        const [first] = request.messages[0]?.content ?? [];
        const script = first?.type === 'text' ? scripts.get(first.text) : undefined;
        return script === undefined ? says('ok') : script(request, ...more);
      },
      tools: {
        look: { execute: () => result('seen') },
        mail: { effect: 'once', execute: () => result('sent') },
        hang: { execute: (_, signal) => aborted(signal).then(() => ({ kind: 'aborted' })) },
      },
    });
    api = await openApi({}, fleet.url);
  });
  afterAll(async () => {
    await api.close();
    await fleet.close();
  });

  const begin = async (text: string, script: Script): Promise<{ contextId: ContextId; jobId: JobId }> => {
    scripts.set(text, script);
    const { contextId } = await fleet.createContext();
    const { jobId } = await fleet.post(contextId, text);
    return { contextId, jobId };
  };
  const steps = async (jobId: JobId): Promise<Body[]> =>
    (await api.get(`/api/jobs/${jobId}/steps?limit=200`)).body.data;
  const brief = (data: Body[]) => data.map(({ kind, name, status, attempt }) => `${kind} ${name} ${status} ${attempt}`);

  test('is shown in order, each step with its times, its cost and its result', async () => {
    let calls = 0;
    const { contextId, jobId } = await begin('tell', () => {
      calls += 1;
      if (calls === 1) return says('', { name: 'look', input: {} }, { name: 'mail', input: {} });
      return calls === 2 ? fails(busy) : says('done');
    });
    await fleet.ended(jobId);
    const data = await steps(jobId);
    expect(brief(data)).toEqual([
      'model simulated/scripted completed 1',
      'tool look completed null',
      'tool mail completed null',
      'model simulated/scripted failed 1',
      'wait retry completed 1',
      'model simulated/scripted completed 2',
    ]);
    const [asked, look, mail, failed, waited, answered] = data;
    const history = await fleet.history(contextId);
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      cache_read_tokens: 1,
      cache_write_tokens: 2,
      cache_hit_ratio: 0.0769,
      cost: null,
    };
    expect(asked).toMatchObject({ usage, error: null, message_id: history[1]?.id, tool_call_id: null });
    expect(look).toMatchObject({ usage: null, first_token_at: null, message_id: asked.message_id });
    expect(look.tool_call_id).not.toBe(mail.tool_call_id);
    expect(failed).toMatchObject({
      usage: null,
      message_id: null,
      first_token_at: null,
      error: { code: 'provider_overloaded', message: 'too busy' },
    });
    expect(look.started_at).toBe(asked.ended_at);
    expect(waited.started_at).toBe(failed.ended_at);
    expect(waited.ended_at).toBe(answered.started_at);
    expect(answered.message_id).toBe(history.at(-1)?.id);
    for (const step of data) expect(step.ended_at >= step.started_at).toBe(true);
    for (const { started_at, first_token_at, ended_at } of [asked, answered]) {
      expect(first_token_at >= started_at && first_token_at <= ended_at).toBe(true);
    }
    const begun = data.map(({ started_at }) => Date.parse(started_at));
    expect(begun).toEqual(begun.toSorted((a, b) => a - b));
  });

  test('shows the failure that ended it', async () => {
    const { jobId } = await begin('fail', () => fails({ class: 'auth', message: 'no such key', retryAfterMs: null }));
    await fleet.ended(jobId);
    const data = await steps(jobId);
    expect(brief(data)).toEqual(['model simulated/scripted failed 1']);
    expect(data[0].error).toEqual({ code: 'provider_auth', message: 'no such key' });
  });

  test('shows a model call in progress, and that it was stopped with its job', async () => {
    const called = Promise.withResolvers<void>();
    const { jobId } = await begin('slow', async (_, signal) => {
      called.resolve();
      await aborted(signal);
      return { kind: 'aborted' };
    });
    await called.promise;
    // The model is called while the commit that begins the job is in progress.
    await fleet.until(async () => (await steps(jobId)).length === 1);
    const data = await steps(jobId);
    expect(brief(data)).toEqual(['model simulated/default running 1']);
    expect(data[0]).toMatchObject({ ended_at: null, first_token_at: null, message_id: null, usage: null });
    await fleet.cancel(jobId);
    await fleet.ended(jobId);
    expect(await steps(jobId)).toMatchObject([
      {
        kind: 'model',
        name: 'simulated/scripted',
        status: 'cancelled',
        n: 1,
        first_token_at: null,
        error: null,
        usage: null,
      },
    ]);
  });

  test('shows tools in progress, then how they were ended', async () => {
    const { jobId } = await begin('tools', () => says('', { name: 'hang', input: {} }));
    await fleet.until(async () => (await steps(jobId)).length === 2);
    const running = (await steps(jobId)).at(-1);
    expect(running).toMatchObject({ kind: 'tool', name: 'hang', status: 'running', ended_at: null });
    await fleet.cancel(jobId);
    await fleet.ended(jobId);
    expect(brief(await steps(jobId)).at(-1)).toBe('tool hang cancelled null');
  });

  test('a wait lasts until it ends, and is cut short with its job', async () => {
    // A wait shorter than a throttle of the key, which would delay every other context.
    const { jobId } = await begin('wait', () => fails({ ...busy, class: 'server_error', retryAfterMs: 3_600_000 }));
    await fleet.until(async () => (await fleet.job(jobId))['status'] === 'waiting');
    expect(brief(await steps(jobId))).toEqual(['model simulated/scripted failed 1', 'wait retry waiting 1']);
    expect((await steps(jobId)).at(-1).ended_at).toBeNull();
    await fleet.cancel(jobId);
    const ended = await fleet.ended(jobId);
    const [, wait] = await steps(jobId);
    expect(wait).toMatchObject({ status: 'cancelled' });
    expect(Date.parse(wait.ended_at)).toBe(Date.parse(String(ended['finished_at'])));
  });

  test('of one job is not mixed with those before and after it', async () => {
    const { contextId, jobId } = await begin('one', () => says('first'));
    await fleet.ended(jobId);
    const { jobId: second } = await fleet.post(contextId, 'two');
    await fleet.ended(second);
    const [a, b] = [await steps(jobId), await steps(second)];
    expect([a.length, b.length]).toEqual([1, 1]);
    expect(a[0].message_id).not.toBe(b[0].message_id);
    const [one, two] = [await fleet.job(jobId), await fleet.job(second)];
    expect(one['first_seq']).toBe(0);
    expect(two['first_seq']).toBe(one['last_seq']);
    const [{ head_seq: head } = {}] = await fleet.query(`select head_seq from contexts where id = '${contextId}'`);
    expect(two['last_seq']).toBe(head);
  });
});

describe('the list', () => {
  let api: Api;
  let owner: ProcessId;
  beforeAll(async () => {
    api = await openApi();
    owner = await addProcess(api);
  });
  afterAll(() => api.close());

  test('comes in pages, each step once', async () => {
    const worker = await api.worker();
    const { body } = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'go' });
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    const use = () => ({ type: 'tool_use' as const, id: v7() as never, name: 'look', input: {} });
    for (let n = 0; n < 3; n += 1) {
      await manual.answer([use(), use()]);
      await manual.results('seen');
    }
    await manual.complete('done');
    const path = `/api/jobs/${body.job_id}/steps`;
    const whole = await api.get(path);
    expect(whole.body.data.map(({ kind }: Body) => kind).join(' ')).toBe(
      'model tool tool model tool tool model tool tool model',
    );
    expect(whole.body.next_cursor).toBeNull();
    const paged: Body[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Body = (await api.get(`${path}?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)).body;
      paged.push(...page.data);
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(whole.body.data);
  });

  test('of a job that never began is empty, and of a released one shows no step in progress', async () => {
    const worker = await api.worker();
    const { body } = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'go' });
    expect((await api.get(`/api/jobs/${body.job_id}/steps`)).body).toEqual({ data: [], next_cursor: null });
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    expect((await api.get(`/api/jobs/${body.job_id}/steps`)).body.data).toMatchObject([
      { kind: 'model', name: 'simulated/default', status: 'running', attempt: 1 },
    ]);
    await manual.releaseUntil(null);
    expect((await api.get(`/api/jobs/${body.job_id}/steps`)).body.data).toEqual([]);
  });

  test('shows one wait at a time: a retry ends when a throttle delays the call', async () => {
    const worker = await api.worker();
    const { body } = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'go' });
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.delay(Date.now());
    await api.database.db.execute(`
      insert into failed_calls (job_id, attempt, context_id, tenant_id, model, error, called_at, failed_at, retry_at)
      select id, 1, context_id, tenant_id, 'anthropic/m', '{"code":"provider_rate_limited","message":"slow down"}',
        started_at, started_at, started_at from jobs where id = '${body.job_id}'`);
    await manual.throttledUntil(Date.now() + 60_000, Date.now() + 61_000);
    const { data } = (await api.get(`/api/jobs/${body.job_id}/steps`)).body;
    expect(data).toMatchObject([
      { kind: 'model', status: 'failed' },
      { kind: 'wait', name: 'retry', status: 'completed' },
      { kind: 'wait', name: 'throttle', status: 'waiting', ended_at: null },
    ]);
    expect(data[1].ended_at).toBe(data[2].started_at);
  });

  test('costs one statement, which reads no message of other jobs', async () => {
    const worker = await api.worker();
    for (let n = 0; n < 30; n += 1) await converse(api, worker.context_id, owner, 'hello', 'hi');
    const id = await converse(api, worker.context_id, owner, 'hello', 'hi');
    api.statements.length = 0;
    expect((await api.get(`/api/jobs/${id}/steps`)).body.data).toHaveLength(1);
    expect(api.statements.filter(isQuery)).toHaveLength(1);
    const between = await api.database.db.execute(
      `select count(*)::int as n from messages m join jobs j on j.id = '${id}' and m.context_id = j.context_id
        where m.seq > j.first_seq and m.seq <= j.last_seq`,
    );
    expect(between[0]).toEqual({ n: 2 });
  });

  test.each(['00000000-0000-7000-8000-000000000000', 'nonsense'])('of %s is not found', async (id) => {
    expect((await api.get(`/api/jobs/${id}/steps`)).status).toBe(404);
  });

  test.each(['limit=0', 'limit=201', 'cursor=x', `cursor=${btoa('[-1]')}`, `cursor=${btoa('["1"]')}`])(
    'refuses %s',
    async (query) => {
      const worker = await api.worker();
      const { body } = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'go' });
      expect((await api.get(`/api/jobs/${body.job_id}/steps?${query}`)).status).toBe(422);
    },
  );
});
