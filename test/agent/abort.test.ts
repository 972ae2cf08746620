// A job is cancelled, or the process has to leave, at every port call in turn.
import { beforeAll, describe, expect, test } from 'vitest';
import { assemble } from '../../src/core/conversation/prompt.ts';
import { play, type Rig } from './rig.ts';

let whole: Rig;
beforeAll(async () => {
  whole = await play();
});

function expectClosed(rig: Rig): void {
  expect(rig.store.current).toMatchObject({ job: null, calls: [], queued: 0 });
  expect(rig.mostOnce()).toBeLessThanOrEqual(1);
  expect(JSON.stringify(assemble(rig.store.current.history))).not.toContain('No result was recorded');
}

describe.each([
  ['and its process learns it at once', true],
  ['and its process is not informed', false],
])('a job is cancelled %s', (_, isInformed) => {
  test('at every port call: it ends, its transcript is sound, and the next input works', async () => {
    for (let k = 1; k <= whole.portCalls; k += 1) {
      const rig = await play({
        at: ({ count, rig: { store }, signals }) => {
          if (count !== k) return;
          store.cancel();
          if (isInformed) signals.notify();
        },
      });
      expectClosed(rig);
      const [outcome] = rig.store.outcomes.values();
      expect(['cancelled', 'completed']).toContain(outcome?.status);
      if (k < whole.portCalls - 1) expect(outcome?.status).toBe('cancelled');
      rig.store.submit('again');
      await rig.bringToRest();
      expectClosed(rig);
      expect([...rig.store.outcomes.values()][1]).toMatchObject({ status: 'completed' });
    }
  });

  test('at every port call, and its process dies at the next', async () => {
    for (let k = 1; k < whole.portCalls - 1; k += 1) {
      const rig = await play({
        at: ({ count, rig: { store }, signals }) => {
          if (count === k + 1) return 'dies';
          if (count !== k) return undefined;
          store.cancel();
          if (isInformed) signals.notify();
          return undefined;
        },
      });
      expectClosed(rig);
      expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'cancelled' }]);
    }
  });
});

test('a job that is cancelled as its last model call fails stores that failed call', async () => {
  let asked = 0;
  const rig = await play({
    answer: () => ({ kind: 'failed', failure: { class: 'auth', message: 'no such key', retryAfterMs: null } }),
    at: ({ port, rig: { store } }) => {
      if (port === 'the model') asked += 1;
      if (port === 'before an append' && asked === 1 && store.current.job?.stopRequest === null) store.cancel();
    },
  });
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'cancelled' }]);
  expect(rig.store.modelCalls).toMatchObject([{ kind: 'failed', attempt: 1, error: { code: 'provider_auth' } }]);
});

test('the reported state of a cancelled `once` call never claims less than what ran', async () => {
  for (let k = 1; k <= whole.portCalls; k += 1) {
    const rig = await play({
      at: ({ count, rig: { store }, signals }) => {
        if (count !== k) return;
        store.cancel();
        signals.notify();
      },
    });
    const results = new Map(
      rig.store.current.history.flatMap(({ content }) =>
        content.flatMap((block) => (block.type === 'tool_result' ? [[block.tool_use_id, block.content] as const] : [])),
      ),
    );
    for (const { id, name } of rig.begun) {
      if (name === 'mail') expect(results.get(id)).toMatch(/mail ok|outcome unknown/);
    }
  }
});

describe('a process that has to leave', () => {
  const final = () => whole.store.transcript().at(-1);

  test('releases its context at every port call, and another process ends the job', async () => {
    for (let k = 1; k <= whole.portCalls; k += 1) {
      const rig = await play({
        at: ({ count, signals }) => {
          if (count === k) signals.leave();
        },
      });
      expectClosed(rig);
      expect(rig.store.transcript().at(-1)).toBe(final());
      expect(rig.store.transcript().filter((line) => line.includes('outcome unknown'))).toEqual([]);
      expect(rig.begun.filter(({ name }) => name === 'mail')).toHaveLength(2);
    }
  });

  test('and cannot wait stops calls that may be repeated elsewhere, but no `once` call', async () => {
    for (let k = 1; k <= whole.portCalls; k += 1) {
      const rig = await play({
        at: ({ count, signals }) => {
          if (count !== k) return;
          signals.leave();
          signals.abortSoft();
        },
      });
      expectClosed(rig);
      expect(rig.store.transcript().at(-1)).toBe(final());
      expect(rig.store.transcript().filter((line) => line.includes('outcome unknown'))).toEqual([]);
    }
  });
});

test('inputs that arrive at every port call are each answered, in order', async () => {
  for (let k = 1; k <= whole.portCalls; k += 1) {
    const rig = await play({
      at: ({ count, rig: { store } }) => {
        if (count === k) store.submit('second');
      },
    });
    expectClosed(rig);
    expect([...rig.store.outcomes.values()].map(({ status }) => status)).toEqual(['completed', 'completed']);
    const inputs = rig.store.transcript().filter((line) => line.includes(' user: '));
    expect(inputs).toEqual(['u1 user: go', 'u2 user: second']);
  }
});

test.each([true, false])(
  'a lease lost at any port call ends the run without another write (process informed: %s)',
  async (isInformed) => {
    for (let k = 1; k <= whole.portCalls; k += 1) {
      const rig = await play({
        at: ({ count, rig: { store }, signals }) => {
          if (count !== k) return;
          store.revoke();
          if (isInformed) signals.lose();
        },
      });
      expectClosed(rig);
      expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'completed' }]);
      expect(rig.store.transcript().at(-1)).toBe(whole.store.transcript().at(-1));
    }
  },
);
