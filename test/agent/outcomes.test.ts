// A process dies at any port call around a `once` call whose outcome its tool, or a person, can tell.
import { describe, expect, test } from 'vitest';
import { assemble } from '../../src/core/conversation/prompt.ts';
import type { ToolCallId } from '../../src/core/ids.ts';
import { settings, tool } from '../core/builders.ts';
import { play, type Rig, type RigOptions } from './rig.ts';

const ASKS = settings({
  tools: [tool('look'), { ...tool('mail', 'once'), on_unknown: 'ask' }],
  maxSteps: 20,
});

const happened = (call: ToolCallId, rig: Rig): boolean => rig.happened.includes(call);

/** Each way to learn the outcome of a call, as it really was. */
const WAYS: [string, RigOptions][] = [
  [
    'its tool knows',
    {
      reconcile: ({ id }, rig) =>
        happened(id, rig)
          ? { kind: 'happened', result: { kind: 'result', content: 'mail happened', is_error: false } }
          : { kind: 'did_not_happen' },
    },
  ],
  ['a person knows', { settings: ASKS, resolve: (id, rig) => (happened(id, rig) ? 'happened' : 'did_not_happen') }],
  ['the outcome is unknown', { settings: ASKS, resolve: () => 'tell' }],
  ['no person answers', { settings: ASKS, outcomeWaitMs: 60_000 }],
];

const whole = await play();

function comparable({ store }: Rig): string[] {
  const lines = store
    .transcript()
    .map((line) => line.replace(/←(?:mail (?:ok|happened|tell)|Started, outcome unknown.*)$/, '←mail'));
  const rounds: string[][] = [[]];
  for (const line of lines) {
    if (!line.includes(' tool: ')) rounds.push([]);
    rounds.at(-1)?.push(line);
  }
  return rounds.flatMap(([first, ...results]) => [first ?? '', ...results.sort()]);
}

function expectSound(rig: Rig): void {
  expect(comparable(rig)).toEqual(comparable(whole));
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'completed' }]);
  expect(rig.store.current).toMatchObject({ state: 'Idle', job: null, calls: [] });
  expect(JSON.stringify(assemble(rig.store.current.history))).not.toContain('No result was recorded');
  const mails = rig.begun.flatMap(({ name, id }) => (name === 'mail' ? [id] : []));
  for (const id of mails) expect(rig.happened.filter((one) => one === id).length).toBeLessThanOrEqual(1);
}

describe.each(WAYS)('%s', (way, options) => {
  test('death at every port call, and again at one of the next', async () => {
    for (let k = 1; k <= whole.portCalls; k += 1) {
      for (const again of [0, 1, 2, 3, 4, 5]) {
        const rig = await play({
          ...options,
          at: ({ count }) => (count === k || (again > 0 && count === k + again) ? 'dies' : undefined),
        });
        try {
          expectSound(rig);
          if (way.endsWith(' knows') && way !== 'the outcome is unknown') {
            expect(
              new Set(rig.happened.filter((id) => rig.begun.some((one) => one.id === id && one.name === 'mail'))).size,
            ).toBe(2);
          }
        } catch (error) {
          throw new Error(`at port call ${k}, and ${again} later`, { cause: error });
        }
      }
    }
  });
});

test('the tool is asked for the outcome first, and a person only where the tool does not know', async () => {
  let asked = 0;
  const rig = await play({
    settings: ASKS,
    reconcile: () => {
      asked += 1;
      return { kind: 'unknown' };
    },
    resolve: () => 'happened',
    at: ({ port, rig: { begun } }) =>
      port === 'a tool ends' && begun.at(-1)?.name === 'mail' && asked === 0 ? 'dies' : undefined,
  });
  expect(asked).toBe(1);
  expectSound(rig);
  expect(rig.store.transcript()).toContain('a1 tool: ←mail happened');
});

test('a call that kills its process each time it is run again ends its job as a crash loop', async () => {
  const rig = await play({
    reconcile: () => ({ kind: 'did_not_happen' }),
    at: ({ port, rig: { begun } }) => (port === 'a tool begins' && begun.at(-1)?.name === 'mail' ? 'dies' : undefined),
  });
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'failed', error: { code: 'crash_loop' } }]);
  expect(rig.happened.filter((id) => rig.begun.some((one) => one.id === id && one.name === 'mail'))).toEqual([]);
});

test('a stop request while a person is asked ends the job, and the call is reported as unknown', async () => {
  let died = false;
  const rig = await play({
    settings: ASKS,
    resolve: (_, { store }) => {
      store.cancel();
      return 'tell';
    },
    at: ({ port, rig: { begun } }) => {
      if (died || port !== 'a tool ends' || begun.at(-1)?.name !== 'mail') return undefined;
      died = true;
      return 'dies';
    },
  });
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'cancelled' }]);
  expect(rig.store.current.calls).toEqual([]);
});
