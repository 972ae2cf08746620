// The config of a worker changes during its conversation: model, provider, mode, prompt and tools. Over HTTP, with the
// real SDKs: each request is valid for its provider.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ASKING_DEFAULTS } from '../../../src/core/run/policy.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import type { ProviderName } from '../../../src/core/model/model.ts';
import { createModels } from '../../../src/llm/models.ts';
import { toTool } from '../../tools/to-tool.ts';
import { builtInTools } from '../../../src/tools/built-in/tools.ts';
import { createRegistry } from '../../../src/tools/registry/registry.ts';
import { resolve } from '../../../src/tools/registry/settings.ts';
import { NO_SERVERS } from '../../../src/tools/registry/servers.ts';
import { openApi, type Api, type Body } from '../../api/harness.ts';
import {
  startFakeProvider,
  type FakeAnswer,
  type FakeProvider,
  type FakeRequest,
  type Seen,
} from '../../llm/fake-provider.ts';
import { result, startFleet, type Fleet, type Tools } from '../worker-fleet.ts';

const KEY = 'sk-ant-not-to-be-seen';
const TOOLS: Tools = {
  look: { effect: 'none', execute: () => result('seen') },
  mail: { effect: 'once', execute: () => result('sent') },
  ask_user: { answered_by: 'person', execute: () => result('never') },
};
const registry = createRegistry([
  ...builtInTools(),
  ...(['look', 'mail'] as const).map((name) =>
    toTool({
      name,
      description: 'd',
      input_schema: { type: 'object' },
      effect: name === 'mail' ? 'once' : 'none',
      execute: () => '',
    }),
  ),
]);

let provider: FakeProvider;
let fleet: Fleet;
let api: Api;
beforeAll(async () => {
  provider = await startFakeProvider(thinksAndLooks);
  const models = createModels({
    anthropic: { apiKey: KEY, baseURL: provider.anthropicURL },
    openai: { apiKey: KEY, baseURL: provider.openaiURL },
    idleTimeoutMs: 10_000,
  });
  const catalog = {
    roles: new Map(),
    registry,
    servers: NO_SERVERS,
    providers: new Set<ProviderName>(models.configured),
    asking: ASKING_DEFAULTS,
    parameters: [],
    defaults: { model: 'anthropic/one', max_steps: 50 },
  };
  fleet = await startFleet({
    model: () => {
      throw new Error('The provider answers requests.');
    },
    tools: TOOLS,
    provider: { models, name: 'anthropic' },
    resolve: ({ config, role }) => resolve(config, role, catalog),
  });
  api = await openApi({}, fleet.url);
});
beforeEach(() => {
  provider.requests.splice(0);
  provider.answer(thinksAndLooks);
});
afterAll(async () => {
  await api.close();
  await fleet.close();
  await provider.close();
});

/** Thinks, calls a tool, and answers that it is done once it has the result. Its thinking names the model. */
function thinksAndLooks({ entries, model, index }: FakeRequest): FakeAnswer {
  const thinking = `thought by ${model}`;
  return entries.at(-1)?.role === 'tool'
    ? { thinking, text: `done by ${model}` }
    : {
        thinking,
        text: 'Let me look.',
        toolCalls: [{ id: `call_${index % 2}`, name: 'look', arguments: {} }],
      };
}

const url = (worker: Body, path = '') => `/api/contexts/${worker.context_id}${path}`;

async function converse(worker: Body, content: string): Promise<Body> {
  const { body } = await api.post(url(worker, '/messages'), { content });
  // The application of the API has a queue of its own.
  for (const notify of api.wakeUps.splice(0)) fleet.ports.wakeQueue.notify(notify);
  const { body: job } = await api.get(`/api/jobs/${body.job_id}?wait_ms=20000`);
  expect(job).toMatchObject({ status: 'completed' });
  return job;
}

const patch = async (worker: Body, config: object): Promise<Body> =>
  (await api.call('PATCH', url(worker), { config })).body;

function texts(value: Json | undefined): string {
  return JSON.stringify(value ?? null);
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Every call has its result before any other message, in each provider's own form. */
function expectValid({ entries, format, body, model }: Seen): void {
  const messages = entries.filter(({ role }) => role !== 'system');
  expect(messages[0]?.role).toBe('user');
  const ids = messages.flatMap(({ calls }) => calls.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  for (const [at, { role, calls }] of messages.entries()) {
    if (role !== 'assistant') continue;
    const answers = messages.slice(at + 1, at + 1 + calls.length);
    expect(answers.map(({ callId }) => callId)).toEqual(calls.map(({ id }) => id));
  }
  for (const [, by] of texts(body).matchAll(/thought by ([\w-]+)/g)) expect(by).toBe(model);
  if (format === 'messages') {
    const blocks = objects(body['messages']).flatMap(({ content }) => objects(content));
    for (const block of blocks) {
      if (block['type'] === 'thinking') expect(block['signature']).toEqual(expect.any(String));
    }
    const roles = objects(body['messages']).map(({ role }) => role);
    expect(roles.every((role, at) => role !== roles[at - 1])).toBe(true);
  }
  if (format === 'responses') {
    const items = objects(body['input']);
    for (const [at, item] of items.entries()) {
      // Reasoning goes back sealed, and with the call that followed it.
      if (item['type'] !== 'reasoning') continue;
      expect(item['encrypted_content']).toEqual(expect.any(String));
      expect(items[at + 1]?.['type']).toMatch(/message|function_call/);
    }
  }
}

test('a conversation moves from provider to provider, and from model to model, with its calls and thinking', async () => {
  const worker = await api.worker({ tools: ['look'], model: 'anthropic/one' });
  const models = [
    'anthropic/one',
    'openai/two',
    'openai-chat/three',
    'anthropic/one',
    'anthropic/other',
    'openai/other',
    'openai/two',
    'anthropic/one',
  ];
  for (const [turn, model] of models.entries()) {
    await patch(worker, { model });
    const job = await converse(worker, `question ${turn}`);
    expect(job.output.text).toBe(`done by ${model.split('/')[1]}`);
  }
  expect(provider.requests.map(({ model }) => model)).toEqual(
    models.flatMap((model) => [model.split('/')[1], model.split('/')[1]]),
  );
  for (const request of provider.requests) expectValid(request);
  // Each model gets the whole conversation, and its own thinking.
  const last = provider.requests.at(-1);
  expect(last?.entries.filter(({ role }) => role === 'tool').map(({ text }) => text)).toEqual(models.map(() => 'seen'));
  expect(texts(last?.body).match(/thought by one/g)).toHaveLength(5);
  const { body } = await api.get(url(worker, '/messages?limit=200'));
  expect(new Set(body.data.map((message: Body) => message.provider_id).filter(Boolean))).toEqual(
    new Set(['anthropic', 'openai', 'openai-chat']),
  );
});

test('the next step of a running job is made by the new model, with the new prompt and the new tools', async () => {
  const worker = await api.worker({ tools: ['look', 'mail'], model: 'anthropic/one', system_prompt: 'Old.' });
  provider.answer(async (asked) => {
    if (asked.index === 0) {
      await patch(worker, { model: 'openai/two', system_prompt: 'New.', tools: ['look'], max_tokens: 77 });
    }
    return thinksAndLooks(asked);
  });
  await converse(worker, 'go');
  const [first, second] = provider.requests;
  expect(first).toMatchObject({ format: 'messages', tools: ['look', 'mail'] });
  expect(second).toMatchObject({ format: 'responses', model: 'two', tools: ['look'] });
  expect(second?.body).toMatchObject({ instructions: 'New.', max_output_tokens: 77 });
  if (second !== undefined) expectValid(second);
  await patch(worker, { system_prompt: null, tools: null, max_tokens: null });
  await converse(worker, 'again');
  const third = provider.requests.at(-1);
  expect(third?.tools).toEqual([]);
  expect(third?.body).not.toHaveProperty('instructions');
  expect(third?.body).not.toHaveProperty('max_output_tokens');
});

describe('a plan', () => {
  test('is offered tools without effect, and a call of another tool is refused in plain words', async () => {
    const worker = await api.worker({ tools: ['ask_user', 'look', 'mail'], mode: 'plan' });
    provider.answer(({ entries }) =>
      entries.at(-1)?.role === 'tool'
        ? { text: 'First I look, then I mail.' }
        : { toolCalls: [{ name: 'mail', arguments: {} }] },
    );
    const job = await converse(worker, 'plan it');
    expect(provider.requests[0]?.tools).toEqual(['ask_user', 'look']);
    expect(provider.requests[1]?.entries.at(-1)?.text).toBe(
      'There is no tool named mail in plan mode: tools with side effects are not offered. Available tools: ask_user, look.',
    );
    const { body } = await api.get(url(worker, `/messages/${job.output.message_id}`));
    expect(body).toMatchObject({ type: 'plan' });
    await patch(worker, { mode: 'act' });
    const acted = await converse(worker, 'do it');
    expect(provider.requests.at(-1)?.tools).toEqual(['ask_user', 'look', 'mail']);
    expect(provider.requests.at(-1)?.entries.at(-1)?.text).toBe('sent');
    expect((await api.get(url(worker, `/messages/${acted.output.message_id}`))).body.type).toBe('text');
  });

  test('that becomes an act in the middle of a job acts at the next step', async () => {
    const worker = await api.worker({ tools: ['look', 'mail'], mode: 'plan' });
    provider.answer(async (asked) => {
      if (asked.index === 0) await patch(worker, { mode: 'act' });
      return thinksAndLooks(asked);
    });
    const job = await converse(worker, 'go');
    expect(provider.requests.map(({ tools }) => tools)).toEqual([['look'], ['look', 'mail']]);
    expect((await api.get(url(worker, `/messages/${job.output.message_id}`))).body.type).toBe('text');
  });

  test('a call of a tool that was not offered is not run even if the tool is available by then: no mark allows its one run', async () => {
    const worker = await api.worker({ tools: ['look', 'mail'], mode: 'plan' });
    provider.answer(async ({ entries, index }) => {
      if (index === 0) await patch(worker, { mode: 'act' });
      if (index > 1) return { text: `It said: ${entries.at(-1)?.text}` };
      return { toolCalls: [{ name: 'mail', arguments: {} }] };
    });
    const job = await converse(worker, 'go');
    expect(provider.requests[1]?.entries.at(-1)?.text).toBe(
      'The tool mail was not available, or was a different tool, when it was called. Nothing was run. It can be called now.',
    );
    expect(job.output.text).toBe('It said: sent');
    const { body: steps } = await api.get(`/api/jobs/${job.id}/steps`);
    const mails = steps.data.filter(({ name }: { name?: string }) => name === 'mail');
    expect(mails.map(({ status }: { status: string }) => status)).toEqual(['failed', 'completed']);
  });

  test('an act that becomes a plan does not run earlier calls: their tools are no longer offered', async () => {
    const worker = await api.worker({ tools: ['look', 'mail'] });
    provider.answer(async ({ entries, index }) => {
      if (index === 0) await patch(worker, { mode: 'plan' });
      return entries.at(-1)?.role === 'tool'
        ? { text: `It said: ${entries.at(-1)?.text}` }
        : { toolCalls: [{ name: 'mail', arguments: {} }] };
    });
    const job = await converse(worker, 'go');
    expect(job.output.text).toMatch(/no tool named mail in plan mode/);
    const { body: steps } = await api.get(`/api/jobs/${job.id}/steps`);
    expect(steps.data).toContainEqual(expect.objectContaining({ name: 'mail', status: 'failed' }));
  });
});
