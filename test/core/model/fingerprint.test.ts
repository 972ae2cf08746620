// What is told of a request in short: the same for the same request, and where one ceases to begin as the one before.
import { describe, expect, test } from 'vitest';
import { createFingerprinter, lostAt } from '../../../src/core/model/fingerprint.ts';
import type { Sent } from '../../../src/core/model/fingerprint.ts';
import { NOTHING_COMPACTED } from '../../../src/core/compaction/compacted.ts';
import type { PromptMessage } from '../../../src/core/conversation/prompt.ts';
import { fingerprint } from '../builders.ts';

/** What was hashed, to be read. */
const seen = createFingerprinter((texts) => `<${texts.join('|')}>`);

const user = (text: string): PromptMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const answer = (text: string): PromptMessage => ({ role: 'assistant', content: [{ type: 'text', text }] });
const look = { name: 'look', description: 'Looks.', input_schema: { type: 'object', b: 1, a: 2 } };

function sent(over: Partial<Sent> = {}): Sent {
  return {
    model: { provider: 'anthropic', model: 'c' },
    system: 'S',
    pinned: 'P',
    messages: [user('one')],
    tools: [look],
    listed: [look],
    maxTokens: 10,
    streaming: true,
    parameters: {},
    ...over,
  };
}

const memory = { history: [], compacted: NOTHING_COMPACTED };
const of = (over: Partial<Sent> = {}) => seen.of(sent(over), memory);

describe('a fingerprint', () => {
  test('is the same of the same request, and of the messages in their order', () => {
    expect(of()).toEqual(of());
    expect(of({ messages: [user('a'), answer('b')] }).messages).not.toBe(
      of({ messages: [answer('b'), user('a')] }).messages,
    );
  });

  test('tells the order of an object’s members: a provider’s cache does, too', () => {
    const turned = { ...look, input_schema: { type: 'object', a: 2, b: 1 } };
    expect(of({ tools: [turned] }).tools).not.toBe(of().tools);
  });

  test('of a tool tells what a model is told, and nothing else', () => {
    expect(of({ tools: [{ ...look, effect: 'once' } as typeof look] }).tools).toBe(of().tools);
  });

  test.each<[string, Partial<Sent>, (keyof ReturnType<typeof of>)[]]>([
    ['another model', { model: { provider: 'openai', model: 'c' } }, ['model']],
    ['another prompt', { system: 'T' }, ['system']],
    ['text that moved to what is pinned', { system: 'SP', pinned: '' }, ['system']],
    ['other tools', { tools: [] }, ['tools']],
    ['another limit', { maxTokens: 11 }, ['parameters']],
    ['parameters', { parameters: { temperature: 1 } }, ['parameters']],
    ['another message', { messages: [user('two')] }, ['messages']],
  ])('%s', (_, over, parts) => {
    const [was, is] = [of(), of(over)];
    const other = Object.entries(is).flatMap(([part, hash]) =>
      hash === was[part as keyof typeof was] ? [] : [part],
    );
    expect(other).toEqual(parts);
  });
});

describe('the prefix', () => {
  const first = [user('one')];
  const second = [...first, answer('a'), user('two')];

  test('is kept where all that was sent stands before the last answer', () => {
    expect(lostAt(of({ messages: first }), true, of({ messages: second }))).toBeNull();
  });

  test('is lost where what was sent is not there any more', () => {
    const changed = [user('summary'), answer('a'), user('two')];
    expect(lostAt(of({ messages: first }), true, of({ messages: changed }))).toBe('messages');
    expect(lostAt(of({ messages: first }), true, of({ messages: first }))).toBe('messages');
  });

  test('of a call that failed is kept where it is sent again, with more or without', () => {
    const again = [...first, answer('a'), user('two'), user('and three')];
    expect(lostAt(of({ messages: second }), false, of({ messages: second }))).toBeNull();
    expect(lostAt(of({ messages: second }), false, of({ messages: again }))).toBeNull();
    expect(lostAt(of({ messages: first }), false, of({ messages: [user('other')] }))).toBeNull();
    expect(lostAt(of({ messages: second }), false, of({ messages: [user('summary'), answer('a')] }))).toBe(
      'messages',
    );
  });

  test('is lost at the first of the parts that differ', () => {
    const was = fingerprint({ messages: 'm' });
    const now = fingerprint({ messages: 'n', before: 'm' });
    expect(lostAt(was, true, now)).toBeNull();
    expect(lostAt(was, true, { ...now, system: 'x' })).toBe('system');
    expect(lostAt(was, true, { ...now, system: 'x', tools: 'y' })).toBe('tools');
    expect(lostAt(was, true, { ...now, tools: 'y', model: 'openai/c', before: 'x' })).toBe('model');
    // No part of what is cached.
    expect(lostAt(was, true, { ...now, parameters: 'x' })).toBeNull();
  });
});
