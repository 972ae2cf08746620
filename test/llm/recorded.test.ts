/**
 * Answers of real providers, recorded by others, served over HTTP to the real SDKs: every file goes through its
 * adapter, and the answer is sent back in the next request, item by item unchanged.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isToolUse, textOf, type Block } from '../../src/core/conversation/blocks.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { ProviderName } from '../../src/core/model/model.ts';
import { objectIn, objectsIn, stringIn, without } from '../../src/llm/wire/answer/json.ts';
import { recordedData } from '../services/recorded-data.ts';
import { answerOf, ask, failureOf, modelFor, modelsFor, promptOf, request, recorder } from './model-calls.ts';
import { startFakeProvider, type FakeProvider } from './fake-provider.ts';

const { file: DATA, absent: ABSENT } = recordedData('provider-streams');
const FOLDERS: { folder: string; provider: ProviderName; ends: RegExp }[] = [
  { folder: 'anthropic-messages', provider: 'anthropic', ends: /^message_stop$/ },
  { folder: 'openai-responses', provider: 'openai', ends: /^response\.(completed|incomplete|failed)$/ },
  { folder: 'open-responses', provider: 'openai', ends: /^response\.(completed|incomplete|failed)$/ },
  { folder: 'openai-chat', provider: 'openai-chat', ends: /^none$/ },
];

/** Recordings that are no answers, and their expected failures. */
const FAILURES: Readonly<Record<string, { class: string; problem: string }>> = {
  'anthropic-refusal.chunks.txt': { class: 'refused', problem: 'violative cyber content' },
  'anthropic-refusal.json': { class: 'refused', problem: 'violative cyber content' },
  'anthropic-refusal-no-details.json': { class: 'refused', problem: 'declined to answer' },
  'openai-error.1.chunks.txt': { class: 'auth', problem: 'exceeded your current quota' },
  // The recording's own first line lacks its closing brace.
  'parallel-tool-call-wrapper.1.chunks.txt': { class: 'stream_interrupted', problem: 'not JSON' },
};
/** Recordings from which others have cut most of the deltas. */
const ABRIDGED = ['openai-phase.1.chunks.txt', 'openai-shell-container.1.chunks.txt'];
/** Bodies with an error status. */
const ERRORS: Readonly<Record<string, { status: number; class: string }>> = {
  'openai-error.1.json': { status: 429, class: 'auth' },
  'reasoning-model-temperature-error.json': { status: 400, class: 'bad_request' },
  'reasoning-model-legacy-parameter-error.json': { status: 400, class: 'bad_request' },
};

describe.skipIf(ABSENT !== null)('recorded answers', () => {
  let fake: FakeProvider;
  beforeAll(async () => {
    fake = await startFakeProvider();
  });
  afterAll(() => fake.close());

  for (const { folder, provider, ends } of ABSENT === null ? FOLDERS : []) {
    for (const file of readdirSync(join(DATA, folder))) {
      const text = readFileSync(join(DATA, folder, file), 'utf8');
      if (file.endsWith('.json')) {
        test(`${folder}/${file}`, () => wholeAnswer(provider, file, JSON.parse(text) as JsonObject));
      }
      if (!file.endsWith('.chunks.txt')) continue;
      const lines = text.split('\n').filter((line) => line !== '');
      if (file in FAILURES) {
        test(`${folder}/${file}`, () => broken(provider, file, lines));
        continue;
      }
      const responses = split(lines.map(parseLine), ends);
      test.each(responses)(`${folder}/${file}, response %#`, (...events) =>
        streamed(provider, events, ABRIDGED.includes(file)),
      );
    }
  }

  async function wholeAnswer(provider: ProviderName, file: string, body: JsonObject): Promise<void> {
    const known = ERRORS[file];
    if (known !== undefined) {
      fake.answer({ status: known.status, body });
      const outcome = await ask(modelFor(modelsFor(fake), provider), request(provider, { streaming: false }));
      expect(failureOf(outcome)).toMatchObject({ class: known.class });
      return;
    }
    fake.answer({ recorded: { whole: body } });
    const outcome = await ask(modelFor(modelsFor(fake), provider), request(provider, { streaming: false }));
    if (file in FAILURES) {
      expectFailure(file, failureOf(outcome));
      return;
    }
    const answer = answerOf(outcome);
    expect(answer.modelId).toBe(body['model']);
    expect(answer.responseId).toBe(body['id']);
    await expectSentBack(provider, answer.content, itemsOf(provider, body));
  }

  async function broken(provider: ProviderName, file: string, events: string[]): Promise<void> {
    fake.answer({ recorded: { events } });
    expectFailure(file, failureOf(await ask(modelFor(modelsFor(fake), provider), request(provider))));
  }

  async function streamed(provider: ProviderName, events: JsonObject[], abridged: boolean): Promise<void> {
    fake.answer({ recorded: { events } });
    const received = recorder();
    const answer = answerOf(await ask(modelFor(modelsFor(fake), provider), request(provider), received));
    const read = readEvents(provider, events);
    // The part of a spliced stream before its restart is void, and comes first.
    expect(received.text.join('')).toContain(read.text);
    if (!abridged) expect(textOf(answer.content)).toBe(read.text);
    expect(received.thinking.join('').endsWith(read.thinking)).toBe(true);
    expect(answer.content.filter(isToolUse).map((call) => [call.name, call.input])).toEqual(read.calls);
    expect(answer.usage).toMatchObject(read.usage);
    expect(answer.finishReason).toBe(read.finish);
    await expectSentBack(provider, answer.content, read.items);
  }

  /** Sends the answer back as history and checks the request to the provider. */
  async function expectSentBack(provider: ProviderName, content: Block[], items: JsonObject[]): Promise<void> {
    fake.answer({ text: 'Ok.' });
    const messages = promptOf(
      { role: 'user', content: [{ type: 'text', text: 'Question' }] },
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'text', text: 'Next question' }] },
    );
    await ask(modelFor(modelsFor(fake), provider), request(provider, { messages }));
    const body = fake.requests.at(-1)?.body ?? {};
    expect(sentBack(provider, body)).toEqual(items);
  }
});

function expectFailure(file: string, failed: { class: string; message: string }): void {
  const expected = FAILURES[file];
  expect(failed.class).toBe(expected?.class);
  expect(failed.message).toContain(expected?.problem);
}

function parseLine(line: string): JsonObject {
  return JSON.parse(line) as JsonObject;
}

/** Some files hold several responses one after the other. */
function split(events: JsonObject[], ends: RegExp): JsonObject[][] {
  const responses: JsonObject[][] = [[]];
  for (const [index, event] of events.entries()) {
    responses.at(-1)?.push(event);
    if (ends.test(stringIn(event, 'type')) && index < events.length - 1) responses.push([]);
  }
  return responses;
}

type Expected = {
  text: string;
  thinking: string;
  calls: [string, unknown][];
  usage: JsonObject;
  finish: string;
  items: JsonObject[];
};

/** The same facts, extracted from the recording directly. */
function readEvents(provider: ProviderName, events: JsonObject[]): Expected {
  switch (provider) {
    case 'anthropic':
      return readMessagesEvents(events);
    case 'openai':
      return readResponsesEvents(events);
    case 'openai-chat':
    case 'simulated':
      return readChatEvents(events);
  }
}

function readMessagesEvents(all: JsonObject[]): Expected {
  const events = all.slice(all.findLastIndex((event) => event['type'] === 'message_start'));
  const start = objectIn(events[0], 'message');
  const end = events.find((event) => event['type'] === 'message_delta');
  const usage = { ...objectIn(start, 'usage'), ...objectIn(end, 'usage') };
  const opened = [
    ...objectsIn(start, 'content').map((block, index) => ({ index, block })),
    ...events
      .filter((event) => event['type'] === 'content_block_start')
      .map((event) => ({ index: Number(event['index']), block: objectIn(event, 'content_block') })),
  ];
  const blocks = opened.map(({ index, block }) => {
    const deltas = events
      .filter((event) => event['type'] === 'content_block_delta' && event['index'] === index)
      .map((event) => objectIn(event, 'delta'));
    return completedBlock(block, deltas);
  });
  const of = (type: string, member: string): string =>
    blocks.flatMap((block) => (block['type'] === type ? [stringIn(block, member)] : [])).join('');
  return {
    text: of('text', 'text'),
    thinking: of('thinking', 'thinking'),
    calls: blocks.flatMap((block): [string, unknown][] =>
      block['type'] === 'tool_use' ? [[stringIn(block, 'name'), block['input']]] : [],
    ),
    usage: { input_tokens: usage['input_tokens'] ?? 0, output_tokens: usage['output_tokens'] ?? 0 },
    finish: messagesFinish(stringIn(objectIn(end, 'delta'), 'stop_reason') || stringIn(start, 'stop_reason')),
    items: itemsOf('anthropic', { content: blocks }),
  };
}

function messagesFinish(reason: string): string {
  return { end_turn: 'stop', tool_use: 'tool_use' }[reason] ?? 'other';
}

function completedBlock(block: JsonObject, deltas: JsonObject[]): JsonObject {
  const joined = (member: string): string => deltas.map((delta) => stringIn(delta, member)).join('');
  const citations = deltas.flatMap((delta) => (delta['citation'] === undefined ? [] : [delta['citation']]));
  switch (stringIn(block, 'type')) {
    case 'text':
      return { ...block, text: joined('text'), ...(citations.length > 0 ? { citations } : {}) };
    case 'thinking':
      return { ...block, thinking: joined('thinking'), signature: joined('signature') };
    case 'compaction':
      return { ...block, content: joined('content') };
    default: {
      const json = joined('partial_json');
      return json === '' ? block : { ...block, input: JSON.parse(json) as JsonObject };
    }
  }
}

function readResponsesEvents(events: JsonObject[]): Expected {
  const response = objectIn(events.at(-1), 'response');
  const of = (...types: string[]): string =>
    events.flatMap((event) => (types.includes(stringIn(event, 'type')) ? [stringIn(event, 'delta')] : [])).join('');
  const output = events
    .filter((event) => event['type'] === 'response.output_item.done')
    .map((event) => objectIn(event, 'item'));
  const calls = output.filter((item) => item['type'] === 'function_call');
  const usage = objectIn(response, 'usage');
  const cached = Number(objectIn(usage, 'input_tokens_details')['cached_tokens'] ?? 0);
  return {
    text: of('response.output_text.delta'),
    thinking: of('response.reasoning_text.delta', 'response.reasoning_summary_text.delta'),
    calls: calls.map((call) => [stringIn(call, 'name'), JSON.parse(stringIn(call, 'arguments'))]),
    usage: {
      input_tokens: Number(usage['input_tokens']) - cached,
      output_tokens: Number(usage['output_tokens']),
      cache_read_tokens: cached,
    },
    finish: calls.length > 0 ? 'tool_use' : 'stop',
    items: itemsOf('openai', {
      output: objectsIn(response, 'output').length > 0 ? (response['output'] ?? []) : output,
    }),
  };
}

function readChatEvents(events: JsonObject[]): Expected {
  const text = events
    .flatMap((event) => objectsIn(event, 'choices'))
    .map((choice) => stringIn(objectIn(choice, 'delta'), 'content'))
    .join('');
  const usage = objectIn(events.at(-1), 'usage');
  return {
    text,
    thinking: '',
    calls: [],
    usage: { input_tokens: usage['prompt_tokens'] ?? 0, output_tokens: usage['completion_tokens'] ?? 0 },
    finish: 'stop',
    items: [{ role: 'assistant', content: text }],
  };
}

/** The expected part of a whole answer in the next request to its provider. */
function itemsOf(provider: ProviderName, whole: JsonObject): JsonObject[] {
  switch (provider) {
    case 'anthropic':
      return objectsIn(whole, 'content')
        .filter((block) => block['type'] !== 'text' || stringIn(block, 'text').trim() !== '')
        .map((block) =>
          block['type'] === 'text' && block['citations'] === null ? without(block, 'citations') : block,
        );
    case 'openai':
      return withReasoningThatCanBeFound(objectsIn(whole, 'output'));
    case 'openai-chat':
    case 'simulated':
      return objectsIn(whole, 'choices').map((choice) => ({
        role: 'assistant',
        content: objectIn(choice, 'message')['content'] ?? null,
      }));
  }
}

/** Reasoning that is only referenced by its id is left out, and so are the ids of the items after it. */
function withReasoningThatCanBeFound(output: JsonObject[]): JsonObject[] {
  const lost = output.findIndex(
    (item) =>
      item['type'] === 'reasoning' &&
      stringIn(item, 'encrypted_content') === '' &&
      objectsIn(item, 'content').length === 0,
  );
  if (lost < 0) return output;
  const kept = output.filter(
    (item) =>
      item['type'] !== 'reasoning' ||
      stringIn(item, 'encrypted_content') !== '' ||
      objectsIn(item, 'content').length > 0,
  );
  return kept.map((item) => (output.indexOf(item) > lost ? without(item, 'id') : item));
}

function sentBack(provider: ProviderName, body: JsonObject): JsonObject[] {
  switch (provider) {
    case 'anthropic':
      return objectsIn(
        objectsIn(body, 'messages').find((one) => one['role'] === 'assistant'),
        'content',
      );
    case 'openai':
      return objectsIn(body, 'input').filter(
        (item) => item['role'] !== 'user' && item['type'] !== 'function_call_output',
      );
    case 'openai-chat':
    case 'simulated':
      return objectsIn(body, 'messages').filter((one) => one['role'] === 'assistant');
  }
}
