// A process dies at any port call around a question, and an answer arrives at any port call: the transcript is the
// same.
import { expect, test } from 'vitest';
import { assemble } from '../../src/core/conversation/prompt.ts';
import { play, type Rig, type RigOptions } from './rig.ts';

const whole = await play({ asks: true });

/** Results of one round arrive in any order; an unknown outcome is reported in place of a result. */
function comparable({ store }: Rig): string[] {
  const lines = store.transcript().map((line) => line.replace(/←(?:mail ok|Started, outcome unknown.*)$/, '←mail'));
  const rounds: string[][] = [[]];
  for (const line of lines) {
    if (!line.includes(' tool: ')) rounds.push([]);
    rounds.at(-1)?.push(line);
  }
  return rounds.flatMap(([first, ...results]) => [first ?? '', ...results.sort()]);
}

async function expectSame(options: RigOptions): Promise<Rig> {
  const rig = await play({ asks: true, ...options });
  expect(comparable(rig)).toEqual(comparable(whole));
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'completed' }]);
  expect(rig.store.current).toMatchObject({ state: 'Idle', job: null, calls: [], failedClaims: 0 });
  expect(rig.mostOnce()).toBeLessThanOrEqual(1);
  expect(JSON.stringify(assemble(rig.store.current.history))).not.toContain('No result was recorded');
  return rig;
}

test('undisturbed, a question waits until the other tools of its round have ended, and a lone question waits at once', () => {
  expect(comparable(whole)).toEqual([
    '',
    'u1 user: go',
    'a1 assistant: round 0 →look →mail →ask_user',
    'a1 tool: ←look ok',
    'a1 tool: ←mail',
    'a1 tool: ←yes',
    'a1 assistant: round 1 →ask_user',
    'a1 tool: ←yes',
    'a1 assistant: done',
  ]);
});

test('death at every port call', async () => {
  for (let k = 1; k <= whole.portCalls; k += 1) {
    await expectSame({ at: ({ count }) => (count === k ? 'dies' : undefined) }).catch((error: unknown) => {
      throw new Error(`at port call ${k}`, { cause: error });
    });
  }
});

test('an answer at every port call, with and without a death right after it', async () => {
  for (const dies of [false, true]) {
    for (let k = 1; k <= whole.portCalls; k += 1) {
      await expectSame({
        at: ({ count, rig }) => {
          if (count !== k) return undefined;
          rig.store.answer('yes');
          return dies ? 'dies' : undefined;
        },
      }).catch((error: unknown) => {
        throw new Error(`at port call ${k}, ${dies ? 'and a death' : 'alone'}`, { cause: error });
      });
    }
  }
});

test('every append in doubt, whether it was committed or not', async () => {
  for (let k = 1; k <= whole.appends; k += 1) {
    for (const isCommitted of [false, true]) {
      await expectSame({
        outcome: async (count, commit) => {
          if (count !== k) return commit();
          if (isCommitted) await commit();
          return { kind: 'in_doubt' };
        },
      });
    }
  }
});

test.each([false, true])(
  'a stop request at every port call ends it (and a death right after it: %s), and leaves no call open',
  async (dies) => {
    for (let k = 1; k <= whole.portCalls; k += 1) {
      const rig = await play({
        asks: true,
        at: ({ count, rig: { store } }) => {
          if (count !== k) return undefined;
          store.cancel();
          return dies ? 'dies' : undefined;
        },
      });
      expect([...rig.store.outcomes.values()]).toHaveLength(1);
      expect(rig.store.current).toMatchObject({ job: null, calls: [] });
      expect(JSON.stringify(assemble(rig.store.current.history))).not.toContain('No result was recorded');
    }
  },
);
