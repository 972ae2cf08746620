/** The simulated model follows the script of its input, the same on every call, with no memory but the prompt. */
import { describe, expect, test } from 'vitest';
import { isToolUse, textOf, type Block } from '../../src/core/conversation/blocks.ts';
import { FAILURE_RULES } from '../../src/core/run/retry.ts';
import type { FailureClass, ModelRequest } from '../../src/core/model/model.ts';
import { createSimulated } from '../../src/llm/simulated/model.ts';
import { answerOf, ask, callId, countingIds, failureOf, promptOf, request, recorder, user } from './model-calls.ts';

const play = (script: string, given: Partial<ModelRequest> = {}, deltas = recorder(), signal?: AbortSignal) =>
  ask(createSimulated(countingIds()), request('simulated', { messages: [user(script)], ...given }), deltas, signal);

describe('without a script', () => {
  test('it repeats its input, and says what it is', async () => {
    const text = textOf(answerOf(await play('Note: buy milk')).content);
    expect(text).toMatch(/^\[simulated\] You said: Note: buy milk\n/);
    expect(text).toContain('no key, no network');
  });
});

describe('a script', () => {
  test('answers and thinks, streamed in pieces', async () => {
    const deltas = recorder();
    const answer = answerOf(
      await play('think: Hm.\nsay: Good evening, dear night owl, how are you?\nsay: "two\\nlines \\u0000"', {}, deltas),
    );
    expect(answer.content).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Good evening, dear night owl, how are you?\ntwo\nlines \u0000' },
    ]);
    expect(deltas.starts).toBe(1);
    expect(deltas.thinking.join('')).toBe('Hm.');
    expect(deltas.text.join('')).toBe(textOf(answer.content));
    expect(deltas.text.length).toBeGreaterThan(1);
  });

  test('streams nothing where streaming is off', async () => {
    const deltas = recorder();
    await play('say: Hello.', { streaming: false }, deltas);
    expect(deltas.text).toEqual([]);
  });

  test.each([
    ['ask: Which size? [S | M]', { question: 'Which size?', choices: ['S', 'M'] }],
    ['ask: Sure?', { question: 'Sure?' }],
    ['ask: "Two\\nlines?" [yes]', { question: 'Two\nlines?', choices: ['yes'] }],
  ])('asks a person with the tool for it: %s', async (script, input) => {
    const answer = answerOf(await play(script));
    expect(answer.finishReason).toBe('tool_use');
    expect(answer.content).toMatchObject([{ type: 'tool_use', name: 'ask_user', input }]);
  });

  test('calls tools in parallel, then continues with the next step, wherever it is resumed', async () => {
    const script =
      'call: weather {"city":"Ulm"}\ncall: time\n---\nsay: Now I know.\ncall: broken {"a\nthen:\nsay: Bye.';
    const first = answerOf(await play(script));
    expect(first.finishReason).toBe('tool_use');
    expect(first.content.filter(isToolUse).map(({ name, input }) => [name, input])).toEqual([
      ['weather', { city: 'Ulm' }],
      ['time', {}],
    ]);
    const history: { role: 'user' | 'assistant'; content: Block[] }[] = [
      { role: 'user', content: user(script).content },
      { role: 'assistant', content: first.content },
    ];
    const second = answerOf(await play('', { messages: promptOf(...history) }));
    expect(second.content).toMatchObject([{ text: 'Now I know.' }, { name: 'broken', input: '{"a' }]);
    const again = second.content.map((block): Block =>
      block.type === 'tool_use' ? { ...block, id: callId(7) } : block,
    );
    history.push({ role: 'assistant', content: again });
    const third = answerOf(await play('', { messages: promptOf(...history) }));
    expect(textOf(third.content)).toBe('Bye.');
    history.push(
      { role: 'assistant', content: third.content },
      { role: 'user', content: user('say: New script.').content },
    );
    expect(textOf(answerOf(await play('', { messages: promptOf(...history) })).content)).toBe('New script.');
  });

  test('that is over returns the results of the tools', async () => {
    const messages = promptOf(
      { role: 'user', content: user('call: time').content },
      { role: 'assistant', content: [{ type: 'tool_use', id: callId(1), name: 'time', input: {} }] },
      {
        role: 'tool',
        content: [{ type: 'tool_result', tool_use_id: callId(1), content: 'noon', is_error: false }],
      },
    );
    expect(textOf(answerOf(await play('', { messages })).content)).toBe(
      '[simulated] My script is over. The tools answered:\nnoon',
    );
  });

  test('is the last input alone: unanswered inputs and notes of the platform do not count', async () => {
    const messages = promptOf(
      { role: 'user', content: user('fail: auth').content },
      { role: 'user', content: user('say: Second.').content },
      { role: 'system', content: user('the operator was here').content } as never,
    );
    expect(textOf(answerOf(await play('', { messages })).content)).toBe('Second.');
  });

  test('fails in every class, always or a number of times in a row', async () => {
    for (const name of Object.keys(FAILURE_RULES) as FailureClass[]) {
      expect(failureOf(await play(`fail: ${name}`, { failures: 99 }))).toMatchObject({
        class: name,
        retryAfterMs: null,
      });
    }
    const script = 'say: Half\nfail: rate_limited retry-after 2s times 2\nsay: Whole';
    expect(failureOf(await play(script, { failures: 1 }))).toMatchObject({
      class: 'rate_limited',
      retryAfterMs: 2_000,
    });
    const deltas = recorder();
    expect(textOf(answerOf(await play(script, { failures: 2 }, deltas)).content)).toBe('Half\nWhole');
  });

  test('ends for another reason', async () => {
    expect(answerOf(await play('say: And\nfinish: max_tokens')).finishReason).toBe('max_tokens');
  });

  test('waits, and can be interrupted while it does', async () => {
    const controller = new AbortController();
    const deltas = recorder();
    deltas.listener.text = () => controller.abort();
    expect(await play('say: Wait.\nwait: 1h', {}, deltas, controller.signal)).toEqual({ kind: 'aborted' });
    const begun = performance.now();
    await play('wait: 50ms\nsay: Done.');
    expect(performance.now() - begun).toBeGreaterThan(45);
  });

  test('writes many words, over a time where requested', async () => {
    const deltas = recorder();
    const answer = answerOf(await play('tokens: 500 over 100ms', {}, deltas));
    expect(textOf(answer.content).split(' ').length).toBe(500);
    expect(deltas.text.join('')).toBe(textOf(answer.content));
  });

  test('counts tokens the same way every time', async () => {
    const usage = answerOf(await play('say: Hello.')).usage;
    expect(usage).toEqual(answerOf(await play('say: Hello.')).usage);
    expect(usage.input_tokens).toBeGreaterThan(0);
    expect(usage.output_tokens).toBeGreaterThan(0);
  });

  test.each([
    'say: a\nsya: b',
    'fail: sometimes',
    'fail: auth times many',
    'wait: a while',
    'tokens: -1',
    'call:',
    'finish: maybe',
    'then: say: x',
    'help: me',
  ])('that is wrong is explained: %o', async (script) => {
    const text = textOf(answerOf(await play(script)).content);
    expect(text).toContain('I do not understand this line');
    expect(text).toContain('call: tool {"a": 1}');
  });

  test('that asks for help gets it', async () => {
    expect(textOf(answerOf(await play('help:')).content)).toContain('one directive per line');
  });
});
