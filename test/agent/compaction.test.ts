// A compaction in the middle of a job, or on request: whether a process dies, an append is refused or in doubt, or the
// job is interrupted, the stored history stays whole and every prompt sent to a model is valid.
import { describe, expect, test } from 'vitest';
import type { Block } from '../../src/core/conversation/blocks.ts';
import { COMPACTION_DEFAULTS } from '../../src/core/compaction/settings.ts';
import type { CompactorType } from '../../src/core/compaction/type.ts';
import { SUMMARISER } from '../../src/core/compaction/summary.ts';
import type { ToolCallId } from '../../src/core/ids.ts';
import { INTERRUPT_MODES } from '../../src/core/run/job.ts';
import type { ModelOutcome, ModelRequest } from '../../src/core/model/model.ts';
import { NO_USAGE } from '../../src/core/money/usage.ts';
import { given, id, settings, text, tool } from '../core/builders.ts';
import { Rig, type RigOptions } from './rig.ts';
import { throttledFor } from './throttled-access.ts';

const ROUNDS = 8;
const SEEN = 'seen '.repeat(160);

const setTo = (type: CompactorType) =>
  settings({
    tools: [tool('look')],
    maxSteps: 30,
    contextLimit: 1_000,
    compaction: { ...COMPACTION_DEFAULTS, type },
  });

let calls = 0;

function says(answerText: string, isCalling: boolean): ModelOutcome {
  const use = {
    type: 'tool_use' as const,
    id: id<ToolCallId>(90_000 + (calls += 1)),
    name: 'look',
    input: {},
  };
  const finishReason = isCalling ? 'tool_use' : 'stop';
  const content = isCalling ? [text(answerText), use] : [text(answerText)];
  return { kind: 'done', answer: given({ content, finishReason, usage: NO_USAGE }) };
}

/** Calls tools until the last answer says that it is done. The text of a summary does not count as an answer. */
function answer({ system, messages }: ModelRequest): ModelOutcome {
  if (system === SUMMARISER) return says('So far, so good.', false);
  const last = messages.at(-1);
  const before = messages.at(-2);
  const hasInput = last?.content.some((block) => block.type === 'text') === true && before?.role !== 'assistant';
  const isAsked = last?.content.some((block) => block.type === 'text' && block.text === 'go') === true;
  const round = /round (\d)/.exec(JSON.stringify(before?.content ?? ''))?.[1];
  if (isAsked || hasInput || round === undefined) return says('round 0', true);
  return Number(round) + 1 < ROUNDS ? says(`round ${Number(round) + 1}`, true) : says('done', false);
}

/** Roles alternate, and every call is answered at once by its own result. */
function expectValid({ messages }: ModelRequest): void {
  messages.forEach(({ role, content }, index) => {
    expect(role).toBe(index % 2 === 0 ? 'user' : 'assistant');
    if (role !== 'assistant') return;
    const asked = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    const next: readonly Block[] = messages[index + 1]?.content ?? [];
    const answered = next.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    expect(answered).toEqual(asked);
  });
  expect(JSON.stringify(messages)).not.toContain('No result was recorded');
}

async function play(type: CompactorType, options: RigOptions = {}): Promise<Rig> {
  const rig = new Rig({ settings: setTo(type), answer, result: () => SEEN, ...options });
  rig.store.submit('go');
  await rig.bringToRest();
  rig.asked.forEach(expectValid);
  return rig;
}

const WHOLE = [
  'u1 user: go',
  ...Array.from({ length: ROUNDS }, (_, round) => [`a1 assistant: round ${round} →look`, `a1 tool: ←${SEEN}`]),
  'a1 assistant: done',
].flat();

function expectWhole(rig: Rig): void {
  expect(rig.store.transcript()).toEqual(WHOLE);
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'completed' }]);
  expect(rig.store.current).toMatchObject({ state: 'Idle', job: null, calls: [], queued: 0 });
  expect(rig.store.compactions.length).toBeGreaterThan(0);
  for (const { tokensBefore, tokensAfter } of rig.store.compactions) expect(tokensAfter).toBeLessThan(tokensBefore);
}

describe.each(['threshold', 'llm'] as const)('%s', (type) => {
  test('undisturbed, the job continues over the compacted history, and the stored history is whole', async () => {
    const rig = await play(type);
    expectWhole(rig);
    const answers = rig.asked.filter(({ system }) => system !== SUMMARISER);
    const longest = Math.max(...answers.map(({ messages }) => JSON.stringify(messages).length));
    expect(longest / 4).toBeLessThan(1_500);
  });

  test('death at every port call', async () => {
    const { portCalls } = await play(type);
    for (let k = 1; k <= portCalls; k += 1)
      expectWhole(await play(type, { at: ({ count }) => (count === k ? 'dies' : undefined) }));
  });

  test('appends that are refused, or in doubt and committed or not, at each append', async () => {
    const { appends } = await play(type);
    for (let k = 1; k <= appends; k += 1) {
      expectWhole(await play(type, { outcome: async (count, commit) => (count === k ? { kind: 'stale' } : commit()) }));
      expectWhole(
        await play(type, {
          outcome: async (count, commit) => (count === k ? { kind: 'in_doubt' } : commit()),
        }),
      );
      const taken: RigOptions['outcome'] = async (count, commit) => {
        const outcome = await commit();
        return count === k ? { kind: 'in_doubt' } : outcome;
      };
      expectWhole(await play(type, { outcome: taken }));
    }
  });

  test.each(INTERRUPT_MODES)('an interrupt at every port call, %s: nothing mentions what it retracts', async (mode) => {
    const { portCalls } = await play(type);
    for (let k = 1; k <= portCalls; k += 1) {
      const rig = await play(type, {
        at: ({ count, rig: { store }, signals }) => {
          if (count !== k) return;
          store.interrupt(mode);
          signals.notify();
        },
      });
      const [outcome] = rig.store.outcomes.values();
      if (outcome?.status !== 'interrupted') continue;
      const asked = rig.asked.length;
      rig.store.submit('go');
      await rig.bringToRest();
      rig.asked.forEach(expectValid);
      expect([...rig.store.outcomes.values()].at(-1), `port call ${k}`).toMatchObject({
        status: 'completed',
      });
      const turn = mode === 'rollback' ? 1 : 2;
      expect(rig.store.messages.at(-1)?.turn).toBe(`a${turn}`);
      if (mode === 'keep') continue;
      expect(JSON.stringify(rig.asked[asked]?.messages)).not.toMatch(/So far, so good|seen/);
    }
  });

  test('on request: the process dies at every port call, and the job still ends successfully, once', async () => {
    const converse = async (options: RigOptions = {}) => {
      const rig = new Rig({
        settings: settings({ tools: [tool('look')], compaction: { ...COMPACTION_DEFAULTS, type } }),
        answer: twice,
        ...options,
      });
      for (const answerText of ['one', 'two', 'three']) rig.store.submit(`${answerText} ${SEEN}`);
      await rig.bringToRest();
      return rig;
    };
    const twice = ({ system, messages }: ModelRequest): ModelOutcome => {
      if (system === SUMMARISER) return says('So far, so good.', false);
      const isAnswered = messages.at(-1)?.content.some((block) => block.type === 'tool_result') === true;
      return isAnswered ? says('done', false) : says('let me see', true);
    };
    const look = { result: () => SEEN };
    const before = (await converse(look)).portCalls;
    const compacted = async (options: RigOptions = {}) => {
      const rig = await converse({ ...look, ...options });
      rig.store.compact({ keep_turns: 1 });
      rig.store.compact({ keep_turns: 1 });
      await rig.bringToRest();
      return rig;
    };
    const undisturbed = await compacted();
    for (let k = before + 1; k <= undisturbed.portCalls; k += 1) {
      const rig = await compacted({ at: ({ count }) => (count === k ? 'dies' : undefined) });
      expect(rig.store.transcript()).toEqual(undisturbed.store.transcript());
      expect(rig.store.compactions).toHaveLength(1);
      expect([...rig.store.outcomes.values()].map(({ status }) => status)).toEqual(Array(5).fill('completed'));
      expect(rig.store.current).toMatchObject({ state: 'Idle', job: null });
    }
  });
});

describe('a prompt that the provider finds too long', () => {
  const tooLong: ModelOutcome = {
    kind: 'failed',
    failure: { class: 'prompt_too_long', message: 'too long', retryAfterMs: null },
  };
  const patient = (type: CompactorType | 'none') =>
    settings({ ...setTo('llm'), contextLimit: 1_000_000, compaction: { ...COMPACTION_DEFAULTS, type } });

  test.each(['threshold', 'llm'] as const)('is compacted and sent again: %s', async (type) => {
    const rig = await play(type, {
      settings: patient(type),
      answer: (request) =>
        request.system !== SUMMARISER && JSON.stringify(request.messages).length > 6_500 ? tooLong : answer(request),
    });
    expectWhole(rig);
    expect(rig.store.modelCalls.some((call) => call.kind === 'failed')).toBe(true);
  });

  test('is not sent again, although a short throttle delays the summary', async () => {
    const isLong = ({ system, messages }: ModelRequest): boolean =>
      system !== SUMMARISER && JSON.stringify(messages).length > 6_500;
    let throttled = 0;
    const rig = await play('llm', {
      settings: patient('llm'),
      throttledAccess: (_ask, of) => {
        const last = of.asked.at(-1);
        if (throttled === of.asked.length || throttled > 60 || last === undefined || !isLong(last)) return null;
        throttled = of.asked.length;
        return throttledFor(of, 1_000);
      },
      answer: (request) => (isLong(request) ? tooLong : answer(request)),
    });
    expectWhole(rig);
    const refused = rig.asked.filter(isLong).map(({ messages }) => JSON.stringify(messages));
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused).size).toBe(refused.length);
  });

  test('fails its job where nothing is left to compact, where compaction did not help, and where it is switched off', async () => {
    for (const [type, most] of [
      ['threshold', 100],
      ['llm', 100],
      ['none', 4_000],
    ] as const) {
      const rig = await play(type === 'none' ? 'llm' : type, {
        settings: patient(type),
        answer: (request) =>
          request.system !== SUMMARISER && JSON.stringify(request.messages).length > most ? tooLong : answer(request),
      });
      expect([...rig.store.outcomes.values()]).toEqual([
        { status: 'failed', error: { code: 'prompt_too_long', message: 'too long' } },
      ]);
      expect(rig.store.current.state).toBe('PermanentFailure');
      const sent = rig.asked.filter(({ system }) => system !== SUMMARISER).length;
      expect(sent).toBeLessThan(12);
    }
  });

  test('of the summary itself fails the job and is not retried', async () => {
    const rig = await play('llm', {
      answer: (request) => (request.system === SUMMARISER ? tooLong : answer(request)),
    });
    expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'failed', error: { code: 'prompt_too_long' } }]);
    expect(rig.asked.filter(({ system }) => system === SUMMARISER)).toHaveLength(1);
  });
});

test('a summary that fails for a while is requested again', async () => {
  let asked = 0;
  const busy: ModelOutcome = {
    kind: 'failed',
    failure: { class: 'overloaded', message: 'busy', retryAfterMs: 60_000 },
  };
  const rig = await play('llm', {
    answer: (request) => {
      if (request.system !== SUMMARISER) return answer(request);
      asked += 1;
      return asked <= 2 ? busy : answer(request);
    },
  });
  expectWhole(rig);
  expect(rig.store.modelCalls.filter(({ kind }) => kind === 'failed')).toHaveLength(2);
});

test('a summary whose call is cut off by a cancel is stored as a stopped call', async () => {
  let isStopped = false;
  const rig = await play('llm', {
    at: ({ port, rig: { store, asked }, signals }) => {
      if (port !== 'the model' || isStopped || asked.length < 4) return;
      isStopped = true;
      store.cancel();
      signals.notify();
    },
  });
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'cancelled' }]);
  expect(rig.store.modelCalls.at(-1)).toMatchObject({ kind: 'stopped', model: 'simulated/m', prompt: null });
});
