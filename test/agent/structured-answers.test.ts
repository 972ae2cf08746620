// An answer that does not match the schema of its job is followed by a note with its faults, and the model is asked
// again, once for each: whenever the process dies.
import { describe, expect, test } from 'vitest';
import { assemble } from '../../src/core/conversation/prompt.ts';
import { textOf } from '../../src/core/conversation/blocks.ts';
import type { ModelOutcome, ModelRequest } from '../../src/core/model/model.ts';
import type { Settings } from '../../src/core/workers/settings.ts';
import { expectMessages } from '../llm/valid-requests.ts';
import { given, id, settings, text, tool } from '../core/builders.ts';
import { play, type Rig, type RigOptions } from './rig.ts';
import type { ToolCallId } from '../../src/core/ids.ts';

const SCHEMA = {
  type: 'object',
  properties: { age: { type: 'integer' } },
  required: ['age'],
  additionalProperties: false,
};

const STRUCTURED: Settings = settings({ outputSchema: SCHEMA, tools: [tool('look')], maxSteps: 20 });

/** `replies`: by the number of answers that the prompt has. */
function replies(...texts: string[]) {
  return ({ messages }: ModelRequest): ModelOutcome => {
    const step = messages.filter(({ role }) => role === 'assistant').length;
    return answer(texts[step] ?? texts.at(-1) ?? '');
  };
}

function answer(...texts: string[]): ModelOutcome {
  return { kind: 'done', answer: given({ content: texts.map(text), finishReason: 'stop' }) };
}

function outcomeOf(rig: Rig) {
  const [outcome] = rig.store.outcomes.values();
  return outcome;
}

const WRONG = '{"age": "old"}';
const RIGHT = '{"age": 7}';

function structured(options: RigOptions): Promise<Rig> {
  return play({ settings: STRUCTURED, ...options });
}

test('an answer that matches completes the job with data, in one append', async () => {
  const rig = await structured({ answer: replies(RIGHT) });
  expect(rig.store.transcript()).toEqual(['u1 user: go', `a1 assistant: ${RIGHT}`]);
  expect(outcomeOf(rig)).toMatchObject({ status: 'completed', hasData: true });
  expect(rig.appends).toBe((await play({ settings: settings(), answer: replies(RIGHT) })).appends);
  expect(rig.asked[0]?.outputSchema).toEqual(SCHEMA);
});

test('a job without a schema has no data', async () => {
  const rig = await play({ settings: settings(), answer: replies(RIGHT) });
  expect(outcomeOf(rig)).not.toHaveProperty('hasData');
});

test('one that does not match is followed by a note with its faults, and asked for again', async () => {
  const rig = await structured({ answer: replies(WRONG, 'I think 7.', RIGHT) });
  expect(rig.store.transcript()).toEqual([
    'u1 user: go',
    `a1 assistant: ${WRONG}`,
    'a1 system: This answer does not match the JSON Schema of the job: /age must be integer (schema: #/properties/age/type). Answer again, with the complete JSON and no other text.',
    'a1 assistant: I think 7.',
    'a1 system: This answer does not match the JSON Schema of the job: the answer is not JSON, or not only JSON: it begins with "I think 7.". Answer again, with the complete JSON and no other text.',
    `a1 assistant: ${RIGHT}`,
  ]);
  expect(outcomeOf(rig)).toMatchObject({ status: 'completed', hasData: true });
  const prompt = assemble(rig.store.current.history);
  expectMessages(rig.asked.at(-1)?.messages.slice() ?? []);
  expect(textOf(prompt[2]?.content ?? [])).toMatch(/^<system-note>This answer/);
  // Each prompt begins with the one before it.
  for (const [index, { messages }] of rig.asked.entries())
    expect(rig.asked[index + 1]?.messages.slice(0, messages.length) ?? messages).toEqual(messages);
});

test('after the retries the job fails, and keeps the last answer and its faults', async () => {
  const rig = await structured({ answer: replies(WRONG) });
  expect(rig.asked).toHaveLength(3);
  expect(outcomeOf(rig)).toMatchObject({
    status: 'failed',
    error: {
      code: 'output_invalid',
      message:
        'The answer does not match output_schema: /age must be integer (schema: #/properties/age/type). The model was asked again 2 times.',
    },
    outputId: rig.store.current.history.at(-2)?.id,
  });
  expect(rig.store.current.history.at(-1)).toMatchObject({ role: 'system', type: 'correction' });
  expect(rig.store.current.state).toBe('PermanentFailure');
  const none = await structured({ settings: { ...STRUCTURED, outputRetries: 0 }, answer: replies(WRONG) });
  expect(none.asked).toHaveLength(1);
  expect(outcomeOf(none)).toMatchObject({ error: { message: /schema: #\/properties\/age\/type\)\.$/ } });
});

test('a refusal is not asked again', async () => {
  const refusal: ModelOutcome = {
    kind: 'done',
    answer: given({ content: [text('No.')], finishReason: 'refusal' }),
  };
  const rig = await structured({ answer: () => refusal });
  expect(rig.asked).toHaveLength(1);
  expect(outcomeOf(rig)).toMatchObject({ error: { code: 'output_invalid', message: /the model refused to answer; / } });
});

test('the retries count as steps', async () => {
  const rig = await structured({ settings: { ...STRUCTURED, maxSteps: 2 }, answer: replies(WRONG) });
  expect(rig.asked).toHaveLength(2);
  expect(outcomeOf(rig)).toMatchObject({ status: 'incomplete', error: { code: 'max_steps' } });
});

test('calls of tools come first: only the final answer is checked', async () => {
  const call = { type: 'tool_use' as const, id: id<ToolCallId>(77), name: 'look', input: {} };
  const calls: ModelOutcome = {
    kind: 'done',
    answer: given({ content: [text('I look.'), call], finishReason: 'tool_use' }),
  };
  const rig = await structured({
    answer: (request) => (request.messages.length === 1 ? calls : replies('', WRONG, RIGHT)(request)),
  });
  expect(rig.store.transcript().map((line) => line.replace(/(system: This answer).*/, '$1'))).toEqual([
    'u1 user: go',
    'a1 assistant: I look. →look',
    'a1 tool: ←look ok',
    `a1 assistant: ${WRONG}`,
    'a1 system: This answer',
    `a1 assistant: ${RIGHT}`,
  ]);
});

describe('a process that dies', () => {
  const answers = replies(WRONG, WRONG, RIGHT);

  test('at any port call: the transcript is the same', async () => {
    const whole = await structured({ answer: answers });
    expect(whole.portCalls).toBeGreaterThan(8);
    for (let k = 1; k <= whole.portCalls; k += 1) {
      const rig = await structured({ answer: answers, at: ({ count }) => (count === k ? 'dies' : undefined) });
      expect(rig.store.transcript(), `at port call ${k}`).toEqual(whole.store.transcript());
      expect(outcomeOf(rig)).toMatchObject({ status: 'completed', hasData: true });
    }
  });

  test('at any port call of a job that fails: it fails the same way', async () => {
    const whole = await structured({ answer: replies(WRONG) });
    for (let k = 1; k <= whole.portCalls; k += 1) {
      const rig = await structured({ answer: replies(WRONG), at: ({ count }) => (count === k ? 'dies' : undefined) });
      expect(rig.store.transcript(), `at port call ${k}`).toEqual(whole.store.transcript());
      expect(outcomeOf(rig)).toMatchObject({ status: 'failed', error: { code: 'output_invalid' } });
    }
  });
});

describe('a client that writes while the answer arrives', () => {
  /** The first answer is stored alone, since the guard of its append fails; it is checked afterwards. */
  test.each([
    ['that matches', [RIGHT], { status: 'completed', hasData: true }, 1],
    ['that does not match', [WRONG, RIGHT], { status: 'completed', hasData: true }, 2],
  ])('an answer %s is stored, and then checked', async (_, texts, outcome, asked) => {
    let isWritten = false;
    const rig: Rig = await structured({
      answer: (request) => replies(...texts)(request),
      at: ({ port, rig: { store, asked: requests } }) => {
        if (port !== 'before an append' || requests.length !== 1 || isWritten) return;
        isWritten = true;
        store.rule([]);
      },
    });
    expect(isWritten).toBe(true);
    expect(outcomeOf(rig)).toMatchObject(outcome);
    expect(rig.asked).toHaveLength(asked);
  });

  test('a cancel ends the job, whatever the answer is', async () => {
    let isWritten = false;
    const rig = await structured({
      answer: replies(WRONG),
      at: ({ port, rig: { store, asked } }) => {
        if (port !== 'before an append' || asked.length !== 1 || isWritten) return;
        isWritten = true;
        store.cancel();
      },
    });
    expect(outcomeOf(rig)).toMatchObject({ status: 'cancelled' });
    expect(rig.asked).toHaveLength(1);
  });

  test('an interrupt retracts the answer and the note', async () => {
    let isWritten = false;
    const rig = await structured({
      answer: replies(WRONG),
      at: ({ port, rig: { store, asked } }) => {
        if (port !== 'before an append' || asked.length !== 2 || isWritten) return;
        isWritten = true;
        store.interrupt('discard');
      },
    });
    expect(outcomeOf(rig)).toMatchObject({ status: 'interrupted' });
    expect(rig.store.transcript()).toEqual(['u1 user: go']);
  });
});
