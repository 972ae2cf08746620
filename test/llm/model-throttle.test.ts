import { expect, test } from 'vitest';
import { throttleFor } from '../../src/core/run/throttle.ts';
import type { FailureClass, ModelFailure } from '../../src/core/model/model.ts';
import type { TenantId } from '../../src/core/ids.ts';
import { ModelThrottle, type Pass } from '../../src/llm/model-throttle.ts';

const START = 1_000_000;
/** The tenant whose calls are refused, and another one. */
const [OWN, OTHER] = [1, 2] as [TenantId, TenantId];
const NEVER = new AbortController().signal;

function setUp() {
  const clock = { time: START, now: () => clock.time };
  return { clock, gate: new ModelThrottle(clock, () => 0.5) };
}

function failure(retryAfterMs: number | null, reason: FailureClass = 'rate_limited'): ModelFailure {
  return { class: reason, message: 'slow down', retryAfterMs };
}

/** As many calls as are let in now. */
function enterAll(gate: ModelThrottle, tenantId = OWN): Pass[] {
  const passes: Pass[] = [];
  while (gate.holding(tenantId) === null && passes.length < 500) passes.push(gate.enter(tenantId));
  return passes;
}

test('an open throttle lets every call in', () => {
  const { gate } = setUp();
  expect(enterAll(gate)).toHaveLength(500);
});

test('a Retry-After closes it until then', () => {
  const { gate, clock } = setUp();
  const closing = gate.refused(gate.enter(OWN), failure(3_000));
  expect(closing).toEqual({ since: START, until: START + 3_000, reason: 'rate_limited', tenantIds: [OWN] });
  expect(gate.holding(OWN)).toMatchObject({ until: START + 3_000, reason: 'rate_limited' });
  clock.time += 2_999;
  expect(gate.holding(OWN)).not.toBeNull();
  clock.time += 1;
  expect(gate.holding(OWN)).toBeNull();
});

test('then calls double with each round of answers, until the throttle is reset', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(OWN), failure(3_000));
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
  gate.refused(gate.enter(OWN), failure(3_000));
  clock.time += 3_000;
  for (const pass of enterAll(gate)) gate.left(pass);
  expect(enterAll(gate)).toHaveLength(2);
});

test('an answer counts once, from its first output on', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(OWN), failure(3_000));
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
  gate.refused(gate.enter(OWN), failure(3_000));
  clock.time += 3_000;
  for (const pass of enterAll(gate)) gate.answered(pass);
  const inside = enterAll(gate);
  expect(inside).toHaveLength(4);
  for (const pass of inside) gate.refused(pass, failure(2_000));
  expect(gate.holding(OWN)).toMatchObject({ until: clock.time + 2_000 });
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
  const inside = Array.from({ length: 100 }, () => gate.enter(OWN));
  const deltas = inside.map((pass) => gate.refused(pass, failure(null)));
  expect(deltas.filter((closing) => closing !== null)).toEqual([
    { since: START, until: START + 500, reason: 'rate_limited', tenantIds: [OWN] },
  ]);
  clock.time += 500;
  expect(gate.refused(gate.enter(OWN), failure(null))?.until).toBe(clock.time + 1_000);
});

test('one of them with a later time extends it', () => {
  const { gate } = setUp();
  const [first, second, third] = [gate.enter(OWN), gate.enter(OWN), gate.enter(OWN)];
  gate.refused(first, failure(3_000));
  expect(gate.refused(second, failure(9_000))?.until).toBe(START + 9_000);
  expect(gate.refused(third, failure(4_000))).toBeNull();
  expect(gate.holding(OWN)?.until).toBe(START + 9_000);
});

test('failures of a single call alone close nothing', () => {
  const { gate } = setUp();
  for (const reason of ['server_error', 'unreachable', 'auth', 'prompt_too_long'] as const) {
    expect(gate.refused(gate.enter(OWN), failure(5_000, reason))).toBeNull();
  }
  expect(gate.holding(OWN)).toBeNull();
});

test('a Retry-After that no job waits for closes nothing', () => {
  expect(throttleFor(failure(25 * 60 * 60 * 1_000), 1)).toBeNull();
  expect(throttleFor(failure(0), 1)).toBe(500);
  expect(throttleFor(failure(60 * 60 * 1_000), 1)).toBe(5 * 60_000);
});

test('a throttle of another process closes it here, and never opens it', () => {
  const { gate } = setUp();
  expect(gate.receive({ since: START, until: START + 5_000, reason: 'overloaded', tenantIds: [OWN] })).toBe(true);
  expect(gate.receive({ since: START, until: START + 5_000, reason: 'overloaded', tenantIds: [OWN] })).toBe(false);
  expect(gate.receive({ since: START, until: START + 1_000, reason: 'rate_limited', tenantIds: [OWN] })).toBe(false);
  expect(gate.receive({ since: START, until: START - 1, reason: 'rate_limited', tenantIds: [OWN] })).toBe(false);
  expect(gate.holding(OWN)).toMatchObject({ until: START + 5_000, reason: 'overloaded' });
});

test('a minute without a refusal opens it, whatever calls are still inside', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(OWN), failure(3_000));
  clock.time += 3_000;
  enterAll(gate);
  clock.time += 59_999;
  expect(gate.holding(OWN)).not.toBeNull();
  clock.time += 1;
  expect(gate.holding(OWN)).toBeNull();
  expect(enterAll(gate)).toHaveLength(500);
});

test('a thousand rejected calls come again one after the other', () => {
  const { gate } = setUp();
  gate.refused(gate.enter(OWN), failure(10_000));
  const moments = Array.from({ length: 1_000 }, () => gate.comeAgainAt(OWN));
  expect(new Set(moments).size).toBe(1_000);
  expect(Math.min(...moments)).toBeGreaterThan(START + 10_000);
  expect(Math.max(...moments)).toBe(START + 10_000 + 19_990);
});

test('a call that waits in place is let in when the throttle ends, in order, as there are places', async () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(OWN), failure(500));
  const called: number[] = [];
  const waits = [1, 2, 3, 4, 5].map((number) =>
    gate.turn(OWN, START + 60_000, NEVER).then((isCalled) => isCalled && called.push(number)),
  );
  clock.time += 500;
  await Promise.all(waits.slice(0, 2));
  expect(called).toEqual([1, 2]);
  const [first, second] = [gate.enter(OWN), gate.enter(OWN)];
  gate.answered(first);
  await Promise.all(waits.slice(2, 4));
  expect(called).toEqual([1, 2, 3, 4]);
  const [third, fourth] = [gate.enter(OWN), gate.enter(OWN)];
  gate.left(second);
  await waits[4];
  for (const pass of [third, fourth]) gate.left(pass);
});

test('a wait in place ends with its signal, and too many do not wait', async () => {
  const { gate } = setUp();
  gate.refused(gate.enter(OWN), failure(500));
  const controller = new AbortController();
  const waits = Array.from({ length: 32 }, () => gate.turn(OWN, START + 60_000, controller.signal));
  expect(await gate.turn(OWN, START + 60_000, controller.signal)).toBe(false);
  controller.abort();
  expect(await Promise.all(waits)).toEqual(waits.map(() => false));
});

test('another tenant waits a second, and then sends one call, whose answer admits all of its calls', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(OWN), failure(60_000));
  expect(gate.holding(OTHER)).toEqual({ until: START + 1_000, reason: 'rate_limited' });
  expect(gate.comeAgainAt(OTHER)).toBeLessThan(START + 1_100);
  clock.time += 1_000;
  const [probe, ...more] = enterAll(gate, OTHER);
  if (probe === undefined) throw new Error('no probe was let in');
  expect(more).toEqual([]);
  expect(gate.holding(OTHER)).toEqual({ until: clock.time + 1_000, reason: 'rate_limited' });
  gate.answered(probe);
  expect(enterAll(gate, OTHER)).toHaveLength(500);
  expect(gate.holding(OWN)).toEqual({ until: START + 60_000, reason: 'rate_limited' });
});

test('a tenant whose probe is refused waits like the first one, and delays no other tenant', () => {
  const { gate, clock } = setUp();
  const third = 3 as TenantId;
  gate.refused(gate.enter(OWN), failure(60_000));
  clock.time += 1_000;
  const [probe, other] = [gate.enter(OTHER), gate.enter(third)];
  gate.answered(other);
  expect(gate.refused(probe, failure(null))).toEqual({
    since: clock.time,
    until: START + 60_000,
    reason: 'rate_limited',
    tenantIds: [OTHER],
  });
  expect(gate.holding(OTHER)).toMatchObject({ until: START + 60_000 });
  expect(gate.holding(OWN)).toMatchObject({ until: START + 60_000 });
  expect(gate.holding(third)).toBeNull();
});

test('a probe that ends without an answer makes room for the next one', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(OWN), failure(60_000));
  clock.time += 1_000;
  for (const probe of enterAll(gate, OTHER)) gate.left(probe);
  expect(enterAll(gate, OTHER)).toHaveLength(1);
});

test('a tenant that was admitted stays admitted when the refused one is refused again, until it is refused itself', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(OWN), failure(5_000));
  clock.time += 1_000;
  gate.answered(gate.enter(OTHER));
  clock.time += 4_000;
  gate.refused(gate.enter(OWN), failure(5_000));
  expect(gate.holding(OTHER)).toBeNull();
  expect(gate.refused(gate.enter(OTHER), failure(9_000))).toMatchObject({ tenantIds: [OTHER] });
  expect(gate.holding(OTHER)).toMatchObject({ until: clock.time + 9_000 });
});

test('a refusal of another process names its tenants, whether or not it is later', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(OWN), failure(60_000));
  clock.time += 1_000;
  expect(gate.holding(OTHER)).toBeNull();
  expect(gate.receive({ since: START, until: START + 2_000, reason: 'overloaded', tenantIds: [OTHER] })).toBe(true);
  expect(gate.holding(OTHER)).toEqual({ until: START + 60_000, reason: 'rate_limited' });
  expect(gate.receive({ since: START, until: START + 60_000, reason: 'rate_limited', tenantIds: [OTHER] })).toBe(false);
});

test('of the calls of another tenant that wait in place, one is called when it may send a probe, all once that is answered', async () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(OWN), failure(60_000));
  const called: number[] = [];
  const waits = [1, 2, 3].map((number) =>
    gate.turn(OTHER, START + 60_000, NEVER).then((isCalled) => isCalled && called.push(number)),
  );
  void gate.turn(OWN, START + 60_000, NEVER).then((isCalled) => isCalled && called.push(0));
  clock.time += 1_000;
  await waits[0];
  expect(called).toEqual([1]);
  gate.answered(gate.enter(OTHER));
  await Promise.all(waits);
  expect(called).toEqual([1, 2, 3]);
});

test('a throttle that the operator lifts ends at once, gradually; a later one stays', () => {
  const { gate, clock } = setUp();
  gate.refused(gate.enter(OWN), failure(60_000));
  clock.time += 5_000;
  gate.lift(clock.time);
  expect(enterAll(gate)).toHaveLength(2);
  clock.time += 1_000;
  gate.refused({ tenantId: OWN, period: null, takes: null }, failure(120_000));
  gate.lift(clock.time - 1_000);
  expect(gate.holding(OWN)).not.toBeNull();
});

test('what another process knew before the operator lifted the throttle is ignored', () => {
  const { gate, clock } = setUp();
  const known = { since: START, until: START + 60_000, reason: 'rate_limited', tenantIds: [OWN] } as const;
  gate.receive(known);
  clock.time += 5_000;
  gate.lift(clock.time);
  expect(gate.receive(known)).toBe(false);
  expect(gate.holding(OWN)).toBeNull();
  expect(gate.receive({ ...known, since: clock.time + 1 })).toBe(true);
});
