import { expect, test } from 'vitest';
import { throttleFor } from '../../src/core/run/throttle.ts';
import type { FailureClass, ModelFailure } from '../../src/core/model/model.ts';
import { KeyThrottle, WaitLimit, type Pass } from '../../src/llm/key-throttle.ts';

const START = 1_000_000;
const NEVER = new AbortController().signal;

function setUp(limit = new WaitLimit(32)) {
  const clock = { time: START, now: () => clock.time };
  return { clock, gate: new KeyThrottle(clock, () => 0.5, limit) };
}

function failure(retryAfterMs: number | null, reason: FailureClass = 'rate_limited'): ModelFailure {
  return { class: reason, message: 'slow down', retryAfterMs };
}

/** As many calls as are let in now. */
function enterAll(gate: KeyThrottle): Pass[] {
  const passes: Pass[] = [];
  while (gate.holding() === null && passes.length < 500) passes.push(gate.enter());
  return passes;
}

test('an open throttle lets every call in', () => {
  const { gate } = setUp();
  expect(enterAll(gate)).toHaveLength(500);
});

test('a Retry-After closes it until then', () => {
  const { gate, clock } = setUp();
  const closing = gate.refused(gate.enter(), failure(3_000));
  expect(closing).toEqual({ since: START, refusedAt: START, until: START + 3_000, reason: 'rate_limited' });
  expect(gate.holding()).toMatchObject({ until: START + 3_000, reason: 'rate_limited' });
  clock.time += 2_999;
  expect(gate.holding()).not.toBeNull();
  clock.time += 1;
  expect(gate.holding()).toBeNull();
});

test('then calls double with each round of answers, until the throttle is reset', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(), failure(3_000));
  clock.time += 3_000;
  const rounds: number[] = [];
  for (let inside = enterAll(gate); inside.length < 500; inside = enterAll(gate)) {
    rounds.push(inside.length);
    for (const pass of inside) gate.answered(pass);
  }
  expect(rounds).toEqual([2, 4, 8, 16, 32, 64]);
});

test('a call that ends without an answer gives its place to one other call', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(), failure(3_000));
  clock.time += 3_000;
  for (const pass of enterAll(gate)) gate.left(pass);
  expect(enterAll(gate)).toHaveLength(2);
});

test('an answer counts once, from its first output on', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(), failure(3_000));
  clock.time += 3_000;
  const [pass] = enterAll(gate);
  if (pass === undefined) throw new Error('no call was let in');
  gate.answered(pass);
  gate.answered(pass);
  gate.left(pass);
  expect(enterAll(gate)).toHaveLength(2);
});

test('a refusal on the ramp closes it again, and the ramp starts over', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(), failure(3_000));
  clock.time += 3_000;
  for (const pass of enterAll(gate)) gate.answered(pass);
  const inside = enterAll(gate);
  expect(inside).toHaveLength(4);
  for (const pass of inside) gate.refused(pass, failure(2_000));
  expect(gate.holding()).toMatchObject({ until: clock.time + 2_000 });
  clock.time += 2_000;
  expect(enterAll(gate)).toHaveLength(2);
});

test('without a Retry-After the throttle is short, and doubles as long as no call is answered', () => {
  const { gate, clock } = setUp();
  const holds: number[] = [];
  for (let count = 0; count < 9; count += 1) {
    const [pass] = enterAll(gate);
    if (pass === undefined) throw new Error('no call was let in');
    const closing = gate.refused(pass, failure(null, 'overloaded'));
    holds.push((closing?.until ?? 0) - clock.time);
    clock.time = closing?.until ?? 0;
  }
  expect(holds).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test('a hundred calls that are refused together are one refusal', () => {
  const { gate, clock } = setUp();
  const inside = Array.from({ length: 100 }, () => gate.enter());
  const deltas = inside.map((pass) => gate.refused(pass, failure(null)));
  expect(deltas.filter((closing) => closing !== null)).toEqual([
    { since: START, refusedAt: START, until: START + 500, reason: 'rate_limited' },
  ]);
  clock.time += 500;
  expect(gate.refused(gate.enter(), failure(null))?.until).toBe(clock.time + 1_000);
});

test('one of them with a later time extends it', () => {
  const { gate } = setUp();
  const [first, second, third] = [gate.enter(), gate.enter(), gate.enter()];
  gate.refused(first, failure(3_000));
  expect(gate.refused(second, failure(9_000))?.until).toBe(START + 9_000);
  expect(gate.refused(third, failure(4_000))).toBeNull();
  expect(gate.holding()?.until).toBe(START + 9_000);
});

test('failures of a single call alone close nothing', () => {
  const { gate } = setUp();
  for (const reason of ['server_error', 'unreachable', 'auth', 'prompt_too_long'] as const) {
    expect(gate.refused(gate.enter(), failure(5_000, reason))).toBeNull();
  }
  expect(gate.holding()).toBeNull();
});

test('a Retry-After that no job waits for closes nothing', () => {
  expect(throttleFor(failure(25 * 60 * 60 * 1_000), 1)).toBeNull();
  expect(throttleFor(failure(0), 1)).toBe(500);
  expect(throttleFor(failure(60 * 60 * 1_000), 1)).toBe(5 * 60_000);
});

test('a throttle of another process closes it here, and never opens it', () => {
  const { gate } = setUp();
  expect(gate.receive({ since: START, refusedAt: START, until: START + 5_000, reason: 'overloaded' })).toBe(true);
  expect(gate.receive({ since: START, refusedAt: START, until: START + 5_000, reason: 'overloaded' })).toBe(false);
  expect(gate.receive({ since: START, refusedAt: START, until: START + 1_000, reason: 'rate_limited' })).toBe(false);
  expect(gate.receive({ since: START, refusedAt: START, until: START - 1, reason: 'rate_limited' })).toBe(false);
  expect(gate.holding()).toMatchObject({ until: START + 5_000, reason: 'overloaded' });
});

test('a minute without a refusal opens it, whatever calls are still inside', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(), failure(3_000));
  clock.time += 3_000;
  enterAll(gate);
  clock.time += 59_999;
  expect(gate.holding()).not.toBeNull();
  clock.time += 1;
  expect(gate.holding()).toBeNull();
  expect(enterAll(gate)).toHaveLength(500);
});

test('a thousand rejected calls come again one after the other', () => {
  const { gate } = setUp();
  gate.refused(gate.enter(), failure(10_000));
  const moments = Array.from({ length: 1_000 }, () => gate.comeAgainAt());
  expect(new Set(moments).size).toBe(1_000);
  expect(Math.min(...moments)).toBeGreaterThan(START + 10_000);
  expect(Math.max(...moments)).toBe(START + 10_000 + 19_990);
});

test('a call that waits in place is let in when the throttle ends, in order, as there are places', async () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(), failure(500));
  const called: number[] = [];
  const waits = [1, 2, 3, 4, 5].map((number) =>
    gate.turn(START + 60_000, NEVER).then((isCalled) => isCalled && called.push(number)),
  );
  clock.time += 500;
  await Promise.all(waits.slice(0, 2));
  expect(called).toEqual([1, 2]);
  const [first, second] = [gate.enter(), gate.enter()];
  gate.answered(first);
  await Promise.all(waits.slice(2, 4));
  expect(called).toEqual([1, 2, 3, 4]);
  const [third, fourth] = [gate.enter(), gate.enter()];
  gate.left(second);
  await waits[4];
  for (const pass of [third, fourth]) gate.left(pass);
});

test('a wait in place ends with its signal, and too many do not wait', async () => {
  const { gate } = setUp();
  gate.refused(gate.enter(), failure(500));
  const controller = new AbortController();
  const waits = Array.from({ length: 32 }, () => gate.turn(START + 60_000, controller.signal));
  expect(await gate.turn(START + 60_000, controller.signal)).toBe(false);
  controller.abort();
  expect(await Promise.all(waits)).toEqual(waits.map(() => false));
});

test('refusals one after the other are one throttle since the first', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(), failure(3_000));
  clock.time += 3_000;
  const again = gate.refused(gate.enter(), failure(3_000));
  expect(again).toEqual({ since: START, refusedAt: clock.time, until: clock.time + 3_000, reason: 'rate_limited' });
  expect(gate.refusal).toMatchObject({ since: START, refusedAt: clock.time });
});

test('while calls of another tenant are refused, calls begin after a second, with one, and double with each round', () => {
  const { gate, clock } = setUp();
  const other = { since: START, refusedAt: START, until: START + 60_000, reason: 'rate_limited' } as const;
  gate.startSlowly(other);
  expect(gate.holding()).toMatchObject({ until: START + 1_000, reason: 'rate_limited' });
  expect(gate.comeAgainAt()).toBeLessThan(START + 1_100);
  clock.time += 1_000;
  const rounds: number[] = [];
  for (let inside = enterAll(gate); inside.length < 500; inside = enterAll(gate)) {
    rounds.push(inside.length);
    for (const pass of inside) gate.answered(pass);
  }
  expect(rounds).toEqual([1, 2, 4, 8, 16, 32, 64]);
  // The other tenant's throttle lasts: this one's calls were answered, and are open.
  gate.startSlowly({ ...other, refusedAt: clock.time, until: clock.time + 60_000 });
  expect(gate.holding()).toBeNull();
  expect(gate.refusal).toBeNull();
  // Another throttle of the other tenant, a moment later and after a minute.
  gate.startSlowly({ ...other, since: clock.time + 1_000 });
  expect(gate.holding()).toBeNull();
  clock.time += 60_001;
  gate.startSlowly({ ...other, since: clock.time });
  expect(gate.holding()).not.toBeNull();
});

test('a first call that ends without an answer makes room for the next one', () => {
  const { gate, clock } = setUp();
  gate.startSlowly({ since: START, refusedAt: START, until: START + 60_000, reason: 'rate_limited' });
  clock.time += 1_000;
  for (const pass of enterAll(gate)) gate.left(pass);
  expect(enterAll(gate)).toHaveLength(1);
});

test('a first call that is refused has a throttle of its own, which is not longer than the first of any', () => {
  const { gate, clock } = setUp();
  gate.startSlowly({ since: START, refusedAt: START, until: START + 60_000, reason: 'rate_limited' });
  clock.time += 1_000;
  const closing = gate.refused(gate.enter(), failure(null));
  expect(closing).toEqual({
    since: clock.time,
    refusedAt: clock.time,
    until: clock.time + 500,
    reason: 'rate_limited',
  });
  expect(gate.refusal).toMatchObject(closing ?? {});
});

test('where another tenant is refused for long already, calls begin at once, with one', () => {
  const { gate, clock } = setUp();
  clock.time += 600_000;
  gate.startSlowly({ since: START, refusedAt: clock.time, until: clock.time + 60_000, reason: 'overloaded' });
  expect(enterAll(gate)).toHaveLength(1);
});

test('a throttle that the operator lifts ends at once, gradually; what was known before is ignored, a later one is not', () => {
  const { gate, clock } = setUp();
  const known = { since: START, refusedAt: START, until: START + 60_000, reason: 'rate_limited' } as const;
  gate.receive(known);
  clock.time += 5_000;
  gate.lift(clock.time);
  expect(gate.receive(known)).toBe(false);
  gate.startSlowly(known);
  expect(enterAll(gate)).toHaveLength(2);
  clock.time += 1_000;
  expect(gate.receive({ ...known, refusedAt: clock.time })).toBe(true);
  gate.lift(clock.time - 1_000);
  expect(gate.holding()).toMatchObject({ until: START + 60_000 });
});

test('so many callers wait in place, of all throttles together', async () => {
  const limit = new WaitLimit(2);
  const [{ gate: one, clock }, { gate: other }] = [setUp(limit), setUp(limit)];
  one.refused(one.enter(), failure(500));
  other.refused(other.enter(), failure(500));
  const [first, second] = [one.turn(START + 60_000, NEVER), other.turn(START + 60_000, NEVER)];
  expect(await one.turn(START + 60_000, NEVER)).toBe(false);
  clock.time += 500;
  expect(await first).toBe(true);
  const third = one.turn(START + 60_000, AbortSignal.timeout(10));
  expect(await third).toBe(false);
  void second;
});

test('callers that were called and send no call leave their places to the next', async () => {
  const { gate, clock } = setUp();
  gate.startSlowly({ since: START, refusedAt: START, until: START + 60_000, reason: 'rate_limited' });
  const called: number[] = [];
  const waits = [1, 2, 3].map((number) =>
    gate.turn(START + 60_000, NEVER).then((isCalled) => isCalled && called.push(number)),
  );
  clock.time += 1_000;
  await Promise.all(waits);
  expect(called).toEqual([1, 2, 3]);
});

test('calls from before that are refused are news where only another tenant was refused', () => {
  const { gate } = setUp();
  const [first, second] = [gate.enter(), gate.enter()];
  gate.startSlowly({ since: START, refusedAt: START, until: START + 60_000, reason: 'overloaded' });
  expect(gate.refused(first, failure(null, 'overloaded'))?.until).toBe(START + 500);
  expect(gate.refused(second, failure(null, 'overloaded'))).toBeNull();
  expect(gate.refusal).not.toBeNull();
});

test('a throttle that was not looked at for long ended a minute after its time', () => {
  const { gate, clock } = setUp();
  const other = { since: START, refusedAt: START, until: START + 60_000, reason: 'rate_limited' } as const;
  gate.startSlowly(other);
  clock.time += 600_000;
  gate.startSlowly({ ...other, since: clock.time });
  expect(gate.holding()).not.toBeNull();
});

test('the first refusal after a lift begins another throttle', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(), failure(60_000));
  clock.time += 1_000;
  gate.lift(clock.time);
  clock.time += 1;
  expect(gate.refused(gate.enter(), failure(null))).toMatchObject({ since: clock.time, until: clock.time + 500 });
});
