// Each request of a conversation begins with the bytes of the one before it, so that the provider's prompt cache hits: from
// step to step, in the next job, and where another worker process has read the history from the database.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createBranch } from '../../../src/commands/contexts/change-branches.ts';
import { forkContext } from '../../../src/commands/contexts/fork-context.ts';
import { SUMMARISER } from '../../../src/core/compaction/summary.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import type { ProviderName } from '../../../src/core/model/model.ts';
import { NO_USAGE, addUsage, cacheHitRatio } from '../../../src/core/money/usage.ts';
import type { Settings } from '../../../src/core/workers/settings.ts';
import { createModels } from '../../../src/llm/models.ts';
import { openApi } from '../../api/harness.ts';
import { startFakeProvider, type FakeProvider, type FakeRequest } from '../../llm/fake-provider.ts';
import { promptCache, toFakeUsage, type CacheUse } from '../../llm/fake/prompt-cache.ts';
import { result, startFleet, type Fleet } from '../worker-fleet.ts';
import { expectPrefix, expectPrefixes, prompt, replaceProcess, say, startsWith } from './prompts.ts';

const PROVIDERS: readonly ProviderName[] = ['anthropic', 'openai', 'openai-chat'];

/** Members that are not sorted, at each level. */
const INPUT: JsonObject = {
  zone: 'north',
  a: { yellow: 1, blue: [{ two: 2, one: 1 }] },
  'with "quotes" \\ and \u00e9\ud83e\udd8a': null,
  bb: 'x',
};

/** A tool without effect runs as soon as its call is complete, beside the answer; one with an effect runs after it. */
const TOOLS = ['look', 'mail'] as const;
type Tool = (typeof TOOLS)[number];

/** Two calls of a tool, then the answer. */
function replyWith(tool: Tool) {
  return ({ entries }: FakeRequest) => {
    const since = entries.length - 1 - entries.findLastIndex(({ role }) => role === 'user');
    return since < 4
      ? { thinking: 'Let me look.', text: 'I look.', toolCalls: [{ name: tool, arguments: INPUT }] }
      : { text: 'That is all.' };
  };
}
const reply = replyWith('look');

/** The fields that a test may change. `looks`: the results of the tools. */
type Scene = { settings: Partial<Settings>; looks: string };

const PLAIN: Scene = {
  settings: { systemPrompt: 'You look.', pinned: [{ title: 'Rule', text: 'Look twice.' }] },
  looks: '',
};

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function marksIn(blocks: Json | undefined): boolean[] {
  return objects(blocks).map((block) => block['cache_control'] !== undefined);
}

/** The summary that a model writes on request. */
const SUMMARY = 'They asked several questions; each was answered.';

const isSummary = ({ body }: FakeRequest): boolean => JSON.stringify(body).includes(SUMMARISER.slice(0, 40));

/** As a provider counts: a quarter of the characters. */
const counted = ({ body }: FakeRequest) => ({
  input: Math.ceil(JSON.stringify(body).length / 4),
  output: 20,
});

/** Of realistic length: caches keep nothing shorter. */
const INSTRUCTIONS = 'You look things up, and say what you found. '.repeat(120);

describe.each(PROVIDERS)('%s', (name) => {
  let fake: FakeProvider;
  let made: Fleet;
  let scene = PLAIN;

  beforeAll(async () => {
    fake = await startFakeProvider(reply);
    const models = createModels({
      anthropic: { apiKey: 'test', baseURL: fake.anthropicURL },
      openai: { apiKey: 'test', baseURL: fake.openaiURL },
      idleTimeoutMs: 50_000,
    });
    const execute = () => result(`{"zz": 1, "a": 2}${scene.looks}`);
    made = await startFleet({
      model: () => Promise.reject(new Error('no model but the provider')),
      provider: { models, name },
      tools: { look: { effect: 'none', execute }, mail: { effect: 'once', execute } },
      settings: () => scene.settings,
    });
  });
  beforeEach(() => {
    scene = PLAIN;
    fake.answer(reply);
    fake.requests.splice(0);
  });
  afterAll(async () => {
    await made.close();
    await fake.close();
  });

  /** The results of the tools are long from here on, and are compacted soon. */
  function compacts(compaction: Settings['compaction']): void {
    scene = { settings: { ...PLAIN.settings, contextLimit: 6_000, compaction }, looks: 'long '.repeat(400) };
  }

  test.each(TOOLS)('the prompt prefix is kept over steps, jobs and processes: the tool %s', async (tool) => {
    fake.answer(replyWith(tool));
    const { contextId } = await made.createContext();
    await say(made, contextId, 'one');
    await say(made, contextId, 'two');
    await replaceProcess(made);
    await say(made, contextId, 'three');
    const { requests } = fake;
    expect(requests).toHaveLength(9);
    expectPrefixes(requests);
    // The model's output comes back unchanged.
    expect(JSON.stringify(requests.at(-1)?.body)).toContain(
      name === 'anthropic' ? JSON.stringify(INPUT) : JSON.stringify(JSON.stringify(INPUT)),
    );
  });

  test.runIf(name === 'anthropic')(
    'the prompt has Anthropic’s breakpoints: the system prompt, the pinned text, and the last two user messages',
    async () => {
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
    },
  );

  test('the prompt prefix is kept in a fork, and on a branch', async () => {
    const { contextId } = await made.createContext();
    await say(made, contextId, 'one');
    const source = { tenantId: DEFAULT_TENANT, contextId };
    const last = fake.requests.at(-1);
    const fork = await made.perform(forkContext(made.ports, { ...source, fromMessageId: null, title: undefined }));
    await made.perform(
      createBranch({ ...source, name: 'other', fromMessageId: null, fromBranch: null, activate: false }),
    );
    await say(made, fork.contextId, 'two');
    await say(made, contextId, 'two', { branch: 'other' });
    const [inFork, , , onBranch] = fake.requests.slice(3);
    if (last === undefined || inFork === undefined || onBranch === undefined) throw new Error('a request is missing');
    expectPrefix(last, inFork);
    expectPrefix(last, onBranch);
    if (name === 'openai') {
      const keys = [last, inFork, onBranch].map(({ body }) => body['prompt_cache_key']);
      expect(keys).toEqual([contextId, contextId, contextId]);
    }
  });

  test('the prompt prefix is kept in a context that was exported and imported', async () => {
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
  });

  test('the prompt prefix is lost by a compaction only, once each, and never that of tools and instructions', async () => {
    fake.answer((request) => ({ ...reply(request), usage: counted(request) }));
    compacts({ type: 'threshold', threshold: 0.5, keepTurns: 1, model: null });
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
  });

  test('a summary replaces the messages before its cut, and those after it keep their bytes', async () => {
    fake.answer((request) => ({
      ...(isSummary(request) ? { text: SUMMARY } : reply(request)),
      usage: counted(request),
    }));
    compacts({ type: 'llm', threshold: 0.5, keepTurns: 2, model: null });
    const { contextId } = await made.createContext();
    for (let job = 1; job <= 8; job += 1) {
      await say(made, contextId, `question ${job}`);
      if (job % 2 === 0) await replaceProcess(made);
    }
    const prompts = fake.requests.filter((request) => !isSummary(request)).map(prompt);
    const lost = prompts.flatMap((next, at) => {
      const before = prompts[at - 1];
      return before === undefined || startsWith(next.messages, before.messages) ? [] : [{ before, next }];
    });
    const [compactions] = await made.query(
      `select count(*)::int as count from compactions where context_id = '${contextId}' and summary is not null`,
    );
    expect(new Set(prompts.map(({ head }) => head)).size).toBe(1);
    expect(lost.length).toBeGreaterThan(1);
    expect(lost).toHaveLength(Number(compactions?.['count']));
    // The chat format has the system prompt, and the pinned text, as its first message.
    const fixed = name === 'openai-chat' ? 1 : 0;
    for (const { before, next } of lost) {
      expect(next.messages.slice(0, fixed)).toEqual(before.messages.slice(0, fixed));
      const [note, ...rest] = next.messages.slice(fixed);
      expect(note).toContain(SUMMARY);
      // All but the newest messages were in the prompt before, byte for byte.
      const kept = before.messages.findIndex((_, from) => startsWith(rest, before.messages.slice(from)));
      expect(kept).toBeGreaterThan(fixed);
      expect(kept).toBeLessThan(before.messages.length);
    }
  });

  test('ten jobs with tools read all they can from the provider’s cache', async () => {
    const cache = promptCache();
    const uses: CacheUse[] = [];
    scene = { ...PLAIN, settings: { ...PLAIN.settings, systemPrompt: INSTRUCTIONS } };
    fake.answer((request) => {
      const use = cache.take(request);
      uses.push(use);
      return { ...reply(request), usage: toFakeUsage(use) };
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
    // The reported figures are those of the provider.
    const usage = (await made.history(contextId)).flatMap(({ model }) => model?.usage ?? []).reduce(addUsage, NO_USAGE);
    expect(usage.cache_read_tokens).toBe(sum(({ read }) => read));
    expect(cacheHitRatio(usage)).toBeCloseTo(
      sum(({ read }) => read) / sum(({ read, write, input }) => read + write + input),
      3,
    );
    expect(cacheHitRatio(usage)).toBeGreaterThan(0.9);
  });
});
