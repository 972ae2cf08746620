// The fake prompt cache itself: the prefixes that it keeps and finds, and those that it does not.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { promptCache } from './fake/prompt-cache.ts';
import { readRequest } from './fake/request.ts';
import type { Format } from './fake/reply.ts';

const SYSTEM = 'You look things up. '.repeat(400);
const MARK = { cache_control: { type: 'ephemeral' } };

const of = (format: Format, body: JsonObject) => readRequest(0, format, {}, { model: 'm', ...body });

function messages(contents: readonly string[], marked: readonly number[] = [contents.length - 1]) {
  return of('messages', {
    system: [{ type: 'text', text: SYSTEM, ...MARK }],
    messages: contents.map((text, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: [{ type: 'text', text, ...(marked.includes(at) ? MARK : {}) }],
    })),
  });
}

const chat = (contents: readonly string[], key?: string) =>
  of('responses', {
    instructions: SYSTEM,
    input: contents.map((content) => ({ role: 'user', content })),
    ...(key === undefined ? {} : { prompt_cache_key: key }),
  });

test('Anthropic: a prefix that ended at a breakpoint is read from the next one that is near enough', () => {
  const cache = promptCache();
  const first = cache.take(messages(['one']));
  expect(first).toMatchObject({ read: 0, shared: 0 });
  expect(first.write).toBeGreaterThan(2_000);
  const second = cache.take(messages(['one', 'answer', 'two'], [0, 2]));
  expect(second.read).toBe(first.write);
  expect(second.shared).toBeGreaterThanOrEqual(second.read);
  // A breakpoint more than twenty blocks further finds the system prompt only.
  const many = Array.from({ length: 41 }, (_, at) => `text ${at}`);
  const far = cache.take(messages(['one', 'answer', 'two', ...many], [43]));
  expect(far.read).toBeLessThan(second.read);
});

test('Anthropic: without breakpoints nothing is kept, and short prompts are not', () => {
  const cache = promptCache();
  const bare = () => of('messages', { messages: [{ role: 'user', content: [{ type: 'text', text: SYSTEM }] }] });
  cache.take(bare());
  expect(cache.take(bare())).toMatchObject({ read: 0, write: 0 });
  const short = () =>
    of('messages', { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', ...MARK }] }] });
  cache.take(short());
  expect(cache.take(short())).toMatchObject({ read: 0, write: 0 });
});

test('OpenAI: the longest prefix of whole steps, of one key', () => {
  const cache = promptCache();
  expect(cache.take(chat(['one'])).read).toBe(0);
  const again = cache.take(chat(['one', 'two']));
  expect(again.read % 128).toBe(0);
  expect(again.shared - again.read).toBeLessThan(128);
  expect(cache.take(chat(['one', 'two'], 'another')).read).toBe(0);
});

test.each(['messages', 'responses'] as const)('one byte that differs loses what follows it: %s', (format) => {
  const cache = promptCache();
  const say = (words: readonly string[]) => (format === 'messages' ? messages(words, [0, 2]) : chat(words));
  const long = 'x'.repeat(8_000);
  cache.take(say([`{"a":1,"b":2}${long}`, 'yes', 'no']));
  const { read, shared } = cache.take(say([`{"b":2,"a":1}${long}`, 'yes', 'no']));
  expect(read).toBeLessThan(2_100);
  expect(shared).toBeLessThan(2_100);
});

test('a prefix that was not read for its lifetime is dropped', () => {
  let time = 0;
  const cache = promptCache({ lifetimeMs: 100, now: () => time });
  cache.take(chat(['one']));
  time = 90;
  expect(cache.take(chat(['one'])).read).toBeGreaterThan(1_000);
  time = 180;
  expect(cache.take(chat(['one'])).read).toBeGreaterThan(1_000);
  time = 300;
  expect(cache.take(chat(['one']))).toMatchObject({ read: 0, shared: 0 });
});
