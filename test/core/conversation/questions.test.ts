// Calls that are answered from outside: asked, waiting, answered, expired.
import { describe, expect, test } from 'vitest';
import { closingOf } from '../../../src/core/conversation/closing-texts.ts';
import { decide, type Decision } from '../../../src/core/decide.ts';
import { resultOf, type MessageId, type ToolCallId } from '../../../src/core/ids.ts';
import type { Json } from '../../../src/core/json.ts';
import { answer } from '../../../src/core/transitions/answer.ts';
import { open } from '../../../src/core/transitions/open.ts';
import { awaitCalls, endWaits } from '../../../src/core/transitions/waits.ts';
import { settle } from '../../../src/core/transitions/settle.ts';
import { closeCalls, ended } from '../../../src/core/transitions/tools.ts';
import { parseQuestion } from '../../../src/core/conversation/question.ts';
import type { ToolDescriptor } from '../../../src/core/tools/tool.ts';
import { isReplied, type OpenCall, type Wait } from '../../../src/core/tools/tool-call.ts';
import { JOB, NOW, call, cancelRequest, given, id, job, running, settings, text, tool } from '../builders.ts';

const reply = { content: 'M', isError: false };
const ANSWERED: Wait = { for: 'answer', until: null, needs: null };
const asked = (over: Partial<OpenCall> = {}) => call({ name: 'ask_user', status: 'waiting', wait: ANSWERED, ...over });
const replied = { ...asked({ id: id<ToolCallId>(51) }), reply };
const outside: ToolDescriptor[] = [
  { ...tool('ask_user'), answered_by: 'person' },
  { ...tool('locate', 'once'), answered_by: 'client' },
];
const known = settings({ tools: [...outside, tool('search')] });
const use = (number: number, name: string, input: Json = {}) => ({
  type: 'tool_use' as const,
  id: id<ToolCallId>(number),
  name,
  input,
});
const says = (...calls: ReturnType<typeof use>[]) =>
  answer(
    running(),
    { job: job(), settings: known },
    { ...given({ content: [text('w'), ...calls] }), id: id<MessageId>(30) },
    NOW,
  );

describe('arguments with a question', () => {
  test.each<[Json, object | null]>([
    [{ question: 'Which?' }, { question: 'Which?', choices: null }],
    [
      { question: 'Which?', choices: null },
      { question: 'Which?', choices: null },
    ],
    [
      { question: 'Which?', choices: ['a', 'b'] },
      { question: 'Which?', choices: ['a', 'b'] },
    ],
    [
      { question: 'Which?', choices: [], more: 1 },
      { question: 'Which?', choices: [] },
    ],
    [{ question: '' }, null],
    [{ question: 5 }, null],
    [{ question: 'Which?', choices: 'a' }, null],
    [{ question: 'Which?', choices: [1] }, null],
    [{}, null],
    ['{"question": ', null],
    [null, null],
    [['Which?'], null],
  ])('%j', (input, question) => {
    expect(parseQuestion(input)).toEqual(question);
  });
});

describe('an answer that asks', () => {
  test('waits for a person, and shows the question', () => {
    const move = says(use(50, 'ask_user', { question: 'Which?', choices: ['a'] }));
    expect(move.calls).toMatchObject([{ kind: 'request', wait: ANSWERED }]);
    expect(move).toMatchObject({ state: 'AwaitingInput', park: null });
    expect(move.entries).toMatchObject([
      { kind: 'message', message: { type: 'question' } },
      {
        event: {
          name: 'InputRequested',
          data: {
            tool_call_id: id(50),
            name: 'ask_user',
            job_id: JOB,
            question: 'Which?',
            choices: ['a'],
            input: null,
          },
        },
      },
      { event: { name: 'StateChanged', data: { new_state: 'AwaitingInput' } } },
    ]);
  });

  test("lets a client run the client's tools, whatever the arguments", () => {
    const move = says(use(50, 'locate', '{"broken'));
    expect(move.calls).toMatchObject([{ wait: ANSWERED, call: { effect: 'once' } }]);
    expect(move.entries).toMatchObject([
      { message: { type: 'tool_call' } },
      { event: { name: 'InputRequested', data: { question: null, choices: null, input: '{"broken' } } },
      { event: { name: 'StateChanged' } },
    ]);
  });

  test('and calls tools runs these first', () => {
    const move = says(use(50, 'ask_user', { question: 'Which?' }), use(51, 'search'));
    expect(move.state).toBe('ExecutingTools');
    expect(move.calls).toMatchObject([{ wait: ANSWERED }, { wait: null }]);
  });

  test.each([[{}], [{ question: '' }], ['Which?']])(
    'but contains no question (%j) runs the tool, which reports that',
    (input) => {
      const move = says(use(50, 'ask_user', input));
      expect(move.calls).toMatchObject([{ wait: null }]);
      expect(move.entries).toMatchObject([{ message: { type: 'tool_call' } }, {}]);
    },
  );

  test('with a tool that the worker does not have is run here, so that the model is informed', () => {
    const move = answer(
      running(),
      { job: job(), settings: settings() },
      { ...given({ content: [use(50, 'ask_user', { question: 'Which?' })] }), id: id<MessageId>(30) },
      NOW,
    );
    expect(move.calls).toMatchObject([{ wait: null }]);
  });
});

describe('a plan', () => {
  test.each([
    ['plan', [], 'plan'],
    ['act', [], 'text'],
    ['plan', [use(50, 'search')], 'tool_call'],
    ['plan', [use(50, 'ask_user', { question: 'Which?' })], 'question'],
  ] as const)('in mode %s an answer with %j is of type %s', (mode, calls, type) => {
    const content = [text('First this, then that.'), ...calls];
    const { entries } = answer(
      running(),
      { job: job(), settings: { ...known, mode } },
      { ...given({ content }), id: id<MessageId>(30) },
      NOW,
    );
    expect(entries[0]).toMatchObject({ message: { type } });
  });
});

describe('the next decision', () => {
  const waits = (calls: OpenCall[], over = {}) => running({ state: 'AwaitingInput', calls, ...over });
  const month = 30 * 24 * 60 * 60 * 1_000;

  test.each<[string, ReturnType<typeof waits>, Partial<Decision>]>([
    ['no answer: wait, long', waits([asked()]), { kind: 'await_calls', job: job(), until: NOW + month }],
    [
      'until the deadline of the job',
      waits([asked()], { job: job({ deadline: NOW + 5 }) }),
      { kind: 'await_calls', until: NOW + 5 },
    ],
    ['after the deadline of the job', waits([asked()], { job: job({ deadline: NOW }) }), { kind: 'finish' }],
    ['a stop request', waits([asked()], { job: job({ stopRequest: cancelRequest() }) }), { kind: 'finish' }],
    ['the only question was answered', waits([replied]), { kind: 'end_waits', over: [replied] }],
    ['one of two was answered', waits([asked(), replied]), { kind: 'end_waits', over: [replied] }],
    ['one was answered, and a tool is to run', waits([call(), replied]), { kind: 'end_waits', over: [replied] }],
    [
      'a tool is to run beside it',
      waits([asked(), call({ id: id(52) })]),
      { kind: 'call_tools', run: [call({ id: id(52) })], unknown: [] },
    ],
    [
      'a process that cannot serve the rest waits as well',
      waits([asked()], { serving: { kind: 'unsupported', missing: ['tool a'] } }),
      { kind: 'await_calls' },
    ],
    [
      'but leaves answered calls to others',
      waits([replied], { serving: { kind: 'unsupported', missing: ['tool a'] } }),
      { kind: 'release_unsupported' },
    ],
  ])('%s', (_, of, step) => {
    expect(decide(of, NOW)).toMatchObject(step);
  });
});

describe('a wait for an answer', () => {
  const waits = running({ state: 'ExecutingTools', calls: [asked()] });

  test('costs one row, is guarded by the counters that were read, and moves nothing earlier', () => {
    expect(awaitCalls(waits, job(), NOW + 5)).toMatchObject({
      guard: { controlSeq: waits.controlSeq },
      job: { kind: 'progress', job: { status: 'waiting' } },
      state: 'AwaitingInput',
      park: { status: 'waiting', until: NOW + 5 },
      progress: 'returned',
    });
  });

  test('begins when the last other tool of its round has ended', () => {
    const beside = running({ state: 'ExecutingTools', calls: [asked(), call({ id: id(52) })] });
    const done = ended(call({ id: id(52) }), { kind: 'result', content: 'r', is_error: false });
    expect(closeCalls(beside, job(), [done]).state).toBe('AwaitingInput');
  });

  test('ends with the answer in history, under the id of the call', () => {
    const of = running({ state: 'AwaitingInput', job: job({ status: 'waiting' }), calls: [replied] });
    const move = open(of, decide(of, NOW));
    expect(move).toEqual(
      endWaits(of, { job: job({ status: 'waiting' }), over: [replied].filter(isReplied), now: NOW }),
    );
    expect(move).toMatchObject({
      calls: [{ kind: 'close', id: replied.id, status: 'completed' }],
      job: { kind: 'progress', job: { status: 'running', attempt: 1 } },
      state: 'AwaitingLLMResponse',
      park: null,
    });
    expect(move?.entries).toMatchObject([
      { event: { name: 'ToolCallFinished', data: { status: 'completed' } } },
      {
        message: {
          id: resultOf(replied.id),
          role: 'tool',
          type: 'tool_result',
          content: [{ tool_use_id: replied.id, content: 'M', is_error: false }],
        },
      },
      { event: { name: 'StateChanged', data: { new_state: 'AwaitingLLMResponse' } } },
    ]);
  });

  test('with a reported failure is a failed call', () => {
    const failed = asked({ reply: { ...reply, isError: true } });
    const of = running({ state: 'AwaitingInput', calls: [failed] });
    expect(endWaits(of, { job: job(), over: [failed].filter(isReplied), now: NOW }).calls).toMatchObject([
      { status: 'failed' },
    ]);
  });

  test('is closed by rule with its job, except where the answer arrived in time', () => {
    const of = running({ state: 'AwaitingInput', calls: [asked(), replied] });
    const move = settle(of, job(), { status: 'cancelled', reason: null });
    expect(move.calls).toMatchObject([{ status: 'cancelled' }, { status: 'completed' }]);
    const messages = move.entries.flatMap((entry) => (entry.kind === 'message' ? [entry.message] : []));
    expect(messages).toMatchObject([
      { content: [{ content: 'No answer arrived before the job ended.', is_error: true }] },
      { id: resultOf(replied.id), content: [{ content: 'M', is_error: false }] },
    ]);
  });

  test("for a client's tool leaves open whether the client ran it", () => {
    expect(closingOf(asked({ effect: 'once' }))).toMatchObject({
      status: 'unknown',
      text: expect.stringMatching(/outcome unknown.*may have taken effect/),
    });
  });
});
