// The arguments a model may give `sleep_until`, and the wait that follows its answer.
import { describe, expect, test } from 'vitest';
import type { MessageId, ToolCallId } from '../../../src/core/ids.ts';
import type { Json } from '../../../src/core/json.ts';
import { answer } from '../../../src/core/transitions/answer.ts';
import { parseSleep, sleepFrom, sleptText } from '../../../src/core/run/sleep.ts';
import { ASKING_DEFAULTS } from '../../../src/core/run/policy.ts';
import { letCallsWait } from '../../../src/core/transitions/approval.ts';
import { NOW, call, given, id, job, running, settings, tool } from '../builders.ts';

const DAY = 86_400;
const iso = (ms: number) => new Date(ms).toISOString();

describe('arguments with a time', () => {
  test.each<[string, Json, number]>([
    ['seconds', { seconds: 90 }, NOW + 90_000],
    ['parts of one', { seconds: 0.25 }, NOW + 250],
    ['none', { seconds: 0 }, NOW],
    ['a null beside', { seconds: 5, until: null }, NOW + 5_000],
    ['a moment', { until: iso(NOW + 7_000) }, NOW + 7_000],
    ['a time in the past', { until: iso(NOW - 7_000) }, NOW - 7_000],
    ['the longest', { seconds: 30 * DAY }, NOW + 30 * DAY * 1_000],
  ])('%s', (_, input, until) => {
    expect(parseSleep(input, NOW)).toEqual({ ok: true, until });
  });

  test('a time in another zone is read as the same instant', () => {
    const noon = Date.UTC(2026, 10, 20, 12);
    expect(parseSleep({ until: '2026-11-20T18:30:00+02:00' }, noon)).toEqual({
      ok: true,
      until: Date.UTC(2026, 10, 20, 16, 30),
    });
  });

  test.each<[Json, RegExp]>([
    [{}, /either/],
    [{ seconds: 1, until: iso(NOW) }, /either/],
    [{ seconds: -1 }, /at least 0/],
    [{ seconds: '5' }, /at least 0/],
    [{ seconds: 30 * DAY + 1 }, /30 days/],
    [{ until: iso(NOW + 31 * DAY * 1_000) }, /30 days/],
    [{ until: 'tomorrow' }, /zone/],
    [{ until: '2026-11-20T18:30:00' }, /zone/],
    [{ until: '2026-13-40T18:30:00Z' }, /zone/],
    [{ until: 5 }, /zone/],
    ['{"seconds"', /object/],
    [null, /object/],
  ])('%j is no time', (input, problem) => {
    expect(parseSleep(input, NOW)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
  });
});

test('the time slept is in tenths of a second, and never negative', () => {
  expect(sleptText(NOW, NOW + 3_600_049)).toBe('{"slept_s":3600}');
  expect(sleptText(NOW, NOW + 149)).toBe('{"slept_s":0.1}');
  expect(sleptText(NOW, NOW - 5)).toBe('{"slept_s":0}');
});

describe('an answer that sleeps', () => {
  const known = settings({ tools: [{ ...tool('sleep_until'), answered_by: 'timer' }, tool('search')] });
  const use = (number: number, name: string, input: Json) => ({
    type: 'tool_use' as const,
    id: id<ToolCallId>(number),
    name,
    input,
  });
  const says = (...content: ReturnType<typeof use>[]) =>
    answer(
      running(),
      { job: job(), settings: known },
      { ...given({ content, finishReason: 'tool_use' }), id: id<MessageId>(30) },
      NOW,
    );

  test('waits for the time from its own commit on', () => {
    expect(says(use(50, 'sleep_until', { seconds: 60 }))).toMatchObject({
      calls: [{ wait: { for: 'timer', since: NOW, until: NOW + 60_000, needs: null } }],
      state: 'ExecutingTools',
    });
  });

  test('and calls tools runs these at once', () => {
    const move = says(use(50, 'sleep_until', { seconds: 60 }), use(51, 'search', {}));
    expect(move.calls).toMatchObject([{ wait: { for: 'timer' } }, { wait: null }]);
  });

  test('but gives no time runs the tool, which reports the mistake', () => {
    expect(says(use(50, 'sleep_until', { seconds: -1 })).calls).toMatchObject([{ wait: null }]);
  });
});

test('a sleep that a rule covers waits for approval first, and begins once it is approved', () => {
  const rules = [{ tool: 'sleep_*', decision: 'always' as const }];
  const known = settings({
    tools: [{ ...tool('sleep_until'), answered_by: 'timer' }],
    asking: { ...ASKING_DEFAULTS, rules },
  });
  const use = {
    type: 'tool_use' as const,
    id: id<ToolCallId>(50),
    name: 'sleep_until',
    input: { seconds: 60 },
  };
  const move = answer(
    running(),
    { job: job(), settings: known },
    { ...given({ content: [use] }), id: id<MessageId>(30) },
    NOW,
  );
  expect(move.calls).toMatchObject([{ wait: null }]);
  const waiting = call({ id: use.id, name: 'sleep_until' });
  const before = running({ calls: [waiting], state: 'ExecutingTools' });
  const asleep = letCallsWait(before, job(), [
    { call: waiting, input: use.input, answeredBy: 'timer', wait: sleepFrom(use.input, NOW) },
  ]);
  expect(asleep).toMatchObject({
    entries: [],
    calls: [{ kind: 'wait', id: use.id, wait: { for: 'timer', since: NOW, until: NOW + 60_000 } }],
  });
});
