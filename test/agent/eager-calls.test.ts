// Calls without effect start before the answer that asks for them is committed; results that arrive soon enough are
// committed with it.
import { expect, test } from 'vitest';
import { RunSignals } from '../../src/agent/run-signals.ts';
import { EagerCalls } from '../../src/agent/calls/eager-calls.ts';
import { apply } from '../../src/core/run/apply.ts';
import type { ToolUseBlock } from '../../src/core/conversation/blocks.ts';
import type { MessageId } from '../../src/core/ids.ts';
import { answerWithResults } from '../../src/core/transitions/answer-with-results.ts';
import { answer } from '../../src/core/transitions/answer.ts';
import { closeCalls } from '../../src/core/transitions/tools.ts';
import type { Approval } from '../../src/core/run/policy.ts';
import type { Snapshot } from '../../src/core/run/snapshot.ts';
import type { ToolDescriptor, ToolInvocation, ToolOutcome } from '../../src/core/tools/tool.ts';
import { NO_REPORT, NO_SERVICES } from '../tools/invoke.ts';
import { NOW, committed, given, id, job, running, settings, tool, toolUse } from '../core/builders.ts';
import { play } from './rig.ts';

function judgement(name: string, ruled: Approval | null): Approval {
  if (name === 'broken') throw new Error('the outcome is unknown');
  return name === 'guarded' ? 'always' : (ruled ?? 'never');
}

type Running = { name: string; signal: AbortSignal; end(answerText: string): void };

/** An answer that asks for these tools, and runners that end at once, or when the test ends them. */
function setUp(names: readonly string[], tools: readonly ToolDescriptor[], of: Snapshot = running()) {
  const signals = new RunSignals();
  const hooks = { begin: (): void => undefined };
  const begun: Running[] = [];
  const ports = {
    clock: { now: () => NOW },
    report: () => NO_REPORT,
    durable: () => NO_SERVICES,
    tools: {
      judge: async ({ name }: ToolInvocation, ruled: Approval | null): Promise<Approval> => judgement(name, ruled),
      mayAsk: () => false,
      execute: ({ name, input }: ToolInvocation, signal: AbortSignal) =>
        new Promise<ToolOutcome>((resolve) => {
          const end = (content: string): void => resolve({ kind: 'result', content, is_error: false });
          signal.addEventListener('abort', () => resolve({ kind: 'aborted' }));
          begun.push({ name, signal, end });
          hooks.begin();
          if (name !== 'slow') end(`${name} ${JSON.stringify(input)}`);
        }),
      reconcile: async () => ({ kind: 'unknown' as const }),
      outcomeWaitMs: null,
    },
  };
  const uses: ToolUseBlock[] = names.map((name, at) => toolUse(at + 1, name));
  const known = settings({ tools: [...tools] });
  const answered = given({ content: uses, finishReason: 'tool_use' });
  const move = answer(of, { job: job(), settings: known }, { ...answered, id: id<MessageId>(500) }, NOW);
  const eager = new EagerCalls(ports, signals, of);
  const begin = () => eager.begin({ snapshot: of, job: job(), settings: known, given: answered, answerAppend: move });
  return { signals, begun, begin, hooks, eager, move, of, uses };
}

test('a call that ends soon is committed with its result, which a run that executes the call later also gets', async () => {
  const { begin, begun, eager, uses } = setUp(['look'], [tool('look')]);
  const closed = await begin();
  expect(closed).toMatchObject([
    { call: { id: uses[0]?.id }, status: 'completed', beganAt: NOW, result: { content: 'look {}' } },
  ]);
  expect(await eager.take(uses[0]?.id ?? id(1))?.outcome).toMatchObject({ content: 'look {}' });
  expect(eager.take(uses[0]?.id ?? id(1))).toBeNull();
  expect(begun).toHaveLength(1);
});

test('a call that is still running is adopted by the run', async () => {
  const { begin, begun, eager, uses } = setUp(['look', 'slow'], [tool('look'), tool('slow')]);
  expect((await begin()).map(({ call }) => call.name)).toEqual(['look']);
  const taken = eager.take(uses[1]?.id ?? id(1));
  eager.drop();
  begun[1]?.end('at last');
  expect(await taken?.outcome).toMatchObject({ kind: 'result', content: 'at last' });
  expect(begun).toHaveLength(2);
});

test('a call that no run adopts is stopped, and no other', async () => {
  const { begin, begun, eager, uses } = setUp(['slow', 'slow'], [tool('slow')]);
  expect(await begin()).toEqual([]);
  const taken = eager.take(uses[0]?.id ?? id(1));
  eager.drop();
  expect(begun.map(({ signal }) => signal.aborted)).toEqual([false, true]);
  expect(eager.take(uses[1]?.id ?? id(1))).toBeNull();
  begun[0]?.end('at last');
  expect(await taken?.outcome).toMatchObject({ kind: 'result', content: 'at last' });
});

test('a call does not start before an earlier call that is not eager', async () => {
  const { begin, begun } = setUp(['look', 'mail', 'look'], [tool('look'), tool('mail', 'once')]);
  expect(await begin()).toHaveLength(1);
  expect(begun).toHaveLength(1);
});

test('a restart request ends it: it has no result, and starts again with the open calls', async () => {
  const { signals, begin, hooks, eager, uses } = setUp(['slow'], [tool('slow')]);
  hooks.begin = () => signals.notify();
  expect(await begin()).toEqual([]);
  expect(eager.take(uses[0]?.id ?? id(1))).toBeNull();
});

test.each<[string, ToolDescriptor]>([
  ['has an effect', tool('mail', 'once')],
  ['may be repeated with its key alone', tool('mail', 'idempotent')],
  ['is asked about', tool('guarded')],
  ['a person answers', { ...tool('mail'), answered_by: 'person' }],
  ['a client runs', { ...tool('mail'), answered_by: 'client' }],
  ['workers answer', { ...tool('mail'), answered_by: 'workers' }],
  ['waits for some time', { ...tool('mail'), answered_by: 'timer' }],
])('a call that %s is not started', async (_, of) => {
  const { begin, begun, eager, uses } = setUp([of.name], [of]);
  expect(await begin()).toEqual([]);
  expect(begun).toEqual([]);
  expect(eager.take(uses[0]?.id ?? id(1))).toBeNull();
});

test('a call of a missing tool is not started', async () => {
  const { begin, begun } = setUp(['look'], []);
  expect(await begin()).toEqual([]);
  expect(begun).toEqual([]);
});

test('the first answer of a run that may follow a death is committed alone, the next one is not', async () => {
  for (const one of [running({ failedClaims: 1 }), running({ job: job({ attempt: 2 }) })]) {
    const { begin, begun } = setUp(['look'], [tool('look')], one);
    expect(await begin()).toEqual([]);
    expect(begun).toEqual([]);
    expect(await begin()).toHaveLength(1);
  }
});

test('no call is started by a process that is leaving, or while a stop request is pending', async () => {
  const leaving = setUp(['look'], [tool('look')]);
  leaving.signals.leave();
  expect(await leaving.begin()).toEqual([]);
  const notified = setUp(['look'], [tool('look')]);
  notified.signals.notify();
  expect(await notified.begin()).toEqual([]);
  expect([...leaving.begun, ...notified.begun]).toEqual([]);
});

test('a call whose tool cannot tell whether it may run is left to the run', async () => {
  const { begin, begun } = setUp(['broken'], [tool('broken')]);
  expect(await begin()).toEqual([]);
  expect(begun).toEqual([]);
});

test.each([
  ['all', ['look', 'look'], [tool('look')]],
  ['some', ['look', 'slow'], [tool('look'), tool('slow')]],
])('history and the remaining state are the same for %s of them as with two appends', async (_, names, tools) => {
  const { begin, move, of } = setUp(names, tools);
  const closed = await begin();
  const one = answerWithResults({ snapshot: of, job: job(), answerAppend: move }, closed);
  const kept = apply(of, move, committed(move, of, 2));
  const two = closeCalls(kept, job(), closed);
  expect(one.entries).toEqual([...move.entries, ...two.entries]);
  expect(one.state).toBe(two.state);
  const afterTwo = apply(kept, two, committed(two, kept, 2 + move.entries.length));
  expect(apply(of, one, committed(one, of, 2))).toEqual(afterTwo);
});

const looks = (rounds: number, until: number) =>
  rounds < until
    ? given({ content: [toolUse(70 + rounds, 'look')], finishReason: 'tool_use' })
    : given({ content: [{ type: 'text', text: 'done' }], finishReason: 'stop' });

test('a rule added while the model was answering applies: results obtained without it are dropped', async () => {
  let isRuled = false;
  const rig = await play({
    answer: ({ messages }) => ({
      kind: 'done',
      answer: looks(messages.filter(({ role }) => role === 'assistant').length, 1),
    }),
    at: ({ port, rig: { store } }) => {
      if (port !== 'the model' || isRuled) return;
      isRuled = true;
      store.rule([{ tool: 'look', decision: 'deny' }]);
    },
  });
  const results = rig.store.transcript().filter((line) => line.includes('←'));
  expect(results).toHaveLength(1);
  expect(results[0]).toContain('Denied');
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'completed' }]);
});

test('where others wrote meanwhile the answer is committed alone, and its calls are not run twice', async () => {
  let hasSpoken = false;
  const rig = await play({
    answer: ({ messages }) => ({
      kind: 'done',
      answer: looks(messages.filter(({ role }) => role === 'assistant').length, 1),
    }),
    at: ({ port, rig: { store } }) => {
      if (port !== 'the model' || hasSpoken) return;
      hasSpoken = true;
      store.rule([]);
    },
  });
  expect(rig.begun).toHaveLength(1);
  expect(rig.store.transcript().filter((line) => line.includes('←look ok'))).toHaveLength(1);
});

test.each([0, 2])(
  'a call that kills its process costs one more model call, in round %i, and the job fails after the limit of deaths',
  async (poisoned) => {
    let kept = 0;
    const rig = await play({
      answer: ({ messages }) => ({
        kind: 'done',
        answer: looks(messages.filter(({ role }) => role === 'assistant').length, 9),
      }),
      at: ({ port, rig: { begun, store } }) => {
        if (port !== 'a tool begins' || begun.at(-1)?.id !== toolUse(70 + poisoned).id) return undefined;
        if (store.current.calls.length > 0) kept += 1;
        return 'dies';
      },
    });
    expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'failed', error: { code: 'crash_loop' } }]);
    // Once before the answer was committed; afterwards the stored answer is used.
    expect(rig.asked).toHaveLength(poisoned + 2);
    expect(kept).toBeGreaterThanOrEqual(4);
  },
);

test('a job of eager calls takes one append for each answer', async () => {
  const rig = await play({
    answer: ({ messages }) => ({
      kind: 'done',
      answer: looks(messages.filter(({ role }) => role === 'assistant').length, 3),
    }),
  });
  expect(rig.store.transcript().filter((line) => line.includes('←look ok'))).toHaveLength(3);
  expect(rig.appends).toBe(4);
});
