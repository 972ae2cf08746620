// What a tenant may use holds whenever a job runs: the lists may have changed since its worker was made.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compactContext } from '../../../src/commands/contexts/compact-context.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import type { ModelOutcome } from '../../../src/core/model/model.ts';
import { ASKING_DEFAULTS } from '../../../src/core/run/policy.ts';
import type { Allow } from '../../../src/core/access/tenant.ts';
import type { Role, WorkerConfig } from '../../../src/core/workers/settings.ts';
import type { Catalog } from '../../../src/tools/registry/catalog.ts';
import { createRegistry } from '../../../src/tools/registry/registry.ts';
import { NO_SERVERS } from '../../../src/tools/registry/servers.ts';
import { resolve } from '../../../src/tools/registry/settings.ts';
import { faultyTool } from '../../tools/faulty-tool.ts';
import { toTool } from '../../tools/to-tool.ts';
import { result, says, startFleet, transcript, type Fleet } from '../worker-fleet.ts';

const tool = (name: string) => toTool(faultyTool({ name, effect: 'none' }));
const OF_SERVERS = { files: ['files__get'], mail: ['mail__send'] };

/** Names of servers that a job started. */
const started: string[] = [];
const CATALOG: Catalog = {
  roles: new Map<string, Role>([
    ['coder', { tools: ['read', 'shell'], mcp_servers: ['files', 'mail'] }],
    ['summing', { compaction: { type: 'llm', model: 'simulated/small' } }],
  ]),
  registry: createRegistry(['read', 'shell'].map(tool)),
  servers: {
    ...NO_SERVERS,
    use(servers) {
      started.push(...servers);
      return true;
    },
    offer(server) {
      const names = Object.entries(OF_SERVERS).flatMap(([name, tools]) => (name === server ? tools : []));
      return { kind: 'tools', tools: names.map((name) => tool(name).descriptor) };
    },
  },
  providers: new Set(['simulated'] as const),
  asking: ASKING_DEFAULTS,
  parameters: [],
  defaults: { model: 'simulated/large', max_steps: 10 },
};

let fleet: Fleet;
/** The model's answers to come; without any it says `done`. */
let answers: ModelOutcome[];
/** The names of the tools of each prompt. */
let prompts: string[][];
let executed: string[];
beforeEach(async () => {
  [answers, prompts, executed] = [[], [], []];
  started.length = 0;
  const runnable = (name: string) => ({
    execute: () => {
      executed.push(name);
      return result(`${name} ran`);
    },
  });
  fleet = await startFleet({
    model({ tools }) {
      prompts.push(tools.map(({ name }) => name));
      return answers.shift() ?? says('done');
    },
    tools: Object.fromEntries(['read', 'shell', 'files__get', 'mail__send'].map((name) => [name, runnable(name)])),
    resolve: ({ config, role, definition }, caller, allow) =>
      resolve(config, definition ?? role, CATALOG, { caller, role, allow }),
  });
});
afterEach(() => fleet.close());

async function workerWith(config: WorkerConfig, role: string | null = null): Promise<ContextId> {
  const wanted = { tenantId: DEFAULT_TENANT, name: 'w', title: null, config, user: null, parentWorkerId: null };
  const of = role === null ? null : { name: role, version: null };
  return (await fleet.perform(createWorker(fleet.ports, { ...wanted, role: of }))).contextId;
}

async function allow(lists: Allow): Promise<void> {
  await fleet.query(`update tenants set allow = '${JSON.stringify(lists)}' where id = ${DEFAULT_TENANT}`);
}

async function run(contextId: ContextId) {
  const { jobId } = await fleet.post(contextId, 'go');
  return fleet.ended(jobId);
}

const NOT_ALLOWED = (what: RegExp) => ({
  status: 'failed',
  error: { code: 'not_allowed', message: expect.stringMatching(what) },
});

describe('tools and servers that the tenant may not use', () => {
  test('are not offered, started or run, although the role of the config file names them', async () => {
    await allow({ tools: ['read', 'files__*', 'mail__*'], mcp_servers: ['files'] });
    const contextId = await workerWith({}, 'coder');
    answers = [says('', { name: 'shell', input: {} }, { name: 'mail__send', input: {} }, { name: 'read', input: {} })];
    expect(await run(contextId)).toMatchObject({ status: 'completed' });
    expect(prompts).toEqual([
      ['files__get', 'read'],
      ['files__get', 'read'],
    ]);
    expect(executed).toEqual(['read']);
    expect(new Set(started)).toEqual(new Set(['files']));
    const [, , ...lines] = transcript(await fleet.history(contextId));
    const unknown = (name: string) => `a1 tool: ←There is no tool named ${name}. Available tools: files__get, read.`;
    expect(lines.toSorted()).toEqual(
      ['a1 assistant: done', unknown('mail__send'), unknown('shell'), 'a1 tool: ←read ran'].toSorted(),
    );
  });

  test('are those of the list at the start of each job', async () => {
    const contextId = await workerWith({ tools: ['read', 'shell'] });
    await run(contextId);
    await allow({ tools: ['read'] });
    await run(contextId);
    await allow({});
    await run(contextId);
    expect(prompts).toEqual([['read', 'shell'], ['read'], ['read', 'shell']]);
  });

  test('do not run after an approval that comes too late', async () => {
    const contextId = await workerWith({ tools: ['read', 'shell'], approval: [{ tool: '*', decision: 'always' }] });
    answers = [says('', { name: 'shell', input: {} })];
    const { jobId } = await fleet.post(contextId, 'go');
    await fleet.until(async () => (await fleet.job(jobId))['status'] === 'waiting');
    await fleet.atRest();
    await allow({ tools: ['read'] });
    await fleet.judge(contextId);
    expect(await fleet.ended(jobId)).toMatchObject({ status: 'completed' });
    expect(executed).toEqual([]);
    expect(prompts.at(-1)).toEqual(['read']);
  });
});

describe('a job fails', () => {
  test('with a model that the tenant may not use, and the next one runs when it may', async () => {
    await allow({ models: ['simulated/small'] });
    const contextId = await workerWith({});
    expect(await run(contextId)).toMatchObject(
      NOT_ALLOWED(/the model "simulated\/large".*Allowed models: simulated\/small/),
    );
    expect(prompts).toEqual([]);
    const [context] = await fleet.query(`select state, queued, lease_owner from contexts where id = '${contextId}'`);
    expect(context).toEqual({ state: 'PermanentFailure', queued: 0, lease_owner: null });
    await allow({});
    const { jobId } = await fleet.retry(contextId);
    expect(await fleet.ended(jobId)).toMatchObject({ status: 'completed' });
  });

  test('with a role that the tenant may not use', async () => {
    const contextId = await workerWith({}, 'coder');
    await allow({ roles: [] });
    expect(await run(contextId)).toMatchObject(NOT_ALLOWED(/the role "coder" for this tenant. Allowed roles: none/));
    expect(started).toEqual([]);
  });

  test('with a model for summaries that the tenant may not use, of the role or of the request', async () => {
    await allow({ models: ['simulated/large'] });
    expect(await run(await workerWith({}, 'summing'))).toMatchObject(NOT_ALLOWED(/"simulated\/small"/));
    const contextId = await workerWith({});
    await run(contextId);
    const asked = { type: 'llm', model: 'simulated/small' } as const;
    const target = { tenantId: DEFAULT_TENANT, contextId, queueLimit: 10 };
    const { jobId } = await fleet.perform(compactContext(fleet.ports, { ...target, asked }));
    expect(await fleet.ended(jobId)).toMatchObject(NOT_ALLOWED(/"simulated\/small"/));
  });

  test('while it waits, as soon as its context is claimed again, and its open calls end', async () => {
    const contextId = await workerWith({ tools: ['shell'], approval: [{ tool: '*', decision: 'always' }] });
    answers = [says('', { name: 'shell', input: {} })];
    const { jobId } = await fleet.post(contextId, 'go');
    await fleet.until(async () => (await fleet.job(jobId))['status'] === 'waiting');
    await fleet.atRest();
    await allow({ models: [] });
    await fleet.judge(contextId);
    expect(await fleet.ended(jobId)).toMatchObject(NOT_ALLOWED(/Allowed models: none/));
    expect(executed).toEqual([]);
    const open = await fleet.query(
      `select 1 from tool_calls where job_id = '${jobId}' and status in ('pending', 'waiting')`,
    );
    expect(open).toEqual([]);
  });

  test('of its own tenant alone', async () => {
    const [tenant] = await fleet.query(
      `insert into tenants (id, name, allow) values (77, 'acme', '{"models": []}') returning id`,
    );
    expect(tenant).toEqual({ id: 77 });
    expect(await run(await workerWith({}))).toMatchObject({ status: 'completed' });
    expect(prompts).toHaveLength(1);
  });
});
