/** The schema of a structured answer in each provider's request, sent by the real SDKs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { ModelRequest, ProviderName } from '../../src/core/model/model.ts';
import { createModels } from '../../src/llm/models.ts';
import { ANTHROPIC_RULES, OPENAI_RULES, keeps } from '../../src/llm/wire/request/output-format.ts';
import { startFakeProvider, type FakeProvider } from './fake-provider.ts';
import { answerOf, ask, countingIds, modelFor, modelsFor, request } from './model-calls.ts';

let fake: FakeProvider;
beforeAll(async () => {
  fake = await startFakeProvider();
});
afterAll(() => fake.close());

const name = { type: 'string', description: 'Full name.' };
/** What all providers guarantee. */
const CLOSED = { type: 'object', properties: { name }, required: ['name'], additionalProperties: false };
const OPEN = { type: 'object', properties: { name, zip: { type: 'string', pattern: '^[0-9]{5}$' } } };
const LIST = { type: 'array', items: CLOSED };

const TOLD = /^Your final answer must be JSON, without any other text, that matches this JSON Schema:\n\{/;

/** The body of the request that the SDK sends. */
async function sent(provider: ProviderName, given: Partial<ModelRequest>): Promise<JsonObject> {
  fake.answer({ text: '{"name": "Ada"}' });
  answerOf(await ask(modelFor(modelsFor(fake), provider), request(provider, given)));
  return fake.requests.at(-1)?.body ?? {};
}

/** The same, to a compatible server that is not OpenAI's: no key is set, so only its own address is used. */
async function sentLocally(given: Partial<ModelRequest>): Promise<JsonObject> {
  fake.answer({ text: '{"name": "Ada"}' });
  const models = createModels({ openai: { baseURL: fake.openaiURL }, idleTimeoutMs: 50_000, ids: countingIds() });
  answerOf(await ask(modelFor(models, 'openai-chat'), request('openai-chat', given)));
  return fake.requests.at(-1)?.body ?? {};
}

describe.each([true, false])('streaming %s', (streaming) => {
  test('anthropic gets output_config.format', async () => {
    const body = await sent('anthropic', { streaming, outputSchema: CLOSED });
    expect(body['output_config']).toEqual({ format: { type: 'json_schema', schema: CLOSED } });
    expect(body).not.toHaveProperty('system');
  });

  test('openai gets text.format', async () => {
    const body = await sent('openai', { streaming, outputSchema: CLOSED });
    expect(body['text']).toEqual({
      format: { type: 'json_schema', name: 'answer', schema: CLOSED, strict: true },
    });
    expect(body).not.toHaveProperty('instructions');
  });

  test('openai-chat gets response_format', async () => {
    const body = await sentLocally({ streaming, outputSchema: CLOSED });
    expect(body['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: CLOSED, strict: true },
    });
    // A compatible server may not show it to the model.
    expect(body['messages']).toEqual([
      { role: 'system', content: expect.stringMatching(TOLD) },
      { role: 'user', content: 'Hello' },
    ]);
  });
});

test('without a schema nothing of it is sent', async () => {
  const names = ['output_config', 'text', 'response_format', 'system', 'instructions'];
  for (const provider of ['anthropic', 'openai', 'openai-chat'] as const) {
    const body = await sent(provider, {});
    for (const member of names) expect(body).not.toHaveProperty(member);
  }
});

describe('a schema that a provider does not guarantee', () => {
  test('is sent to OpenAI, not as strict', async () => {
    expect((await sent('openai', { outputSchema: OPEN }))['text']).toMatchObject({
      format: { schema: OPEN, strict: false },
    });
  });

  test('is told to Anthropic’s models in the prompt, after the pinned texts', async () => {
    const body = await sent('anthropic', { system: 'Be kind.', pinned: 'Rules.', outputSchema: OPEN });
    expect(body).not.toHaveProperty('output_config');
    expect(body['system']).toMatchObject([
      { text: 'Be kind.' },
      {
        text: `Rules.\n\nYour final answer must be JSON, without any other text, that matches this JSON Schema:\n${JSON.stringify(OPEN)}`,
      },
    ]);
  });

  test('of a list is told to OpenAI’s models: they accept only objects', async () => {
    const body = await sent('openai', { outputSchema: LIST });
    expect(body).not.toHaveProperty('text');
    expect(body['instructions']).toMatch(TOLD);
  });
});

describe('parameters', () => {
  test('stay beside the format', async () => {
    const anthropic = { output_config: { effort: 'low' } };
    expect((await sent('anthropic', { parameters: anthropic, outputSchema: CLOSED }))['output_config']).toMatchObject({
      effort: 'low',
      format: { type: 'json_schema' },
    });
    const openai = { text: { verbosity: 'low' } };
    expect((await sent('openai', { parameters: openai, outputSchema: CLOSED }))['text']).toMatchObject({
      verbosity: 'low',
      format: { type: 'json_schema' },
    });
  });

  test('replace the format, for models that do not have it: then the prompt tells the schema', async () => {
    const none = await sent('anthropic', { parameters: { output_config: { format: null } }, outputSchema: CLOSED });
    expect(none['output_config']).toEqual({ format: null });
    expect(none['system']).toMatchObject([{ text: expect.stringMatching(TOLD) }]);
    const text = { format: { type: 'json_object' } };
    const plain = await sent('openai', { parameters: { text }, outputSchema: CLOSED });
    expect(plain['text']).toEqual(text);
    expect(plain['instructions']).toMatch(TOLD);
    const response_format = { type: 'json_object' };
    const chat = await sentLocally({ parameters: { response_format }, outputSchema: CLOSED });
    expect(chat['response_format']).toEqual(response_format);
    const official = await sent('openai-chat', { parameters: { response_format }, outputSchema: CLOSED });
    expect(official['response_format']).toEqual(response_format);
    expect(official['messages']).toMatchObject([{ content: expect.stringMatching(TOLD) }, { role: 'user' }]);
  });
});

describe('what is guaranteed', () => {
  const wrap = (property: JsonObject): JsonObject => ({ ...CLOSED, properties: { name: property } });
  const ref = { $ref: '#/$defs/node' };
  const tree = { ...CLOSED, properties: { name: { anyOf: [ref, { type: 'null' }] } }, $defs: { node: CLOSED } };
  const endless = { ...wrap({ $ref: '#' }) };

  test.each<[string, JsonObject, boolean, boolean]>([
    ['a closed object', CLOSED, true, true],
    ['an optional property', { ...CLOSED, required: [] }, false, true],
    ['an open object', { ...CLOSED, additionalProperties: true }, false, false],
    ['a list', wrap({ type: 'array', items: CLOSED }), true, true],
    ['a list of anything', wrap({ type: 'array' }), false, false],
    ['anything', wrap({}), false, false],
    ['a union', wrap({ anyOf: [{ type: 'string' }, { type: 'null' }] }), true, true],
    ['several types', wrap({ type: ['string', 'null'] }), true, true],
    ['a choice', wrap({ type: 'string', enum: ['a', 'b'] }), true, true],
    ['a format', wrap({ type: 'string', format: 'date' }), true, true],
    ['a format that is not known', wrap({ type: 'string', format: 'color' }), false, false],
    ['a minimum', wrap({ type: 'number', minimum: 0 }), true, false],
    ['a length', wrap({ type: 'string', minLength: 1 }), false, false],
    ['a pattern', wrap({ type: 'string', pattern: 'a' }), false, false],
    ['a default', wrap({ type: 'string', default: 'a' }), false, false],
    ['allOf', wrap({ allOf: [{ type: 'string' }] }), false, false],
    ['a reference', tree, true, true],
    ['a reference to itself', endless, true, false],
    ['a reference with a text', { ...wrap({ ...ref, description: 'd' }), $defs: { node: CLOSED } }, true, true],
    ['a reference beside a type', { ...wrap({ ...ref, type: 'object' }), $defs: { node: CLOSED } }, false, false],
    ['a union beside a type', wrap({ type: 'string', anyOf: [{ type: 'string' }] }), false, false],
    ['a union that is no list', wrap({ type: 'string', anyOf: {} }), false, false],
    ['a union as the whole', { anyOf: [CLOSED, { type: 'null' }] }, false, true],
    ['a choice of objects', wrap({ ...CLOSED, enum: [{ name: 'a' }] }), false, false],
    ['an object as the value', wrap({ ...CLOSED, const: { name: 'a' } }), false, false],
    ['a value', wrap({ type: 'string', const: 'a' }), true, true],
    ['a definition that is not used', { ...CLOSED, $defs: { other: CLOSED } }, true, true],
    ['one of them with a pattern', { ...CLOSED, $defs: { other: { type: 'string', pattern: 'a' } } }, false, false],
    ['definitions inside', wrap({ ...CLOSED, $defs: { other: CLOSED } }), false, false],
    ['a reference to nothing', wrap({ $ref: '#/$defs/none' }), false, false],
    [
      '25 optional properties',
      { ...CLOSED, required: [], properties: Object.fromEntries(range(25, name)) },
      false,
      false,
    ],
    [
      '17 unions',
      { ...CLOSED, required: [...keys(17)], properties: Object.fromEntries(range(17, { type: ['string', 'null'] })) },
      true,
      false,
    ],
  ])('%s', (_, schema, byOpenAI, byAnthropic) => {
    expect([keeps(OPENAI_RULES, schema), keeps(ANTHROPIC_RULES, schema)]).toEqual([byOpenAI, byAnthropic]);
  });

  test('is found soon, although references double at each level', () => {
    const level = (next: number) => ({ anyOf: [{ $ref: `#/$defs/a${next}` }, { $ref: `#/$defs/a${next}` }] });
    const levels = Array.from({ length: 60 }, (_, index) => [`a${index}`, level(index + 1)] as const);
    const $defs = { ...Object.fromEntries(levels), a60: { type: 'string' } };
    expect(keeps(OPENAI_RULES, { ...wrap({ $ref: '#/$defs/a0' }), $defs })).toBe(false);
  });
});

function keys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `p${index}`);
}

function range(count: number, property: JsonObject): [string, JsonObject][] {
  return keys(count).map((key) => [key, property]);
}
