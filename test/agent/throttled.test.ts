// A model whose key is throttled: the run waits, and nothing else changes.
import { expect, test } from 'vitest';
import { play, type Rig } from './rig.ts';
import { throttledFor } from './throttled-access.ts';

/** The result of a job, without its duration. */
function comesTo(rig: Rig): unknown {
  return {
    transcript: rig.store.transcript(),
    outcomes: [...rig.store.outcomes.values()].map(({ status }) => status),
  };
}

test('a long throttle parks the job, counts no attempt and no failure, and the job then continues', async () => {
  const whole = await play();
  const seen: unknown[] = [];
  const rig = await play({
    throttledAccess(ask, of) {
      const { job, failedClaims } = of.store.current;
      seen.push([job?.attempt, job?.failures, failedClaims > 1]);
      return ask <= 3 ? throttledFor(of, 60_000) : null;
    },
  });
  expect(seen.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => [1, 0, false]));
  expect(comesTo(rig)).toEqual(comesTo(whole));
  expect(rig.now - whole.now).toBe(3 * 65_000);
});

test('a parked job shows what it waits for, until when, and in which state', async () => {
  let parked: unknown;
  await play({
    throttledAccess(ask, of) {
      if (ask === 2) parked = of.store.current;
      return ask === 1 ? throttledFor(of, 60_000) : null;
    },
    at: ({ port, rig: { store } }) => {
      if (port === 'after an append' && store.status === 'waiting') parked ??= structuredClone(store.current);
    },
  });
  expect(parked).toMatchObject({
    state: 'AwaitingLLMResponse',
    job: {
      status: 'running',
      retryAt: null,
      lastFailure: { throttled: { provider: 'simulated', reason: 'rate_limited' } },
    },
  });
});

/** For how long each model call waited, in milliseconds; null: not at all. */
const waited = ({ store }: Rig) =>
  store.modelCalls.map(({ calledAt, throttled }) => throttled && [calledAt - throttled.since, throttled.reason]);

test('a call stores how long the throttle delayed it, also if it was parked several times', async () => {
  const parked = await play({ throttledAccess: (ask, of) => (ask <= 3 ? throttledFor(of, 60_000) : null) });
  const [first, ...others] = waited(parked);
  expect(first).toEqual([3 * 65_000, 'rate_limited']);
  expect(others.length).toBeGreaterThan(0);
  expect(others.every((one) => one === null)).toBe(true);
  const inPlace = await play({
    throttledAccess: (ask, of) =>
      ask === 1
        ? {
            ...throttledFor(of, 1_000),
            turn: async (until) => {
              of.now = until - 500;
              return true;
            },
          }
        : null,
  });
  expect(waited(inPlace)[0]).toEqual([2_500, 'rate_limited']);
  expect(
    waited(inPlace)
      .slice(1)
      .every((one) => one === null),
  ).toBe(true);
});

test('a call that is cut off after it waited leaves no wait to the next one', async () => {
  for (const isAborted of [true, false]) {
    let cut = false;
    const rig = await play({
      throttledAccess: (ask, of) => (ask === 1 ? throttledFor(of, 60_000) : null),
      at: ({ port, signals }) => {
        if (port !== 'the model' || cut) return undefined;
        cut = true;
        if (!isAborted) return 'dies';
        signals.notify();
        return undefined;
      },
    });
    expect(cut).toBe(true);
    expect(waited(rig).filter((one) => one !== null)).toEqual([]);
  }
});

test('a short throttle is waited out in place: no append', async () => {
  const whole = await play();
  const rig = await play({ throttledAccess: (ask, of) => (ask % 2 === 1 ? throttledFor(of, 1_000) : null) });
  expect(comesTo(rig)).toEqual(comesTo(whole));
  expect(rig.appends).toBe(whole.appends);
});

test('a run that is not woken in time parks', async () => {
  const whole = await play();
  const rig = await play({
    throttledAccess: (ask, of) => (ask === 1 ? throttledFor(of, 1_000, false) : null),
  });
  expect(comesTo(rig)).toEqual(comesTo(whole));
  expect(rig.appends).toBe(whole.appends + 1);
});

test('death around the append that parks, however often, loses nothing and is not taken for a crash loop', async () => {
  const whole = await play();
  for (const port of ['before an append', 'after an append'] as const) {
    let deaths = 0;
    const rig = await play({
      throttledAccess: (ask, of) => (ask <= 6 ? throttledFor(of, 60_000) : null),
      at: (portCall) => {
        if (portCall.port !== port || deaths >= 4) return undefined;
        deaths += 1;
        return 'dies';
      },
    });
    expect(deaths).toBe(4);
    expect(comesTo(rig)).toEqual(comesTo(whole));
  }
});

test('a cancel that arrives while the run waits in place is obeyed', async () => {
  const rig = await play({
    throttledAccess: (_ask, of) => ({
      ...throttledFor(of, 1_000),
      turn: async () => {
        of.store.cancel();
        of.signals?.notify();
        return false;
      },
    }),
  });
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'cancelled' }]);
});
