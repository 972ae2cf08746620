// Each request of a conversation begins with the bytes of the one before it, so that the provider's prompt cache hits: from
// step to step, in the next job, and where another worker process has read the history from the database.
import { afterEach, expect, test } from 'vitest';
import { forkContext } from '../../src/commands/fork-context.ts';
import { createBranch } from '../../src/commands/change-branches.ts';
import { DEFAULT_TENANT } from '../../src/core/ids.ts';
import type { ContextId } from '../../src/core/ids.ts';
import { isJsonObject } from '../../src/core/json.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';
import type { ProviderName } from '../../src/core/model.ts';
import { NO_USAGE, addUsage, cacheHitRatio } from '../../src/core/usage.ts';
import type { Settings } from '../../src/core/settings.ts';
import { createModels } from '../../src/llm/models.ts';
import { openApi } from '../api/harness.ts';
import { startFakeProvider } from '../llm/fake-provider.ts';
import type { FakeHandler, FakeProvider, FakeRequest } from '../llm/fake-provider.ts';
import { promptCache, toFakeUsage } from '../llm/fake/prompt-cache.ts';
import type { CacheUse } from '../llm/fake/prompt-cache.ts';
import { result, startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';

/** Members that are not sorted, at each level. */
const INPUT: JsonObject = {
  zone: 'north',
  a: { yellow: 1, blue: [{ two: 2, one: 1 }] },
  'with "quotes" \\ and \u00e9\ud83e\udd8a': null,
  bb: 'x',
};

let fleet: Fleet | null = null;
let provider: FakeProvider | null = null;
afterEach(async () => {
  await fleet?.close();
  await provider?.close();
  [fleet, provider] = [null, null];
});

/** Two calls of tools, then the answer. */
function speak({ entries }: FakeRequest) {
  const since = entries.length - 1 - entries.findLastIndex(({ role }) => role === 'user');
  return since < 4
    ? { thinking: 'Let me look.', text: 'I look.', toolCalls: [{ name: 'look', arguments: INPUT }] }
    : { text: 'That is all.' };
}

type Start = {
  answer?: FakeHandler;
  settings?: Partial<Settings>;
  /** What the tool says. */
  looks?: string;
};

async function start(name: ProviderName, { answer = speak, settings, looks = '' }: Start = {}) {
  const fake = await startFakeProvider(answer);
  const models = createModels({
    anthropic: { apiKey: 'test', baseURL: fake.anthropicURL },
    openai: { apiKey: 'test', baseURL: fake.openaiURL },
    idleTimeoutMs: 50_000,
  });
  const made = await startFleet({
    model: () => Promise.reject(new Error('no model but the provider')),
    provider: { models, name },
    tools: { look: { execute: () => result(`{"zz": 1, "a": 2}${looks}`) } },
    settings: () => ({
      systemPrompt: 'You look.',
      pinned: [{ title: 'Rule', text: 'Look twice.' }],
      ...settings,
    }),
  });
  [fleet, provider] = [made, fake];
  return { fake, made };
}

async function say(made: Fleet, contextId: ContextId, text: string, branch?: string): Promise<void> {
  const { jobId } = await made.post(contextId, text, branch === undefined ? {} : { branch });
  expect(await made.ended(jobId)).toMatchObject({ status: 'completed' });
}

/** Whatever runs next has nothing in memory. */
async function replaceProcess(made: Fleet): Promise<void> {
  await made.startProcess();
  await made.processes.shift()?.drain();
}

/** What a provider's cache sees: instructions and tools, then one text for each message or item. */
function prompt({ format, body }: FakeRequest): { head: string; messages: string[] } {
  const { system, instructions, tools } = body;
  const messages = format === 'responses' ? body['input'] : body['messages'];
  const text = (value: unknown) =>
    JSON.stringify(value, (key, member) => (key === 'cache_control' ? undefined : member));
  return {
    head: text({ system, instructions, tools }),
    messages: Array.isArray(messages) ? messages.map(text) : [],
  };
}

function expectPrefix(before: FakeRequest, after: FakeRequest): void {
  const [first, next] = [prompt(before), prompt(after)];
  expect(next.head).toBe(first.head);
  expect(next.messages.slice(0, first.messages.length)).toEqual(first.messages);
}

test.each<ProviderName>(['anthropic', 'openai', 'openai-chat'])(
  'over steps, jobs and processes: %s',
  async (name) => {
    const { fake, made } = await start(name);
    const { contextId } = await made.createContext();
    await say(made, contextId, 'one');
    await say(made, contextId, 'two');
    await replaceProcess(made);
    await say(made, contextId, 'three');
    const { requests } = fake;
    expect(requests).toHaveLength(9);
    for (const [at, request] of requests.entries()) {
      const before = requests[at - 1];
      if (before !== undefined) expectPrefix(before, request);
    }
    // What the model wrote comes back as it wrote it.
    expect(JSON.stringify(requests.at(-1)?.body)).toContain(
      name === 'anthropic' ? JSON.stringify(INPUT) : JSON.stringify(JSON.stringify(INPUT)),
    );
  },
);

test('Anthropic’s breakpoints: the system prompt, what is pinned, and the last two user messages', async () => {
  const { fake, made } = await start('anthropic');
  const { contextId } = await made.createContext();
  await say(made, contextId, 'one');
  await say(made, contextId, 'two');
  for (const { body } of fake.requests) {
    expect(body['cache_control']).toBeUndefined();
    expect(marksIn(body['system'])).toEqual([true, true]);
    const messages = objects(body['messages']);
    const ofUsers = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : []));
    const cached = messages.flatMap(({ content }, at) => (marksIn(content).includes(true) ? [at] : []));
    expect(cached).toEqual(ofUsers.slice(-2));
    for (const at of cached) {
      const marks = marksIn(messages[at]?.['content']);
      expect(marks.indexOf(true)).toBe(marks.length - 1);
    }
  }
});

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function marksIn(blocks: Json | undefined): boolean[] {
  return objects(blocks).map((block) => block['cache_control'] !== undefined);
}

test.each<ProviderName>(['anthropic', 'openai', 'openai-chat'])(
  'in a fork, and on a branch: %s',
  async (name) => {
    const { fake, made } = await start(name);
    const { contextId } = await made.createContext();
    await say(made, contextId, 'one');
    const source = { tenantId: DEFAULT_TENANT, contextId };
    const last = fake.requests.at(-1);
    const fork = await made.perform(
      forkContext(made.ports, { ...source, fromMessageId: null, title: undefined }),
    );
    await made.perform(
      createBranch({ ...source, name: 'other', fromMessageId: null, fromBranch: null, activate: false }),
    );
    await say(made, fork.contextId, 'two');
    await say(made, contextId, 'two', 'other');
    const [inFork, , , onBranch] = fake.requests.slice(3);
    if (last === undefined || inFork === undefined || onBranch === undefined)
      throw new Error('a request is missing');
    expectPrefix(last, inFork);
    expectPrefix(last, onBranch);
    if (name === 'openai') {
      const keys = [last, inFork, onBranch].map(({ body }) => body['prompt_cache_key']);
      expect(keys).toEqual([contextId, contextId, contextId]);
    }
  },
);

test.each<ProviderName>(['anthropic', 'openai', 'openai-chat'])(
  'in a context that was exported and imported: %s',
  async (name) => {
    const { fake, made } = await start(name);
    const { contextId } = await made.createContext();
    await say(made, contextId, 'one');
    await say(made, contextId, 'two');
    const last = fake.requests.at(-1);
    const api = await openApi({}, made.url);
    const { body: file } = await api.get(`/api/contexts/${contextId}/export`);
    const { body: copy } = await api.post('/api/contexts/import', file);
    await api.close();
    await say(made, copy.id, 'three');
    const [imported] = fake.requests.slice(6);
    if (last === undefined || imported === undefined) throw new Error('a request is missing');
    expectPrefix(last, imported);
  },
);

test.each<ProviderName>(['anthropic', 'openai', 'openai-chat'])(
  'is lost by a compaction only, once each, and never that of tools and instructions: %s',
  async (name) => {
    const { fake, made } = await start(name, {
      answer: (request) => ({
        ...speak(request),
        usage: { input: Math.ceil(JSON.stringify(request.body).length / 4), output: 20 },
      }),
      settings: {
        contextLimit: 6_000,
        compaction: { type: 'threshold', threshold: 0.5, keepTurns: 1, model: null },
      },
      looks: 'long '.repeat(400),
    });
    const { contextId } = await made.createContext();
    for (let job = 1; job <= 8; job += 1) await say(made, contextId, `question ${job}`);
    const lost = fake.requests.filter((request, at) => {
      const before = fake.requests[at - 1];
      if (before === undefined) return false;
      expect(prompt(request).head).toBe(prompt(before).head);
      return !startsWith(prompt(request).messages, prompt(before).messages);
    });
    const [compactions] = await made.query(
      `select count(*)::int as count from compactions where context_id = '${contextId}'`,
    );
    expect(lost.length).toBeGreaterThan(0);
    expect(lost).toHaveLength(Number(compactions?.['count']));
  },
);

function startsWith(messages: readonly string[], first: readonly string[]): boolean {
  return first.every((message, at) => messages[at] === message);
}

/** Of real length: caches keep nothing shorter. */
const INSTRUCTIONS = 'You look things up, and say what you found. '.repeat(120);

test.each<ProviderName>(['anthropic', 'openai', 'openai-chat'])(
  'ten jobs with tools read from the provider’s cache what they can: %s',
  async (name) => {
    const cache = promptCache();
    const uses: CacheUse[] = [];
    const { made } = await start(name, {
      settings: { systemPrompt: INSTRUCTIONS },
      answer(request) {
        const use = cache.take(request);
        uses.push(use);
        return { ...speak(request), usage: toFakeUsage(use) };
      },
    });
    const { contextId } = await made.createContext();
    for (let job = 1; job <= 10; job += 1) {
      await say(made, contextId, `Question ${job}: where is it?`);
      // Every third job runs in a process that has read all of it from the database.
      if (job % 3 === 0) await replaceProcess(made);
    }
    expect(uses).toHaveLength(30);
    const sum = (of: (use: CacheUse) => number): number => uses.reduce((all, use) => all + of(use), 0);
    expect(sum(({ read }) => read) / sum(({ shared }) => shared)).toBeGreaterThanOrEqual(0.95);
    // What is told of it is what the provider counted.
    const usage = (await made.history(contextId))
      .flatMap(({ model }) => model?.usage ?? [])
      .reduce(addUsage, NO_USAGE);
    expect(usage.cache_read_tokens).toBe(sum(({ read }) => read));
    expect(cacheHitRatio(usage)).toBeCloseTo(
      sum(({ read }) => read) / sum(({ read, write, input }) => read + write + input),
      3,
    );
    expect(cacheHitRatio(usage)).toBeGreaterThan(0.9);
  },
);
