// The fingerprint of a request: equal for equal requests, and it shows where a request stops being a prefix-extension
// of the one before.
import { describe, expect, test } from 'vitest';
import { createFingerprinter, lostAt, type Sent } from '../../../src/core/model/fingerprint.ts';
import { NOTHING_COMPACTED } from '../../../src/core/compaction/compacted.ts';
import type { PromptMessage } from '../../../src/core/conversation/prompt.ts';
import { fingerprint } from '../builders.ts';

/** The hashed text, in readable form. */
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
    outputSchema: null,
    parameters: {},
    ...over,
  };
}

const memory = { history: [], compacted: NOTHING_COMPACTED };
const of = (over: Partial<Sent> = {}) => seen.of(sent(over), memory);

describe('a fingerprint', () => {
  test('is equal for the same request, and depends on the order of the messages', () => {
    expect(of()).toEqual(of());
    expect(of({ messages: [user('a'), answer('b')] }).messages).not.toBe(
      of({ messages: [answer('b'), user('a')] }).messages,
    );
  });

  test('depends on the order of an object’s members, as a provider’s cache does', () => {
    const turned = { ...look, input_schema: { type: 'object', a: 2, b: 1 } };
    expect(of({ tools: [turned] }).tools).not.toBe(of().tools);
  });

  test('of a tool covers what a model sees of it, and nothing else', () => {
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
    const other = Object.entries(is).flatMap(([part, hash]) => (hash === was[part as keyof typeof was] ? [] : [part]));
    expect(other).toEqual(parts);
  });
});

describe('the prefix', () => {
  const first = [user('one')];
  const second = [...first, answer('a'), user('two')];

  test('is kept where the whole previous request precedes the last answer', () => {
    expect(lostAt(of({ messages: first }), true, of({ messages: second }))).toBeNull();
  });

  test('is lost where part of the previous request is missing', () => {
    const changed = [user('summary'), answer('a'), user('two')];
    expect(lostAt(of({ messages: first }), true, of({ messages: changed }))).toBe('messages');
    expect(lostAt(of({ messages: first }), true, of({ messages: first }))).toBe('messages');
  });

  test('of a call that failed is kept where it is sent again, with or without additions', () => {
    const again = [...first, answer('a'), user('two'), user('and three')];
    expect(lostAt(of({ messages: second }), false, of({ messages: second }))).toBeNull();
    expect(lostAt(of({ messages: second }), false, of({ messages: again }))).toBeNull();
    expect(lostAt(of({ messages: first }), false, of({ messages: [user('other')] }))).toBeNull();
    expect(lostAt(of({ messages: second }), false, of({ messages: [user('summary'), answer('a')] }))).toBe('messages');
  });

  test('is lost at the first part that differs', () => {
    const was = fingerprint({ messages: 'm' });
    const now = fingerprint({ messages: 'n', before: 'm' });
    expect(lostAt(was, true, now)).toBeNull();
    expect(lostAt(was, true, { ...now, system: 'x' })).toBe('system');
    expect(lostAt(was, true, { ...now, system: 'x', tools: 'y' })).toBe('tools');
    expect(lostAt(was, true, { ...now, tools: 'y', model: 'openai/c', before: 'x' })).toBe('model');
    // Not part of the cached prefix.
    expect(lostAt(was, true, { ...now, parameters: 'x' })).toBeNull();
  });
});
