// A context is exported to a file and imported: byte for byte the same, completely or not at all.
import { sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assemble } from '../../../src/core/conversation/prompt.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { readHistory } from '../../../src/db/run/history.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { ids, openApi, type Api, type Answer, type Body } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_IMPORT_MB: '2' });
});
afterAll(() => api.close());

async function fileOf(contextId: string, format = 'json'): Promise<string> {
  const answer = await api.app.inject({
    url: `/api/contexts/${contextId}/export?format=${format}`,
    headers: { host: 'localhost' },
  });
  expect(answer.statusCode).toBe(200);
  return answer.body;
}

async function imported(text: string): Promise<Body> {
  const { status, body, headers } = await api.post('/api/contexts/import', text);
  expect({ status, body }).toMatchObject({ status: 201 });
  expect(headers['location']).toBe(`/api/contexts/${body.id}`);
  return body;
}

async function counts(): Promise<Body> {
  const [row] = await api.database.db.execute<Body>(sql`
    select (select count(*) from contexts) as contexts, (select count(*) from workers) as workers,
      (select count(*) from branches) as branches, (select count(*) from messages) as messages,
      (select count(*) from event_batches) as events, (select count(*) from compactions) as compactions,
      (select count(*) from search_backlog) as backlog`);
  return row;
}

async function refused(body: unknown): Promise<Answer> {
  const before = await counts();
  const answer = await api.post('/api/contexts/import', body);
  expect(await counts()).toEqual(before);
  expect(answer.status).toBe(422);
  return answer;
}

/** A conversation with a call, a retracted part, and a queued input. */
async function conversation(): Promise<Body> {
  const worker = await api.worker({ system_prompt: 'Be brief.', max_steps: 5, parameters: { top: 1 } });
  const owner = await addProcess(api);
  await converse(api, worker.context_id, owner, 'héllo 🦓 \u0000 \ud800', 'an `answer`\nof **two** lines');
  await api.post(`/api/workers/${worker.id}/messages`, { content: 'look' });
  const manual = await take(api, worker.context_id, owner);
  await manual.admit();
  await manual.answer([
    { type: 'thinking', text: 'hm', provider: { name: 'anthropic', data: { signature: 'abc' } } },
    { type: 'tool_use', id: ids.next(), name: 'look', input: { at: '```', big: 1e21 } },
  ]);
  await manual.results('seen ``` here');
  await manual.complete('done');
  await api.post(`/api/workers/${worker.id}/messages`, { content: 'queued' });
  return worker;
}

describe('the json export', () => {
  test("is the context's content, has no ids of the platform, and leaves out queued inputs", async () => {
    const worker = await conversation();
    const text = await fileOf(worker.context_id);
    const document = JSON.parse(text);
    expect(document).toMatchObject({
      format: 'nightshift.context',
      version: 1,
      context: {
        worker: { name: 'w', role: null },
        config: worker.config,
        active_branch: 'main',
        turn_count: 2,
      },
      branches: [{ name: 'main', parent: null, fork: null, spans: null }],
    });
    expect(document.entries.map((one: Body) => [one.number, one.role, one.turn, one.message_type])).toEqual([
      [1, 'user', 'u1', 'text'],
      [2, 'assistant', 'a1', 'text'],
      [3, 'user', 'u2', 'text'],
      [4, 'assistant', 'a2', 'tool_call'],
      [5, 'tool', 'a2', 'tool_result'],
      [6, 'assistant', 'a2', 'text'],
    ]);
    expect(document.entries[0].content).toEqual([{ type: 'text', text: 'héllo 🦓 \u0000 \ud800' }]);
    expect(document.entries[3].content[0].provider).toMatchObject({
      name: 'anthropic',
      data: { signature: 'abc' },
    });
    expect(text).not.toContain(worker.context_id);
    const { headers } = await api.get(`/api/contexts/${worker.context_id}/export`);
    expect(headers['content-disposition']).toBe(`attachment; filename="${worker.context_id}.json"`);
  });

  test('imported and exported again is byte-equal, and can be continued', async () => {
    const worker = await conversation();
    const text = await fileOf(worker.context_id);
    const made = await imported(text);
    expect(await fileOf(made.id)).toBe(text);
    const before = (await api.get(`/api/contexts/${worker.context_id}`)).body;
    for (const member of [
      'title',
      'config',
      'message_count',
      'turn_count',
      'request_count',
      'usage',
      'branches',
      'created_at',
    ])
      expect(made[member]).toEqual(before[member]);
    await converse(api, made.id, await addProcess(api), 'more', 'of it');
    const { body } = await api.get(`/api/contexts/${made.id}/messages?order=desc&limit=2`);
    expect(body.data.map((one: Body) => one.turn)).toEqual(['a3', 'u3']);
    const received = await api.database.db.execute<Body>(sql`
      select seq from messages where context_id = ${made.id} and seq is not null union all
      select seq from events where context_id = ${made.id} order by seq`);
    expect(received.map((row) => row.seq)).toEqual(received.map((_, n) => n + 1));
  });

  test('pretty printed, with its members in any order, is the same document', async () => {
    const text = await fileOf((await conversation()).context_id);
    const { format, ...rest } = JSON.parse(text);
    const { branches, entries, ...more } = rest;
    const made = await imported(JSON.stringify({ branches, entries, ...more, format }, null, 3));
    expect(await fileOf(made.id)).toBe(text);
  });

  test('of a context in the middle of a call: the call gets a result, and a job can run', async () => {
    const worker = await api.worker();
    const owner = await addProcess(api);
    await api.post(`/api/workers/${worker.id}/messages`, { content: 'go' });
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    const call = ids.next();
    await manual.answer([{ type: 'tool_use', id: call as never, name: 'look', input: {} }]);
    const made = await imported(await fileOf(worker.context_id));
    const { body } = await api.get(`/api/contexts/${made.id}/messages`);
    expect(body.data.at(-1)).toMatchObject({
      role: 'tool',
      turn: 'a1',
      content: [{ tool_use_id: call, is_error: true }],
    });
    expect(made.message_count).toBe(3);
    const text = await fileOf(made.id);
    expect(await fileOf((await imported(text)).id)).toBe(text);
    expect((await api.post(`/api/contexts/${made.id}/jobs`)).status).toBe(202);
  });

  test('keeps the state at the time of its request', async () => {
    const worker = await api.worker();
    const owner = await addProcess(api);
    for (const n of [1, 2, 3]) await converse(api, worker.context_id, owner, `q${n}`, `a${n}`);
    const { readContext, readExportPage } = await import('../../../src/db/read/messages/export.ts');
    const { db } = api.database;
    const context = await readContext(db, DEFAULT_TENANT, worker.context_id);
    await converse(api, worker.context_id, owner, 'later', 'later');
    const [row] = await db.execute<Body>(
      sql`select id from messages where context_id = ${worker.context_id} and turn = 'a3'`,
    );
    const range = {
      tenantId: DEFAULT_TENANT,
      contextId: worker.context_id,
      headSeq: context?.headSeq ?? 0,
      after: 0,
      spans: null,
    };
    await db.execute(sql`
      with c as (update contexts set head_seq = head_seq + 1 where id = ${worker.context_id} returning head_seq)
      update messages m set status = 'retracted', retracted_seq = c.head_seq from c where m.id = ${row.id}`);
    const page = await readExportPage(db, range);
    expect(page?.map(({ turn, status }) => [turn, status]).slice(-2)).toEqual([
      ['u3', 'completed'],
      ['a3', 'completed'],
    ]);
    const now = JSON.parse(await fileOf(worker.context_id));
    expect(now.entries.find((one: Body) => one.turn === 'a3').status).toBe('retracted');
  });

  test('of a context that is deleted meanwhile is cut off, not ended', async () => {
    const { pagesOf } = await import('../../../src/api/export/stream.ts');
    const worker = await api.worker();
    await converse(api, worker.context_id, await addProcess(api), 'q', 'a');
    const pages = pagesOf((read) => api.database.read(read, { statementMs: 10_000 }), {
      tenantId: DEFAULT_TENANT,
      contextId: worker.context_id,
      headSeq: 100,
      spans: null,
    });
    expect((await pages.next()).done).toBe(false);
    await api.call('DELETE', `/api/contexts/${worker.context_id}`);
    await expect(pages.next()).rejects.toThrow(/deleted/);
  });
});

/** Random contexts by rows: branches that share, retracted messages, compactions, events between. */
describe('for any context', () => {
  type Made = { kinds: ('user' | 'answer' | 'call' | 'event' | 'summary' | 'branch')[]; choices: number[] };

  async function make({ kinds, choices }: Made): Promise<string> {
    const worker = await api.worker();
    const contextId: string = worker.context_id;
    const messages: Body[] = [];
    const events: Body[] = [];
    const compactions: Body[] = [];
    const branches: Body[] = [{ name: 'main', parent_name: null, fork_seq: null, spans: null }];
    let seq = 0;
    const pick = (n: number, most: number) => (choices[n % choices.length] ?? 0) % most;
    for (const [n, kind] of kinds.entries()) {
      const branch = branches[pick(n, branches.length)];
      const add = (role: string, type: string, content: Body[]) => {
        seq += 1;
        messages.push({
          id: ids.next(),
          branch: branch.name,
          seq,
          role,
          type,
          turn: `${role === 'user' ? 'u' : 'a'}${1 + (n % 5)}`,
          status: pick(n, 7) === 0 && type === 'text' ? 'retracted' : 'completed',
          content,
        });
      };
      if (kind === 'user' || kind === 'answer')
        add(kind === 'user' ? 'user' : 'assistant', 'text', [{ type: 'text', text: `t${n}\u2028 "\\` }]);
      if (kind === 'call') {
        const id = ids.next();
        add('assistant', 'tool_call', [{ type: 'tool_use', id, name: 'f', input: { n } }]);
        add('tool', 'tool_result', [
          {
            type: 'tool_result',
            tool_use_id: id,
            content: [{ type: 'text', text: 'r' }],
            is_error: false,
            compact_summary: 's',
          },
        ]);
      }
      if (kind === 'event') {
        seq += 1;
        events.push({ seq, name: 'StateChanged', data: { new_state: 'Idle', job_id: null } });
      }
      if (kind === 'summary' && seq > 0) {
        seq += 1;
        const llm = pick(n, 2) === 0;
        compactions.push({
          id: ids.next(),
          branch: branch.name,
          seq,
          upto_seq: 1 + pick(n, seq - 1 || 1),
          type: llm ? 'llm' : 'threshold',
          summary: llm ? 'sum' : null,
        });
        events.push({ seq, name: 'ContextCompacted', data: {} });
      }
      if (kind === 'branch') {
        const fork = pick(n, seq + 1);
        const spans = (branch.spans ?? [{ branch: branch.name, after: 0, upto: null }])
          .filter((span: Body) => span.after < fork)
          .map((span: Body) => ({ ...span, upto: Math.min(span.upto ?? fork, fork) }));
        branches.push({
          name: `b${n}`,
          parent_name: branch.name,
          fork_seq: fork,
          spans: [...spans, { branch: `b${n}`, after: seq, upto: null }],
        });
      }
    }
    const { db } = api.database;
    await db.execute(
      sql`update contexts set head_seq = ${seq}, active_branch = ${branches.at(-1).name}, turn_count = 3, input_tokens = 7 where id = ${contextId}`,
    );
    await db.execute(sql`insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
      select r.id, 1, ${contextId}::uuid, r.branch, r.seq, r.role, r.type, r.turn, r.status, r.content, now()
      from jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as r(id uuid, branch text, seq bigint, role text, type text, turn text, status text, content jsonb)`);
    await db.execute(sql`insert into event_batches (context_id, tenant_id, first_seq, seq, epoch, events)
      select ${contextId}::uuid, 1, r.seq, r.seq, 0, json_build_array(json_build_array(0, r.name, r.data))
      from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as r(seq bigint, name text, data jsonb)`);
    await db.execute(sql`insert into compactions (id, tenant_id, context_id, branch, seq, upto_seq, type, summary, tokens_before, tokens_after, job_id)
      select r.id, 1, ${contextId}::uuid, r.branch, r.seq, r.upto_seq, r.type, r.summary, 9, 3, ${ids.next()}::uuid
      from jsonb_to_recordset(${JSON.stringify(compactions)}::jsonb) as r(id uuid, branch text, seq bigint, upto_seq bigint, type text, summary text)`);
    await db.execute(sql`insert into branches (context_id, tenant_id, name, parent_name, fork_seq, spans, created_at)
      select ${contextId}::uuid, 1, r.name, r.parent_name, r.fork_seq, r.spans, now() + r.fork_seq * interval '1 second'
      from jsonb_to_recordset(${JSON.stringify(branches.slice(1))}::jsonb) as r(name text, parent_name text, fork_seq bigint, spans jsonb)`);
    return contextId;
  }

  /** The texts that each branch reads. */
  async function readings(contextId: string): Promise<Body> {
    return api.database.db.execute<Body>(sql`
      select b.name, (select jsonb_agg(m.content order by m.seq) from messages m where m.context_id = b.context_id
        and m.status = 'completed' and case when b.spans is null then m.branch = b.name else exists (
          select 1 from jsonb_to_recordset(b.spans) as s(branch text, "after" bigint, upto bigint)
          where s.branch = m.branch and m.seq > s."after" and (s.upto is null or m.seq <= s.upto)) end) as texts
      from branches b where b.context_id = ${contextId} order by b.name`);
  }

  test('export, import, export is byte-equal, and every branch reads the same', async () => {
    const made = fc.record({
      kinds: fc.array(fc.constantFrom('user', 'answer', 'call', 'event', 'summary', 'branch'), {
        maxLength: 30,
      }),
      choices: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 }),
    }) as fc.Arbitrary<Made>;
    await fc.assert(
      fc.asyncProperty(made, async (one) => {
        const contextId = await make(one);
        const text = await fileOf(contextId);
        const other = await imported(text);
        expect(await fileOf(other.id)).toBe(text);
        expect(await readings(other.id)).toEqual(await readings(contextId));
      }),
      { numRuns: 40 },
    );
  });
});

describe('the markdown and pairs exports', () => {
  test('markdown is readable: turns, folded calls, fences that stay closed', async () => {
    const worker = await conversation();
    const text = await fileOf(worker.context_id, 'markdown');
    expect(text).toMatch(/^# w\n/);
    for (const part of [
      '## u1 · user',
      '## a1 · assistant',
      'an `answer`\nof **two** lines',
      '<details><summary>Tool call: look</summary>',
      '````\nseen ``` here\n````',
      'done',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain('queued');
    const { headers } = await api.get(`/api/contexts/${worker.context_id}/export?format=markdown`);
    expect(headers['content-type']).toBe('text/markdown; charset=utf-8');
  });

  test('pairs contain one side or both, and import again', async () => {
    const worker = await api.worker();
    const owner = await addProcess(api);
    await converse(api, worker.context_id, owner, 'one', 'two');
    const pairs = JSON.parse(await fileOf(worker.context_id, 'paired'));
    expect(pairs).toEqual({ title: null, entries: [{ user: 'one', assistant: 'two' }] });
    const entries = [
      { assistant: 'hello' },
      { user: 'one', assistant: 'two' },
      { user: 'three' },
      { user: 'four', assistant: 'five' },
    ];
    const made = await imported(
      JSON.stringify({ title: 'T', entries, worker: { name: 'x' }, config: { max_steps: 3 } }),
    );
    expect(made).toMatchObject({ title: 'T', turn_count: 4, message_count: 6, config: { max_steps: 3 } });
    expect(JSON.parse(await fileOf(made.id, 'paired'))).toEqual({ title: 'T', entries });
    const text = await fileOf(made.id);
    expect(await fileOf((await imported(text)).id)).toBe(text);
    await converse(api, made.id, owner, 'six', 'seven');
  });
});

describe('a folder of the old layout', () => {
  /** 1,000 messages on three branches: main, one that leaves it, and one that leaves that. */
  function folder(): Body {
    const files: Body = {
      'metadata.json': {
        id: 'ctx-1',
        title: 'Old',
        created_at: '2024-01-02T03:04:05Z',
        updated_at: '2024-02-02T03:04:05Z',
        state: 'idle',
        active_branch: 'c',
        branches: [
          { name: 'main' },
          { name: 'b', parent: 'main', fork_message_id: 'm99' },
          { name: 'c', parent: 'b', fork_message_id: 'm599' },
        ],
        config: {
          model_id: 'claude-x',
          mode: 'code',
          system_prompt_id: 'sp-1',
          agent_role: 'coder',
          workspace_path: '/w',
          parameters: { top_k: 3, stream: true },
        },
      },
      'message_index.json': [],
    };
    for (let n = 0; n < 1_000; n += 1) {
      const branch = n < 500 ? 'main' : n < 800 ? 'b' : 'c';
      files['message_index.json'].push({ id: `m${n}`, branch });
      files[`messages/m${n}.json`] = {
        id: `m${n}`,
        role: n % 2 === 0 ? 'user' : 'assistant',
        content: `text ${n}`,
        created_at: new Date(1.7e12 + n * 1000).toISOString(),
        state: n === 7 ? 'retracted' : 'completed',
      };
    }
    files['messages/m11.json'].content = [
      { type: 'text', text: 'calling' },
      { type: 'tool_use', id: 'call_1', name: 'ls', input: { p: '.' } },
    ];
    files['messages/m12.json'].content = [{ type: 'tool_result', tool_use_id: 'call_1', content: 'a b' }];
    files['messages/m999.json'].content = [{ type: 'tool_use', id: 'call_2', name: 'ls', input: {} }];
    return files;
  }

  test('is imported completely: order, branches, states, config; unknown parts are kept', async () => {
    await addProcess(api, { models: ['anthropic'] });
    const made = await imported(JSON.stringify({ files: folder() }));
    expect(made).toMatchObject({
      title: 'Old',
      active_branch: 'c',
      branches: ['b', 'c', 'main'].toSorted((a, z) => made.branches.indexOf(a) - made.branches.indexOf(z)),
      created_at: '2024-01-02T03:04:05.000Z',
    });
    expect(made.config).toEqual({ mode: 'act', parameters: { top_k: 3 }, model: 'anthropic/claude-x' });
    const document = JSON.parse(await fileOf(made.id));
    expect(document.entries).toHaveLength(1_001);
    expect(document.branches.map((one: Body) => [one.name, one.parent, one.fork, one.spans])).toEqual(
      expect.arrayContaining([
        ['main', null, null, null],
        [
          'b',
          'main',
          100,
          [
            { branch: 'main', after: 0, upto: 100 },
            { branch: 'b', after: 100, upto: null },
          ],
        ],
        [
          'c',
          'b',
          600,
          [
            { branch: 'main', after: 0, upto: 100 },
            { branch: 'b', after: 100, upto: 600 },
            { branch: 'c', after: 600, upto: null },
          ],
        ],
      ]),
    );
    expect(document.entries[7].status).toBe('retracted');
    expect(document.entries[12].role).toBe('tool');
    expect(document.entries.at(-1)).toMatchObject({
      branch: 'c',
      role: 'tool',
      content: [{ is_error: true }],
    });
    const pairs = JSON.parse(await fileOf(made.id, 'paired')).entries;
    expect(pairs[50]).toEqual({ user: 'text 502', assistant: 'text 503' });
    const [event] = await api.database.db.execute<Body>(
      sql`select data from events where context_id = ${made.id} and name = 'ContextImported'`,
    );
    expect(event.data.kept.metadata.config.workspace_path).toBe('/w');
    expect(event.data.kept.message_ids).toHaveLength(1_000);
    const history = await readHistory(api.database.db, { contextId: made.id, tenantId: DEFAULT_TENANT }, 'main');
    expect(assemble(history).length).toBeGreaterThan(100);
    const text = await fileOf(made.id);
    expect(await fileOf((await imported(text)).id)).toBe(text);
  }, 120_000);

  const damages: [string, (files: Body) => void, RegExp][] = [
    ['no metadata', (f) => delete f['metadata.json'], /^metadata\.json is missing/],
    ['broken metadata', (f) => (f['metadata.json'] = 5), /^metadata\.json is not/],
    ['no index', (f) => delete f['message_index.json'], /^message_index\.json is missing/],
    ['an index that is no list', (f) => (f['message_index.json'] = { a: 1 }), /^message_index\.json is not a list/],
    ['a message file that is missing', (f) => delete f['messages/m500.json'], /^messages\/m500\.json is missing/],
    ['a message file that is broken', (f) => (f['messages/m3.json'] = 'x'), /^messages\/m3\.json is not/],
    [
      'a message of another id',
      (f) => (f['messages/m3.json'].id = 'm4'),
      /^messages\/m3\.json has the id \S+, which differs from its file name/,
    ],
    [
      'a message that no list contains',
      (f) => f['message_index.json'].splice(5, 1),
      /^messages\/m5\.json is not in message_index/,
    ],
    [
      'a message that is listed twice',
      (f) => f['message_index.json'].push({ id: 'm5' }),
      /^message_index\.json has the message m5 twice/,
    ],
    ['a role that is none', (f) => (f['messages/m3.json'].role = 'ghost'), /^messages\/m3\.json has no valid role/],
    ['no content', (f) => delete f['messages/m3.json'].content, /^messages\/m3\.json has no content/],
    [
      'a block that is not understood',
      (f) => (f['messages/m3.json'].content = [{ type: 'song' }]),
      /^messages\/m3\.json has an unknown or invalid block at index 0/,
    ],
    [
      'a parent that is no message',
      (f) => (f['messages/m4.json'].parent_id = 'zzz'),
      /^message_index\.json gives m4 the parent zzz/,
    ],
    [
      'a usage that is none',
      (f) =>
        Object.assign(f['messages/m4.json'], {
          role: 'assistant',
          model_id: 'a/b',
          usage: { input_tokens: -1 },
        }),
      /^messages\/m4\.json has a usage whose input_tokens/,
    ],
    ['a state that is none', (f) => (f['messages/m3.json'].state = 'odd'), /^messages\/m3\.json has an unknown state/],
    [
      'a state that every object knows',
      (f) => (f['messages/m3.json'].state = 'constructor'),
      /^messages\/m3\.json has an unknown state/,
    ],
    [
      'too many branches',
      (f) => {
        for (let n = 0; n < 500; n += 1) f['metadata.json'].branches.push({ name: `n${n}` });
      },
      /^metadata\.json has \d+ branches/,
    ],
    [
      'a time that is none',
      (f) => (f['messages/m3.json'].created_at = 'noon'),
      /^messages\/m3\.json has a created_at that is not a time/,
    ],
    [
      'a branch that is not described',
      (f) => (f['message_index.json'][5].branch = 'x'),
      /^message_index\.json puts m5 on the branch x/,
    ],
    [
      'a contradiction of index and file',
      (f) => (f['messages/m3.json'].branch = 'b'),
      /^messages\/m3\.json and message_index\.json have a different/,
    ],
    [
      'a fork at no message',
      (f) => (f['metadata.json'].branches[1].fork_message_id = 'zz'),
      /^metadata\.json has a branch b that forks at zz/,
    ],
    [
      'a fork off its parent',
      (f) => (f['metadata.json'].branches[2].fork_message_id = 'm300'),
      /^metadata\.json has a branch c that forks at m300/,
    ],
    [
      'parents in a circle',
      (f) => (f['metadata.json'].branches[0].parent = 'c'),
      /^metadata\.json has a branch main whose parent/,
    ],
    [
      'a branch that is there twice',
      (f) => f['metadata.json'].branches.push({ name: 'b' }),
      /^metadata\.json names the branch b twice/,
    ],
    [
      'an active branch that is none',
      (f) => (f['metadata.json'].active_branch = 'x'),
      /^metadata\.json has the active_branch/,
    ],
    [
      'a message before its branch',
      (f) => (f['message_index.json'][5].branch = 'b'),
      /^message_index\.json puts m5 before/,
    ],
    [
      'a result without a call',
      (f) => (f['messages/m12.json'].content[0].tool_use_id = 'call_9'),
      /^files\.messages\/m12\.json contains a result/,
    ],
    ['a file of another kind', (f) => (f['notes.txt'] = 'x'), /^notes\.txt is not a file/],
  ];
  test.each(damages)('with %s is refused by the file name, and nothing is changed', async (_, damage, message) => {
    const files = folder();
    damage(files);
    const { body } = await refused({ files });
    expect(body.detail).toMatch(message);
    expect(body.error.param).toMatch(/^files\./);
  });

  test('a role with an invalid name is left out, like an unknown one', async () => {
    const files = folder();
    files['metadata.json'].config.agent_role = 'a\u0000';
    const made = await imported(JSON.stringify({ files }));
    const { body } = await api.get(`/api/workers/${made.worker_id}`);
    expect(body.role).toBeNull();
  });
});

describe('an invalid document', () => {
  test.each([
    [{}, 'entries'],
    [{ entries: 5 }, 'entries'],
    [{ entries: [{}] }, 'entries.0'],
    [{ entries: [{ user: 'x' }, { user: 5 }] }, 'entries.1.user'],
    [{ entries: [{ user: 'x', bot: 'y' }] }, 'entries.0.bot'],
    [{ entries: [], colour: 'red' }, 'colour'],
    [{ entries: [], config: { max_steps: 0 } }, 'config.max_steps'],
    [{ entries: [], config: { model: 'unknown/x' } }, 'config.model'],
    [{ format: 'other', entries: [] }, null],
    [{ files: [] }, 'files'],
    [{ files: {}, entries: 'x' }, 'entries'],
  ] as [object, string | null][])('%j is refused by field name', async (body, param) => {
    const answer = await refused(body);
    if (param !== null) expect(answer.body.error.param).toBe(param);
  });

  const damages: [string, (document: Body) => void, string][] = [
    ['another version', (d) => (d.version = 2), 'version'],
    ['a gap in its numbers', (d) => (d.entries[1].number = 7), 'entries.1.number'],
    ['a turn that is none', (d) => (d.entries[1].turn = 'x1'), 'entries.1.turn'],
    ['a turn of the other side', (d) => (d.entries[1].turn = 'u1'), 'entries.1'],
    ['a role that is none', (d) => (d.entries[1].role = 'ghost'), 'entries.1.role'],
    ['a block too many', (d) => d.entries[0].content.push({ type: 'thinking', text: 'x' }), 'entries.0'],
    ['a time that is none', (d) => (d.entries[1].created_at = 'noon'), 'entries.1.created_at'],
    ['a time too late', (d) => (d.entries[1].created_at = '9999-12-31T23:59:59-23:00'), 'entries.1.created_at'],
    [
      'more tokens than are counted of a message',
      (d) => (d.entries[1].model.usage.input_tokens = 2 ** 31),
      'entries.1.model.usage.input_tokens',
    ],
    [
      'a cost in parts of a billionth',
      (d) => (d.entries[1].model.usage.cost = '0.0000000001'),
      'entries.1.model.usage.cost',
    ],
    ['a cost that is no money', (d) => (d.context.usage.cost = '-1'), 'context.usage.cost'],
    ['a cost that is a number', (d) => (d.context.usage.cost = 1.5), 'context.usage.cost'],
    ['a cost with no room to go on', (d) => (d.branches[0].usage.cost = '9007199.254740992'), 'branches.0.usage.cost'],
    ['more attempts than a call can have', (d) => (d.entries[1].model.attempt = 2 ** 31), 'entries.1.model.attempt'],
    ['a count with no room to go on', (d) => (d.context.message_count = 2 ** 62), 'context.message_count'],
    ['no branches', (d) => (d.branches = []), 'branches'],
    [
      'too many branches',
      (d) => (d.branches = Array.from({ length: 501 }, (_, n) => ({ ...d.branches[0], name: `n${n}` }))),
      'branches',
    ],
    ['a branch twice', (d) => d.branches.push(d.branches[0]), 'branches.1.name'],
    ['an active branch that is none', (d) => (d.context.active_branch = 'x'), 'context.active_branch'],
    ['a fork that is not there', (d) => Object.assign(d.branches[0], { parent: 'x', fork: 99 }), 'branches.0'],
    ['a config of no sense', (d) => (d.context.config.colour = 'red'), 'context.config.colour'],
    ['a member too many', (d) => (d.colour = 'red'), 'colour'],
    ['a role that is unknown', (d) => (d.context.worker.role = 'king'), 'role'],
  ];
  test('with an image without data gets the faults of its type of source', async () => {
    const worker = await api.worker();
    await converse(api, worker.context_id, await addProcess(api), 'q', 'a');
    const document = JSON.parse(await fileOf(worker.context_id));
    document.entries[0].content.push({ type: 'image', source: { type: 'base64', media_type: 'image/png' } });
    const { error } = (await refused(document)).body;
    expect(error.errors.map(({ message }: Body) => message)).toEqual([
      'entries[0].content[1].source.data: is missing.',
    ]);
  });

  test.each(damages)('with %s is refused by field name, and nothing is changed', async (_, damage, param) => {
    const worker = await api.worker();
    await converse(api, worker.context_id, await addProcess(api), 'q', 'a');
    const document = JSON.parse(await fileOf(worker.context_id));
    damage(document);
    expect((await refused(document)).body.error.param).toBe(param);
  });

  test.each([
    '',
    '{',
    '[',
    '[]',
    'null',
    '{"entries":[{"user":"x"}',
    '{"entries":[{"user":"x"}]}}',
    '{"entries":[,]}',
    '{"entries":[{}{}]}',
    '{"title" 1}',
    '{"title":1,}',
    '{"files" 1}',
    '{"files":{"a" 1}}',
    '{"files":{"a":1,}}',
    '{"files":{"a":1]}',
    '{"files":{1:1}}',
    '{"files":{"a":1}',
    "{'a':1}",
    '{"entries":[tru]}',
  ])('%j is not JSON', async (text) => {
    const before = await counts();
    const { status } = await api.post('/api/contexts/import', text);
    expect(status).toBe(400);
    expect(await counts()).toEqual(before);
  });

  test('without a body, too large, too deep, of another type', async () => {
    expect((await api.call('POST', '/api/contexts/import')).status).toBe(422);
    const large = JSON.stringify({ entries: [{ user: 'x'.repeat(3_000_000) }] });
    const { status, body } = await api.post('/api/contexts/import', large);
    expect([status, body.error.code]).toEqual([413, 'payload_too_large']);
    expect((await api.post('/api/contexts/import', `{"entries":${'['.repeat(500)}${']'.repeat(500)}}`)).status).toBe(
      422,
    );
    expect((await api.post('/api/contexts/import', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  // None of these is a complete text: a body refused like this was not parsed, nor read to its end.
  test.each([
    [
      'an unknown member',
      '{"extra": {broken',
      'Unknown field `extra`. Known fields: format, version, context, entries, branches, title, worker, config, files.',
    ],
    ['depth', `{"entries":[${'['.repeat(101)}`, 'The body is nested deeper than 100 levels.'],
    ['many values', `{"entries":[[${'1,'.repeat(100_001)}`, 'The body holds more than 100000 values.'],
    [
      'many values in two files',
      `{"files":{"a":[${'1,'.repeat(50_001)}1],"b":[${'1,'.repeat(50_001)}`,
      'The body holds more than 100000 values.',
    ],
    ['many files', `{"files":{${'"a":1,'.repeat(100_001)}`, 'The body holds more than 100000 values.'],
    ['a long number', `{"title":${'1'.repeat(1_001)}`, 'The body holds a number of more than 1000 digits.'],
    [
      'a long number in an entry',
      `{"entries":[{"a":${'1'.repeat(1_001)}`,
      'The body holds a number of more than 1000 digits.',
    ],
  ])('%s is refused before it is parsed', async (_, text, detail) => {
    const { status, body } = await api.post('/api/contexts/import', text);
    expect([status, body.detail]).toEqual([422, detail]);
  });

  test.each(['{"files":[{}]}', '{"files":1}', '{"entries":{}}', '{"entries":{"0":1}}', '{"entries":"x"}'])(
    '%s does not have the expected shape',
    async (text) => {
      expect((await api.post('/api/contexts/import', text)).status).toBe(422);
    },
  );

  test('under one key is imported once', async () => {
    const key = { 'idempotency-key': 'once' };
    const one = await api.post('/api/contexts/import', { entries: [{ user: 'x' }] }, key);
    const two = await api.post('/api/contexts/import', { entries: [{ user: 'x' }] }, key);
    expect(two.body).toEqual(one.body);
    expect((await api.post('/api/contexts/import', { entries: [{ user: 'y' }] }, key)).body.error.code).toBe(
      'idempotency_conflict',
    );
  });
});
