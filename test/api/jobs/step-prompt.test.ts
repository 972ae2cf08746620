// The request of each model call of a job, reconstructed, and where its prefix was lost.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createBranch } from '../../../src/commands/contexts/change-branches.ts';
import { DEFAULT_TENANT, type ContextId, type JobId } from '../../../src/core/ids.ts';
import type { ModelRequest, ProviderName } from '../../../src/core/model/model.ts';
import { ASKING_DEFAULTS } from '../../../src/core/run/policy.ts';
import type { WorkerConfig } from '../../../src/core/workers/settings.ts';
import { TOOL_LIST_DAYS, forgetToolLists } from '../../../src/db/model-calls/tool-lists.ts';
import type { Catalog } from '../../../src/tools/registry/catalog.ts';
import { toTool } from '../../tools/to-tool.ts';
import { createRegistry } from '../../../src/tools/registry/registry.ts';
import { NO_SERVERS } from '../../../src/tools/registry/servers.ts';
import { resolve } from '../../../src/tools/registry/settings.ts';
import { faultyTool } from '../../tools/faulty-tool.ts';
import { fails, result, says, startFleet, type Fleet, type Script } from '../../workers/worker-fleet.ts';
import { openApi, type Api, type Body } from '../harness.ts';

const catalog: Catalog = {
  roles: new Map(),
  registry: createRegistry(['look', 'write'].map((name) => toTool(faultyTool({ name, effect: 'none' })))),
  servers: NO_SERVERS,
  providers: new Set<ProviderName>(['simulated']),
  asking: ASKING_DEFAULTS,
  parameters: [],
  defaults: { model: 'simulated/scripted', max_steps: 100 },
};

const CONFIG: WorkerConfig = {
  system_prompt: 'You look.',
  pinned: [{ title: 'Rule', text: 'Look twice.' }],
  tools: ['look', 'write'],
  client_tools: [{ name: 'ask', description: 'Asks.', input_schema: { type: 'object', properties: {} } }],
  max_tokens: 99,
  parameters: { temperature: 1 },
};

/** A call of a tool, then the answer; the second job's answer fails at first. */
const looks: Script = ({ messages, failures }) => {
  const last = messages.at(-1)?.content.at(-1);
  if (last?.type !== 'tool_result') return says('I look.', { name: 'look', input: { b: 1, a: 2 } });
  return failures === 0 && messages.length > 4
    ? fails({ class: 'overloaded', message: 'too busy', retryAfterMs: 1 })
    : says('done');
};

let fleet: Fleet;
let api: Api;
let requests: ModelRequest[];
let script: Script;

/** The result of the tool. */
let seen: string;

beforeAll(async () => {
  fleet = await startFleet({
    model: (asked, ...more) => {
      requests.push(asked);
      return script(asked, ...more);
    },
    tools: { look: { execute: () => result(seen) } },
    resolve: ({ config, role, definition }) => resolve(config, definition ?? role, catalog),
  });
  api = await openApi({}, fleet.url);
});
beforeEach(() => {
  requests = [];
  script = looks;
  seen = 'seen';
});
afterAll(async () => {
  await api.close();
  await fleet.close();
});

async function configure(contextId: ContextId, config: WorkerConfig): Promise<void> {
  const text = JSON.stringify(config).replaceAll("'", "''");
  await fleet.query(`update workers set config = '${text}' where context_id = '${contextId}'`);
}

async function begin(config: WorkerConfig = CONFIG): Promise<ContextId> {
  const { contextId } = await fleet.createContext();
  await configure(contextId, config);
  return contextId;
}

/** A worker process stores a list of tools beside the call: perhaps after the job has ended. */
const missingLists = (jobId: JobId) =>
  fleet.query(`select m.id from messages m where m.job_id = '${jobId}' and m.prompt is not null
    and not exists (select from tool_lists t where t.hash = m.prompt->>'listed')`);

async function say(contextId: ContextId, text: string, branch?: string): Promise<JobId> {
  const { jobId } = await fleet.post(contextId, text, branch === undefined ? {} : { branch });
  expect(await fleet.ended(jobId)).toMatchObject({ status: 'completed' });
  await expect.poll(() => missingLists(jobId), { interval: 10 }).toEqual([]);
  return jobId;
}

const promptOf = async (jobId: JobId, n: number): Promise<Body> =>
  (await api.get(`/api/jobs/${jobId}/steps/${n}/prompt`)).body;

const callsOf = async (jobId: JobId): Promise<Body[]> =>
  (await api.get(`/api/jobs/${jobId}/steps`)).body.data.filter(({ n }: Body) => n !== null);

function request(at: number): ModelRequest {
  const made = requests[at];
  if (made === undefined) throw new Error(`The model was called ${requests.length} times.`);
  return made;
}

/** The prompt of the model, in the format of the answer. */
function asAsked({ system, pinned, messages, tools, maxTokens, streaming, parameters }: ModelRequest) {
  return {
    model: 'simulated/scripted',
    system,
    pinned,
    messages,
    tools: tools.map(({ name, description, input_schema }) => ({ name, description, input_schema })),
    max_tokens: maxTokens,
    streaming,
    parameters,
  };
}

const toText = (value: unknown): string => JSON.stringify(value);

test('every call of two jobs is shown as it was sent, to the byte, failed ones too', async () => {
  const contextId = await begin();
  const first = await say(contextId, 'one');
  const second = await say(contextId, 'two');
  expect(requests).toHaveLength(5);
  const onRun = [
    await promptOf(first, 1),
    await promptOf(first, 2),
    await promptOf(second, 1),
    await promptOf(second, 2),
    await promptOf(second, 3),
  ];
  for (const [at, one] of onRun.entries()) {
    expect(one).toMatchObject({ exact: true, differs: [], ...asAsked(request(at)) });
    expect(toText(one.messages)).toBe(toText(request(at).messages));
  }
  expect(onRun.map(({ prefix }) => prefix)).toEqual([
    null,
    ...Array.from({ length: 4 }, () => ({ lost_at: null, message: null })),
  ]);
  const history = await fleet.history(contextId);
  const answers = history.filter(({ role }) => role === 'assistant').map(({ id }) => id);
  expect(onRun.map(({ message_id }) => message_id)).toEqual([answers[0], answers[1], answers[2], null, answers[3]]);
  expect((await callsOf(second)).map(({ n, status, prefix_lost_at }) => [n, status, prefix_lost_at])).toEqual([
    [1, 'completed', null],
    [2, 'failed', null],
    [3, 'completed', null],
  ]);
});

test('steps that are no model calls have no number', async () => {
  const contextId = await begin();
  const job = await say(contextId, 'one');
  const { data } = (await api.get(`/api/jobs/${job}/steps`)).body;
  expect(data.map(({ kind, n }: Body) => [kind, n])).toEqual([
    ['model', 1],
    ['tool', null],
    ['model', 2],
  ]);
});

test.each<[string, WorkerConfig, string, string[]]>([
  ['the system prompt', { ...CONFIG, system_prompt: 'You look again.' }, 'system', ['system']],
  ['what is pinned', { ...CONFIG, pinned: [] }, 'system', ['system']],
  ['the tools', { ...CONFIG, tools: ['look'] }, 'tools', []],
  ["the client's tools", { ...CONFIG, client_tools: [] }, 'tools', ['tools']],
  ['tools and prompt', { ...CONFIG, client_tools: [], system_prompt: '' }, 'tools', ['tools', 'system']],
  ['the model', { ...CONFIG, model: 'simulated/other' }, 'model', []],
])(
  'a change of %s is where the prefix is lost, and the earlier request is shown separately',
  async (_, changed, at, differs) => {
    const contextId = await begin();
    const before = await say(contextId, 'one');
    await configure(contextId, changed);
    const after = await say(contextId, 'two');
    const [first, ...others] = await callsOf(after);
    expect(first).toMatchObject({ n: 1, prefix_lost_at: at });
    for (const other of others) expect(other.prefix_lost_at).toBeNull();
    const onRun = await promptOf(after, 1);
    expect(onRun).toMatchObject({ exact: true, prefix: { lost_at: at, message: null } });
    const earlier = await promptOf(before, 1);
    expect(earlier).toMatchObject({ exact: differs.length === 0, differs });
    // The tools that a worker process offered then are kept, whatever is offered now.
    expect(earlier.tools.map(({ name }: Body) => name)).toEqual(expect.arrayContaining(['look', 'write']));
  },
);

test('a change of parameters is shown, and loses no prefix', async () => {
  const contextId = await begin();
  const before = await say(contextId, 'one');
  await configure(contextId, { ...CONFIG, max_tokens: 5 });
  const after = await say(contextId, 'two');
  expect((await callsOf(after))[0]).toMatchObject({ prefix_lost_at: null });
  expect(await promptOf(before, 1)).toMatchObject({ exact: false, differs: ['parameters'], max_tokens: 5 });
  expect(await promptOf(after, 1)).toMatchObject({ exact: true });
});

test('a compaction loses the prefix at the first message that is shown differently', async () => {
  seen = 'seen '.repeat(600);
  script = async (request, ...more) => {
    const outcome = await looks(request, ...more);
    if (outcome.kind !== 'done') return outcome;
    const usage = { ...outcome.answer.usage, input_tokens: Math.ceil(toText(request.messages).length / 4) };
    return { ...outcome, answer: { ...outcome.answer, usage } };
  };
  const contextId = await begin({
    ...CONFIG,
    context_limit: 2_500,
    compaction: { type: 'threshold', threshold: 0.5, keep_turns: 1 },
  });
  const [first, second] = [await say(contextId, 'one'), await say(contextId, 'two')];
  const calls = [...(await callsOf(first)), ...(await callsOf(second))];
  const lost = calls.filter(({ prefix_lost_at }) => prefix_lost_at !== null);
  expect(lost).toHaveLength(1);
  expect(lost[0]).toMatchObject({ prefix_lost_at: 'messages' });
  const onRun = await promptOf(second, lost[0].n);
  // The result of the first job's tool.
  expect(onRun).toMatchObject({ exact: true, prefix: { lost_at: 'messages', message: 2 } });
  expect(toText(onRun.messages[2])).toContain('shortened');
  // The earlier request is shown unchanged.
  expect(await promptOf(first, 2)).toMatchObject({ exact: true, ...asAsked(request(1)) });
});

test('on a branch the request before is the one whose first part it shares', async () => {
  const contextId = await begin();
  await say(contextId, 'one');
  await fleet.perform(
    createBranch({
      tenantId: DEFAULT_TENANT,
      contextId,
      name: 'other',
      fromMessageId: null,
      fromBranch: null,
      activate: false,
    }),
  );
  const job = await say(contextId, 'two', 'other');
  expect((await callsOf(job))[0]).toMatchObject({ n: 1, prefix_lost_at: null });
  expect(await promptOf(job, 1)).toMatchObject({ exact: true, prefix: { lost_at: null, message: null } });
});

test('retracted messages are shown for their own job', async () => {
  const called = Promise.withResolvers<void>();
  script = (request, signal, listener) => {
    if (request.messages.at(-1)?.content.at(-1)?.type !== 'tool_result') return looks(request, signal, listener);
    called.resolve();
    return new Promise((done) => {
      signal.addEventListener('abort', () => done({ kind: 'aborted' }));
    });
  };
  const contextId = await begin();
  const { jobId } = await fleet.post(contextId, 'one');
  await called.promise;
  await fleet.interrupt(contextId, 'rollback');
  await fleet.ended(jobId);
  expect((await fleet.history(contextId)).filter(({ role }) => role === 'assistant')).toEqual([]);
  expect(await promptOf(jobId, 1)).toMatchObject({ exact: true, ...asAsked(request(0)) });
});

test('a list of tools that was not sent for long is deleted, and is then shown as missing', async () => {
  script = () => says('done');
  const contextId = await begin({ ...CONFIG, tools: ['write'] });
  const job = await say(contextId, 'one');
  await fleet.query(
    `update tool_lists set used_at = now() - interval '${TOOL_LIST_DAYS + 1} days' where tools::text not like '%look%'`,
  );
  expect(await forgetToolLists(fleet.database.db, 10)).toBe(1);
  expect(await promptOf(job, 1)).toMatchObject({ exact: false, differs: ['tools'], tools: null });
});

test('messages that are too long are left out, and the rest is shown', async () => {
  const contextId = await begin();
  const job = await say(contextId, 'one');
  const piece = `repeat('x', 5000000)`;
  await fleet.query(
    `update messages set content = ('[{"type":"text","text":"' || ${piece} || ${piece} || ${piece} || ${piece} || '"}]')::json
      where context_id = '${contextId}' and role = 'user'`,
  );
  expect(await promptOf(job, 1)).toMatchObject({
    exact: false,
    differs: ['messages'],
    messages: null,
    system: 'You look.',
  });
});

test('a missing step is not found', async () => {
  const contextId = await begin();
  const job = await say(contextId, 'one');
  const status = async (path: string) => (await api.get(`/api/jobs/${path}/prompt`)).status;
  expect(await status(`${job}/steps/3`)).toBe(404);
  expect(await status(`00000000-0000-7000-8000-000000000000/steps/1`)).toBe(404);
  expect(await status(`nonsense/steps/1`)).toBe(404);
  expect(await status(`${job}/steps/0`)).toBe(404);
  expect(await status(`${job}/steps/1e3`)).toBe(404);
});
