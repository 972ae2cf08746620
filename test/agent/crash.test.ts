// A process that dies at any port call is followed by another one, and the transcript is the same.
import { beforeAll, describe, expect, test } from 'vitest';
import { assemble } from '../../src/core/conversation/prompt.ts';
import { play, type Rig, type RigOptions } from './rig.ts';

/** Results of calls that end together arrive in any order; an unknown outcome is reported in place of a result. */
function comparable(lines: readonly string[]): string[] {
  const known = lines.map((line) => line.replace(/←(?:mail ok|Started, outcome unknown.*)$/, '←mail'));
  const sorted: string[] = [];
  let results: string[] = [];
  for (const line of known) {
    if (line.includes(' tool: ')) results.push(line);
    else {
      sorted.push(...results.sort(), line);
      results = [];
    }
  }
  return [...sorted, ...results.sort()];
}

let whole: Rig;
beforeAll(async () => {
  whole = await play();
});

async function expectSame(options: RigOptions): Promise<Rig> {
  const rig = await play(options);
  expect(comparable(rig.store.transcript())).toEqual(comparable(whole.store.transcript()));
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'completed' }]);
  expect(rig.store.current).toMatchObject({ state: 'Idle', job: null, calls: [], queued: 0 });
  expect(rig.mostOnce()).toBeLessThanOrEqual(1);
  expect(JSON.stringify(assemble(rig.store.current.history))).not.toContain('No result was recorded');
  const sent = rig.store.transcript().filter((line) => line.endsWith('←mail ok')).length;
  expect(sent).toBeLessThanOrEqual(rig.begun.filter(({ name }) => name === 'mail').length);
  return rig;
}

test('undisturbed, the job takes two rounds of tools, a wait, and an answer', () => {
  expect(comparable(whole.store.transcript())).toEqual([
    'u1 user: go',
    'a1 assistant: round 0 →look →mail →look',
    'a1 tool: ←look ok',
    'a1 tool: ←look ok',
    'a1 tool: ←mail',
    'a1 assistant: round 1 →mail',
    'a1 tool: ←mail',
    'a1 assistant: done',
  ]);
  expect(whole.store.transcript().filter((line) => line.includes('outcome unknown'))).toEqual([]);
});

test('death at every port call', async () => {
  for (let k = 1; k <= whole.portCalls; k += 1) {
    let port = '';
    await expectSame({
      at: (portCall) => {
        if (portCall.count !== k) return undefined;
        port = portCall.port;
        return 'dies';
      },
    }).catch((error: unknown) => {
      throw new Error(`at port call ${k}, ${port}`, { cause: error });
    });
  }
});

test('death at any two port calls', async () => {
  for (let first = 1; first <= whole.portCalls; first += 1) {
    for (let second = 1; second <= 12; second += 1) {
      await expectSame({
        at: ({ count }) => (count === first || count === first + second ? 'dies' : undefined),
      });
    }
  }
});

describe('a `once` call', () => {
  test('that began and whose end was never stored is unknown to the model, and is not started again', async () => {
    const rig = await expectSame({
      at: ({ port, rig: { begun } }) =>
        port === 'a tool begins' &&
        begun.at(-1)?.name === 'mail' &&
        begun.filter(({ name }) => name === 'mail').length === 1
          ? 'dies'
          : undefined,
    });
    const unknown = rig.store.transcript().filter((line) => line.includes('outcome unknown'));
    expect(unknown).toHaveLength(1);
    expect(unknown[0]).toMatch(/Check before repeating/);
  });

  test('that was marked but never began is unknown as well', async () => {
    let marks = 0;
    const rig = await expectSame({
      at: ({ port, rig: { store } }) => {
        const isMarked = port === 'after an append' && store.current.calls.some(({ status }) => status === 'started');
        if (!isMarked) return undefined;
        marks += 1;
        return marks === 1 ? 'dies' : undefined;
      },
    });
    expect(rig.store.transcript().filter((line) => line.includes('outcome unknown'))).toHaveLength(1);
    expect(rig.begun.filter(({ name }) => name === 'mail')).toHaveLength(1);
  });
});

test('a run that leaves its slot between two jobs is followed by another one', async () => {
  let asked = 0;
  const rig = await play({ yields: () => (asked += 1) > 0 });
  rig.store.submit('again');
  rig.store.submit('and again');
  await rig.bringToRest();
  expect(asked).toBe(1);
  expect([...rig.store.outcomes.values()].map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
});

test('a job whose processes die before they make progress fails, and the next input works', async () => {
  const rig = await play({
    at: ({ port, rig: { store } }) => (port === 'the model' && store.outcomes.size === 0 ? 'dies' : undefined),
  });
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'failed', error: { code: 'crash_loop' } }]);
  expect(rig.store.current.state).toBe('PermanentFailure');
  rig.store.submit('again');
  await rig.bringToRest();
  expect([...rig.store.outcomes.values()][1]).toMatchObject({ status: 'completed' });
});

describe('appends that do not commit', () => {
  test('refused as stale, at each append', async () => {
    for (let k = 1; k <= whole.appends; k += 1) {
      await expectSame({ outcome: async (count, commit) => (count === k ? { kind: 'stale' } : commit()) });
    }
  });

  test('in doubt and never committed, at each append', async () => {
    for (let k = 1; k <= whole.appends; k += 1) {
      await expectSame({ outcome: async (count, commit) => (count === k ? { kind: 'in_doubt' } : commit()) });
    }
  });

  test('in doubt and committed, at each append', async () => {
    for (let k = 1; k <= whole.appends; k += 1) {
      await expectSame({
        outcome: async (count, commit) => {
          const outcome = await commit();
          return count === k ? { kind: 'in_doubt' } : outcome;
        },
      });
    }
  });

  test('in doubt and committed later, at each append: a late commit changes nothing', async () => {
    for (let k = 1; k <= whole.appends; k += 1) {
      let late: (() => Promise<unknown>) | null = null;
      await expectSame({
        outcome: async (count, commit) => {
          if (count === k) {
            late = commit;
            return { kind: 'in_doubt' };
          }
          await late?.();
          return commit();
        },
      });
    }
  });

  test('every second append in doubt', async () => {
    await expectSame({
      outcome: async (count, commit) => {
        const outcome = await commit();
        return count % 2 === 0 ? { kind: 'in_doubt' } : outcome;
      },
    });
  });
});
