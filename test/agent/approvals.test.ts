// A process dies at any port call around an approval, and a decision arrives at any port call: the transcript is the
// same, and no call runs without its approval.
import { expect, test } from 'vitest';
import { assemble } from '../../src/core/conversation/prompt.ts';
import { play, type Rig, type RigOptions } from './rig.ts';

const GUARDS = { look: 'deny', mail: 'approve' } as const;
const whole = await play({ guards: GUARDS });

function comparable({ store }: Rig): string[] {
  return store
    .transcript()
    .map((line) => line.replace(/←(?:mail ok|Started, outcome unknown.*)$/, '←mail'))
    .toSorted();
}

async function expectSame(options: RigOptions): Promise<void> {
  const rig = await play({ guards: GUARDS, ...options });
  expect(comparable(rig)).toEqual(comparable(whole));
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'completed' }]);
  expect(rig.store.current).toMatchObject({ state: 'Idle', job: null, calls: [], failedClaims: 0 });
  expect(rig.mostOnce()).toBeLessThanOrEqual(1);
  expect(rig.begun.filter(({ name }) => name === 'look')).toEqual([]);
  expect(JSON.stringify(assemble(rig.store.current.history))).not.toContain('No result was recorded');
}

test('undisturbed, the model learns of the denial and the approved call runs', () => {
  const lines = comparable(whole);
  expect(lines.some((line) => line.includes('←Denied by the operator.'))).toBe(true);
  expect(lines.some((line) => line.endsWith('←mail'))).toBe(true);
  expect(whole.begun.map(({ name }) => name)).not.toContain('look');
});

test('death at every port call', async () => {
  for (let k = 1; k <= whole.portCalls; k += 1) {
    await expectSame({ at: ({ count }) => (count === k ? 'dies' : undefined) }).catch((error: unknown) => {
      throw new Error(`at port call ${k}`, { cause: error });
    });
  }
});

test('a decision at every port call, with and without a death right after it', async () => {
  for (const dies of [false, true]) {
    for (let k = 1; k <= whole.portCalls; k += 1) {
      await expectSame({
        at: ({ count, rig }) => {
          if (count !== k) return undefined;
          rig.decide();
          return dies ? 'dies' : undefined;
        },
      }).catch((error: unknown) => {
        throw new Error(`at port call ${k}, ${dies ? 'with' : 'without'} a death`, { cause: error });
      });
    }
  }
});

test('calls that are judged to fail start without an approval, and are told to fail: eager ones, and those with a mark', async () => {
  const rig = await play({ failing: ['look', 'mail'] });
  expect(new Set(rig.begun.map(({ name }) => name))).toEqual(new Set(['look', 'mail']));
  expect(rig.failed).toEqual(rig.begun.map(({ id }) => id));
  expect((await play()).failed).toEqual([]);
});
