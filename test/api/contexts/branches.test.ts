// Branches as a client uses them. No worker process runs jobs here: `take` takes its place.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ContextId, ProcessId, ToolCallId } from '../../../src/core/ids.ts';
import { LIMITS } from '../../../src/core/limits.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_QUEUE_LIMIT: '5' });
  owner = await addProcess(api);
});
afterAll(() => api.close());

const at = (id: string, rest = '') => `/api/contexts/${id}${rest}`;
const listed = async (id: string, query = ''): Promise<Body[]> =>
  (await api.get(at(id, `/messages${query}`))).body.data;
const line = async (id: string, branch: string): Promise<string[]> =>
  (await listed(id, `?branch=${branch}`)).map(
    ({ turn, status, content }) => `${status === 'queued' ? 'queued' : turn} ${content[0].text ?? content[0].type}`,
  );
const branch = (id: string, body: object) => api.post(at(id, '/branches'), body);
const branches = async (id: string): Promise<Body[]> => (await api.get(at(id, '/branches'))).body.data;
const messageOf = async (id: string, turn: string, name = 'main'): Promise<string> =>
  (await listed(id, `?branch=${name}`)).find((message) => message.turn === turn).id;
/** A worker process takes the first input and answers it. */
const answer = async (id: string, text: string): Promise<void> => {
  const manual = await take(api, id as ContextId, owner);
  await manual.admit();
  await manual.complete(text);
};

/** `u1 one`, `a1 eins`, `u2 two`, `a2 zwei`. */
async function conversation(): Promise<string> {
  const { context_id: id } = await api.worker();
  await converse(api, id, owner, 'one', 'eins');
  await converse(api, id, owner, 'two', 'zwei');
  return id;
}

describe('a branch', () => {
  test('shares the messages before its fork point, and no later ones on either side', async () => {
    const id = await conversation();
    const from = await messageOf(id, 'a1');
    const made = await branch(id, { name: 'try', from_message_id: from });
    expect(made.status).toBe(201);
    expect(made.headers['location']).toBe(at(id, '/branches/try'));
    expect(made.body).toMatchObject({
      name: 'try',
      active: false,
      parent: 'main',
      fork_message_id: from,
      length: null,
      message_count: 0,
    });
    await api.post(at(id, '/messages'), { content: 'three', branch: 'try' });
    await answer(id, 'drei');
    await converse(api, id as ContextId, owner, 'four', 'vier');
    expect(await line(id, 'try')).toEqual(['u1 one', 'a1 eins', 'u2 three', 'a2 drei']);
    expect(await line(id, 'main')).toEqual(['u1 one', 'a1 eins', 'u2 two', 'a2 zwei', 'u3 four', 'a3 vier']);
    expect(await branches(id)).toMatchObject([
      {
        name: 'main',
        active: true,
        parent: null,
        fork_message_id: null,
        fork_seq: null,
        length: 6,
        message_count: 6,
        request_count: 3,
      },
      {
        name: 'try',
        active: false,
        length: 4,
        message_count: 2,
        request_count: 1,
        usage: { input_tokens: 10, output_tokens: 5 },
      },
    ]);
    expect((await api.get(at(id))).body).toMatchObject({
      branches: ['main', 'try'],
      active_branch: 'main',
      turn_count: 3,
      message_count: 8,
      request_count: 4,
    });
  });

  test('forks after the last complete message, where none is named', async () => {
    const id = await conversation();
    const { body } = await branch(id, { name: 'tip', activate: true });
    expect(body).toMatchObject({ active: true, fork_message_id: await messageOf(id, 'a2') });
    expect((await branches(id)).at(-1)).toMatchObject({ name: 'tip', length: 4 });
    expect((await api.get(at(id))).body).toMatchObject({ active_branch: 'tip', turn_count: 2 });
    await converse(api, id as ContextId, owner, 'three', 'drei');
    expect((await line(id, 'tip')).at(-1)).toBe('a3 drei');
    expect(await line(id, 'main')).toEqual(['u1 one', 'a1 eins', 'u2 two', 'a2 zwei']);
  });

  test('of a branch of a branch reads all three', async () => {
    const id = await conversation();
    await branch(id, { name: 'a', from_message_id: await messageOf(id, 'a1') });
    await api.post(at(id, '/messages'), { content: 'three', branch: 'a' });
    await answer(id, 'drei');
    await branch(id, { name: 'b', from_branch: 'a', from_message_id: await messageOf(id, 'u2', 'a') });
    expect(await line(id, 'b')).toEqual(['u1 one', 'a1 eins', 'u2 three']);
    await branch(id, { name: 'c', from_branch: 'b', from_message_id: await messageOf(id, 'u1', 'b') });
    expect(await line(id, 'c')).toEqual(['u1 one']);
    expect((await branches(id)).map(({ name, length }) => [name, length])).toEqual([
      ['main', 4],
      ['a', 4],
      ['b', 3],
      ['c', 1],
    ]);
  });

  test('of an empty context is empty', async () => {
    const { context_id: id } = await api.worker();
    const { body } = await branch(id, { name: 'x' });
    expect(body).toMatchObject({ parent: 'main', fork_message_id: null, fork_seq: 0 });
    expect((await branches(id)).at(-1)).toMatchObject({ name: 'x', length: 0 });
    expect(await line(id, 'x')).toEqual([]);
  });

  test('keeps a call with its results', async () => {
    const { context_id: id } = await api.worker();
    await api.post(at(id, '/messages'), { content: 'go' });
    const manual = await take(api, id, owner);
    await manual.admit();
    await manual.answer(
      [1, 2].map((n) => ({ type: 'tool_use', id: ids.next<ToolCallId>(), name: 'look', input: { n } }) as const),
    );
    const open = (await listed(id))[1].id;
    const busy = await branch(id, { name: 'x', from_message_id: open });
    expect([busy.status, busy.body.error.code]).toEqual([409, 'context_busy']);
    await manual.results('seen');
    await manual.complete('done');
    for (const place of [1, 2, 3]) {
      await branch(id, { name: `x${place}`, from_message_id: (await listed(id))[place].id });
      expect((await listed(id, `?branch=x${place}`)).map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'tool',
        'tool',
      ]);
    }
  });

  test('never shares messages of an unfinished job: they may still be retracted', async () => {
    const id = await conversation();
    const posted = await api.post(at(id, '/messages'), { content: 'three' });
    const manual = await take(api, id as ContextId, owner);
    await manual.admit();
    const refused = await branch(id, { name: 'x', from_message_id: posted.body.message_id });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'context_busy']);
    await branch(id, { name: 'x' });
    expect((await branches(id)).at(-1)).toMatchObject({ name: 'x', length: 4 });
    await manual.complete('drei');
    expect(await line(id, 'x')).toEqual(['u1 one', 'a1 eins', 'u2 two', 'a2 zwei']);
    expect((await branch(id, { name: 'y', from_message_id: posted.body.message_id })).status).toBe(201);
    expect((await branches(id)).at(-1)).toMatchObject({ name: 'y', length: 5 });
  });

  test.each([
    [{ name: '' }, 422, 'invalid_request', 'name'],
    [{ name: 'x'.repeat(65) }, 422, 'invalid_request', 'name'],
    [{ name: 'a/b' }, 422, 'invalid_request', 'name'],
    [{ name: '..' }, 422, 'invalid_request', 'name'],
    [{ name: 'ä' }, 422, 'invalid_request', 'name'],
    [{}, 422, 'invalid_request', 'name'],
    [{ name: 'x', from_message_id: 'y' }, 422, 'invalid_request', 'from_message_id'],
    [{ name: 'x', from_message_id: '01900000-0000-7000-8000-000000000000' }, 404, 'not_found', 'from_message_id'],
    [{ name: 'x', from_branch: 'nowhere' }, 404, 'not_found', 'from_branch'],
    [{ name: 'x', activate: 'yes' }, 422, 'invalid_request', 'activate'],
    [{ name: 'x', more: 1 }, 422, 'invalid_request', 'more'],
    [{ name: 'main' }, 409, 'branch_exists', 'name'],
  ])('of %j is refused', async (body, status, code, param) => {
    const { context_id: id } = await api.worker();
    const refused = await branch(id, body);
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([status, code, param]);
    expect(await branches(id)).toHaveLength(1);
  });

  test('from a message that its parent does not show, or that is still queued, is refused', async () => {
    const id = await conversation();
    const last = await messageOf(id, 'u2');
    await branch(id, { name: 'early', from_message_id: await messageOf(id, 'a1') });
    const other = await branch(id, { name: 'x', from_branch: 'early', from_message_id: last });
    expect(other.body.error).toMatchObject({ code: 'invalid_request', param: 'from_message_id' });
    const { body } = await api.post(at(id, '/messages'), { content: 'later' });
    const queued = await branch(id, { name: 'x', from_message_id: body.message_id });
    expect(queued.body.error).toMatchObject({ code: 'invalid_request', param: 'from_message_id' });
  });

  test('beyond the limit is refused', async () => {
    const { context_id: id } = await api.worker();
    await api.database.db.execute(sql`
      insert into branches (context_id, tenant_id, name, parent_name, fork_seq)
      select ${id}, 1, 'b' || n, 'main', 0 from generate_series(2, ${LIMITS.branches}) n`);
    const refused = await branch(id, { name: 'x' });
    expect([refused.status, refused.body.error.code]).toEqual([422, 'invalid_request']);
    const page = await api.get(at(id, '/branches?limit=200'));
    const next = await api.get(at(id, `/branches?limit=200&cursor=${page.body.next_cursor}`));
    const names = [...page.body.data, ...next.body.data].map(({ name }) => name);
    expect(new Set(names).size).toBe(400);
    expect((await api.get(at(id, '/branches?cursor=abc'))).body.error.param).toBe('cursor');
  });

  test('is made once for one idempotency key', async () => {
    const { context_id: id } = await api.worker();
    const headers = { 'idempotency-key': `branch-${id}` };
    const first = await api.post(at(id, '/branches'), { name: 'x' }, headers);
    const again = await api.post(at(id, '/branches'), { name: 'x' }, headers);
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect((await branch(id, { name: 'x' })).status).toBe(409);
  });

  test('two at once of one name: one is made', async () => {
    const { context_id: id } = await api.worker();
    const made = await Promise.all([1, 2, 3].map(() => branch(id, { name: 'x' })));
    expect(made.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
    const [busy] = made.filter(({ status }) => status === 409);
    expect([busy?.body.error.code, busy?.headers['x-should-retry']]).toEqual(['branch_exists', 'false']);
  });

  test('is published in the stream, with a number', async () => {
    const { context_id: id } = await api.worker();
    await branch(id, { name: 'x', activate: true });
    await api.call('PUT', at(id, '/branches/main'));
    await api.call('DELETE', at(id, '/branches/x'));
    const rows = await api.database.db.execute<Body>(
      sql`select seq, name, data from events where context_id = ${id} order by seq`,
    );
    expect(rows).toEqual([
      { seq: 1, name: 'BranchCreated', data: { branch: 'x', parent: 'main', fork_seq: 0 } },
      { seq: 2, name: 'BranchSwitched', data: { branch: 'x' } },
      { seq: 3, name: 'BranchSwitched', data: { branch: 'main' } },
      { seq: 4, name: 'BranchDeleted', data: { branch: 'x' } },
    ]);
  });
});

describe('switching', () => {
  test('sends inputs without a branch there; running jobs stay where they are', async () => {
    const id = await conversation();
    await branch(id, { name: 'x', from_message_id: await messageOf(id, 'a1') });
    await api.post(at(id, '/messages'), { content: 'three' });
    const manual = await take(api, id as ContextId, owner);
    await manual.admit();
    const { status, body } = await api.call('PUT', at(id, '/branches/x'));
    expect([status, body.name, body.active]).toEqual([200, 'x', true]);
    expect((await api.get(at(id))).body).toMatchObject({ active_branch: 'x', turn_count: 1 });
    await api.post(at(id, '/messages'), { content: 'four' });
    await manual.complete('drei');
    expect((await api.get(at(id))).body.turn_count).toBe(1);
    await manual.admit();
    await manual.complete('vier');
    expect(await line(id, 'main')).toEqual(['u1 one', 'a1 eins', 'u2 two', 'a2 zwei', 'u3 three', 'a3 drei']);
    expect(await line(id, 'x')).toEqual(['u1 one', 'a1 eins', 'u2 four', 'a2 vier']);
    expect((await listed(id)).map(({ branch: of }) => of)).toEqual(['main', 'main', 'x', 'x']);
    expect((await api.get(at(id))).body.turn_count).toBe(2);
  });

  test('an input that steers joins only a job on its branch', async () => {
    const id = await conversation();
    await branch(id, { name: 'x' });
    const running = await api.post(at(id, '/messages'), { content: 'three' });
    const manual = await take(api, id as ContextId, owner);
    await manual.admit();
    const joins = await api.post(at(id, '/messages'), { content: 'more', delivery: 'steer' });
    expect(joins.body.job_id).toBe(running.body.job_id);
    const waits = await api.post(at(id, '/messages'), { content: 'else', delivery: 'steer', branch: 'x' });
    expect(waits.body.job_id).not.toBe(running.body.job_id);
    expect(await line(id, 'x')).toEqual(['u1 one', 'a1 eins', 'u2 two', 'a2 zwei', 'queued else']);
    expect((await line(id, 'main')).slice(4)).toEqual(['u3 three', 'queued more']);
  });

  test.each(['POST messages', 'POST jobs', 'GET messages', 'PUT', 'DELETE'])(
    '%s of a missing branch is not found',
    async (what) => {
      const { context_id: id, id: worker } = await api.worker();
      const name = 'nowhere';
      const answers = {
        'POST messages': () => api.post(`/api/workers/${worker}/messages`, { content: 'x', branch: name }),
        'POST jobs': () => api.post(at(id, '/jobs'), { branch: name }),
        'GET messages': () => api.get(at(id, `/messages?branch=${name}`)),
        PUT: () => api.call('PUT', at(id, `/branches/${name}`)),
        DELETE: () => api.call('DELETE', at(id, `/branches/${name}`)),
      };
      const { status, body } = await answers[what as keyof typeof answers]();
      expect([status, body.error.code]).toEqual([404, 'not_found']);
      expect(body.detail).toContain(name);
    },
  );
});

describe('deleting', () => {
  test('leaves branches that share its messages unchanged; its name can be used again', async () => {
    const id = await conversation();
    await branch(id, { name: 'a', from_message_id: await messageOf(id, 'u1') });
    await api.post(at(id, '/messages'), { content: 'three', branch: 'a' });
    await answer(id, 'drei');
    await branch(id, { name: 'b', from_branch: 'a' });
    const before = await line(id, 'b');
    expect((await api.call('DELETE', at(id, '/branches/a'))).status).toBe(204);
    expect(await line(id, 'b')).toEqual(before);
    expect((await branches(id)).map(({ name }) => name)).toEqual(['main', 'b']);
    await branch(id, { name: 'a', from_message_id: await messageOf(id, 'u1') });
    expect(await line(id, 'a')).toEqual(['u1 one']);
    await branch(id, { name: 'c', from_branch: 'b' });
    expect(await line(id, 'c')).toEqual(before);
  });

  test('is refused of the first, of the active one, and of one with an unfinished job', async () => {
    const id = await conversation();
    await branch(id, { name: 'x' });
    await branch(id, { name: 'y', activate: true });
    await api.post(at(id, '/messages'), { content: 'three', branch: 'x' });
    for (const name of ['main', 'y', 'x']) {
      const refused = await api.call('DELETE', at(id, `/branches/${name}`));
      expect([name, refused.status, refused.body.error.code]).toEqual([name, 409, 'context_busy']);
    }
    await answer(id, 'drei');
    expect((await api.call('DELETE', at(id, '/branches/x'))).status).toBe(204);
  });
});

describe('editing a past input', () => {
  test('replaces it on a branch of its own that becomes active', async () => {
    const id = await conversation();
    const second = await messageOf(id, 'u2');
    const { status, body } = await api.post(at(id, `/messages/${second}/edit`), {
      content: 'deux',
      metadata: { why: 'test' },
      max_steps: 3,
    });
    expect(status).toBe(202);
    expect(body).toMatchObject({ branch: 'main-2', context_id: id, status: 'queued' });
    expect(body.stream_url).toContain(`/api/contexts/${id}/events?after=`);
    expect((await api.get(`/api/jobs/${body.job_id}`)).body).toMatchObject({
      kind: 'input',
      branch: 'main-2',
      metadata: { why: 'test' },
    });
    await answer(id, 'two in French');
    expect(await line(id, 'main-2')).toEqual(['u1 one', 'a1 eins', 'u2 deux', 'a2 two in French']);
    expect(await line(id, 'main')).toEqual(['u1 one', 'a1 eins', 'u2 two', 'a2 zwei']);
    expect((await api.get(at(id))).body).toMatchObject({ active_branch: 'main-2', turn_count: 2 });
  });

  test('of the first one shares nothing, and branch names are counted on', async () => {
    const id = await conversation();
    const first = await messageOf(id, 'u1');
    const edits = [];
    for (const content of ['a', 'b']) {
      edits.push((await api.post(at(id, `/messages/${first}/edit`), { content })).body);
      await answer(id, `${content}!`);
    }
    expect(edits.map((edit) => edit.branch)).toEqual(['main-2', 'main-3']);
    expect(await line(id, 'main-3')).toEqual(['u1 b', 'a1 b!']);
    const again = await api.post(at(id, `/messages/${edits[1].message_id}/edit`), {
      content: 'c',
      name: 'mine',
    });
    expect(again.body.branch).toBe('mine');
    expect((await branches(id)).at(-1)).toMatchObject({
      name: 'mine',
      parent: 'main-3',
      fork_seq: 0,
      active: true,
    });
  });

  test('while its own job runs waits for that, or interrupts it', async () => {
    const id = await conversation();
    const { body: posted } = await api.post(at(id, '/messages'), { content: 'three' });
    const manual = await take(api, id as ContextId, owner);
    await manual.admit();
    const path = at(id, `/messages/${posted.message_id}/edit`);
    const rejected = await api.post(path, { content: 'x', delivery: 'reject' });
    expect([rejected.status, rejected.body.error.code]).toEqual([409, 'context_busy']);
    expect((await branches(id)).map(({ name }) => name)).toEqual(['main']);
    const waits = await api.post(path, { content: 'trois' });
    expect(waits.body.branch).toBe('main-2');
    const ahead = await api.post(path, { content: 'tre', delivery: 'interrupt' });
    expect(ahead.body.branch).toBe('main-3');
    expect((await api.get(`/api/jobs/${posted.job_id}`)).body.status).toBe('running');
    expect(await line(id, 'main-3')).toEqual(['u1 one', 'a1 eins', 'u2 two', 'a2 zwei', 'queued tre']);
  });

  test.each([
    [{}, 'content'],
    [{ content: '' }, 'content'],
    [{ content: 'x', name: 'a b' }, 'name'],
    [{ content: 'x', delivery: 'steer' }, 'delivery'],
    [{ content: 'x', branch: 'main' }, 'branch'],
    [{ content: 'x', priority: 0 }, 'priority'],
  ])('with %j is refused', async (body, param) => {
    const id = await conversation();
    const refused = await api.post(at(id, `/messages/${await messageOf(id, 'u1')}/edit`), body);
    expect([refused.status, refused.body.error.param]).toEqual([422, param]);
    expect(await branches(id)).toHaveLength(1);
  });

  test('of an answer, of a queued input, or of a missing message is refused', async () => {
    const id = await conversation();
    const { body } = await api.post(at(id, '/messages'), { content: 'later' });
    const codes = [];
    for (const message of [await messageOf(id, 'a1'), body.message_id, ids.next()]) {
      codes.push((await api.post(at(id, `/messages/${message}/edit`), { content: 'x' })).body.error.code);
    }
    expect(codes).toEqual(['invalid_request', 'invalid_request', 'not_found']);
    expect(await branches(id)).toHaveLength(1);
  });

  test('that is refused leaves no branch', async () => {
    const id = await conversation();
    const first = await messageOf(id, 'u1');
    for (let n = 0; n < 5; n += 1) await api.post(at(id, '/messages'), { content: 'more' });
    const refused = await api.post(at(id, `/messages/${first}/edit`), { content: 'x' });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'queue_full']);
    expect(await branches(id)).toHaveLength(1);
    expect((await api.get(at(id))).body.active_branch).toBe('main');
  });

  test('is done once for one idempotency key', async () => {
    const id = await conversation();
    const path = at(id, `/messages/${await messageOf(id, 'u1')}/edit`);
    const headers = { 'idempotency-key': `edit-${id}` };
    const first = await api.post(path, { content: 'x' }, headers);
    expect(await api.post(path, { content: 'x' }, headers)).toMatchObject({ status: 202, body: first.body });
    expect((await api.post(path, { content: 'y' }, headers)).body.error.code).toBe('idempotency_conflict');
    expect(await branches(id)).toHaveLength(2);
  });
});

describe('retrying an answer', () => {
  test.each(['u1', 'a1'])('of %s runs on its input, on a branch of its own', async (turn) => {
    const id = await conversation();
    const { status, body } = await api.post(at(id, `/messages/${await messageOf(id, turn)}/regenerate`));
    expect(status).toBe(202);
    expect(body).toMatchObject({ branch: 'main-2', message_id: null });
    expect((await api.get(`/api/jobs/${body.job_id}`)).body).toMatchObject({
      kind: 'retry',
      branch: 'main-2',
    });
    await answer(id, 'uno');
    expect(await line(id, 'main-2')).toEqual(['u1 one', 'a1 uno']);
    expect(await line(id, 'main')).toEqual(['u1 one', 'a1 eins', 'u2 two', 'a2 zwei']);
  });

  test('of an input whose own job runs is refused: it may still be retracted', async () => {
    const { context_id: id } = await api.worker();
    const { body } = await api.post(at(id, '/messages'), { content: 'one' });
    await (await take(api, id, owner)).admit();
    const refused = await api.post(at(id, `/messages/${body.message_id}/regenerate`), { name: 'x' });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'context_busy']);
  });

  test('two at once: two branches', async () => {
    const id = await conversation();
    const path = at(id, `/messages/${await messageOf(id, 'a2')}/regenerate`);
    const made = await Promise.all([api.post(path), api.post(path)]);
    expect(new Set(made.map(({ body }) => body.branch))).toEqual(new Set(['main-2', 'main-3']));
  });
});

describe('siblings', () => {
  const siblings = async (id: string, message: string): Promise<Body[]> =>
    (await api.get(at(id, `/messages/${message}/siblings`))).body.data;

  test('of an input are the inputs in its place', async () => {
    const id = await conversation();
    const second = await messageOf(id, 'u2');
    const { body: edit } = await api.post(at(id, `/messages/${second}/edit`), { content: 'deux' });
    await answer(id, 'zwei');
    const found = await siblings(id, second);
    expect(found.map(({ branch: of, message_id, turn, active }) => [of, message_id, turn, active])).toEqual([
      ['main', second, 'u2', false],
      ['main-2', edit.message_id, 'u2', true],
    ]);
    expect(await siblings(id, edit.message_id)).toEqual(found);
    await api.call('PUT', at(id, '/branches/main'));
    expect((await siblings(id, second)).map(({ active }) => active)).toEqual([true, false]);
    const [alone] = await siblings(id, await messageOf(id, 'u1'));
    expect(alone).toMatchObject({ branch: 'main', turn: 'u1', active: true });
  });

  test('of an answer are the other answers to its input', async () => {
    const id = await conversation();
    const first = await messageOf(id, 'a1');
    await api.post(at(id, `/messages/${first}/regenerate`), { name: 'x' });
    await answer(id, 'uno');
    await branch(id, { name: 'further', from_branch: 'x' });
    const found = await siblings(id, first);
    expect(found.map(({ branch: of, turn, active }) => [of, turn, active])).toEqual([
      ['main', 'a1', false],
      ['x', 'a1', true],
    ]);
  });

  test('of the first input are all first inputs', async () => {
    const id = await conversation();
    const first = await messageOf(id, 'u1');
    await api.post(at(id, `/messages/${first}/edit`), { content: 'un' });
    await answer(id, 'eins');
    expect((await siblings(id, first)).map(({ branch: of }) => of)).toEqual(['main', 'main-2']);
    expect((await api.get(at(id, `/messages/${ids.next()}/siblings`))).status).toBe(404);
  });
});

test('a list of messages continues on the branch on which it began', async () => {
  const id = await conversation();
  await branch(id, { name: 'x', from_message_id: await messageOf(id, 'u1') });
  for (const order of ['asc', 'desc']) {
    const first = await api.get(at(id, `/messages?limit=3&order=${order}`));
    await api.call('PUT', at(id, '/branches/x'));
    const next = await api.get(at(id, `/messages?limit=3&order=${order}&cursor=${first.body.next_cursor}`));
    await api.call('PUT', at(id, '/branches/main'));
    const texts = [...first.body.data, ...next.body.data].map(({ content }) => content[0].text);
    const all = ['one', 'eins', 'two', 'zwei'];
    expect(texts).toEqual(order === 'asc' ? all : all.toReversed());
    const elsewhere = await api.get(at(id, `/messages?branch=x&cursor=${first.body.next_cursor}`));
    expect(elsewhere.body.error.param).toBe('cursor');
  }
});
