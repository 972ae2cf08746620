// What a schedule does when it is due: over a year, in zones with daylight saving, with late and repeated looks.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { occurrencesOf, timingFault } from '../../../src/commands/schedules/occurrences.ts';
import type { ScheduleId } from '../../../src/core/ids.ts';
import {
  following,
  plan,
  startOf,
  type Occurrences,
  type Plan,
  type Policy,
} from '../../../src/core/schedules/plan.ts';
import { CATCH_UPS, type CatchUp, type Timing } from '../../../src/core/schedules/schedule.ts';
import type { Millis } from '../../../src/core/time.ts';

const ID = '0199d000-0000-7000-8000-000000000001' as ScheduleId;
const at = (text: string): Millis => Date.parse(text);
const iso = (time: Millis): string => new Date(time).toISOString().slice(0, 16);
const policy = (over: Partial<Policy> = {}): Policy => ({ id: ID, catchUp: 'one', jitterS: 0, ...over });

function cron(text: string, timezone = 'UTC'): Occurrences {
  return occurrencesOf({ kind: 'cron', cron: text }, timezone);
}

/** The next `count` occurrences. */
function some(occurrences: Occurrences, from: string, count: number): string[] {
  const found: string[] = [];
  for (let time: Millis | null = at(from); found.length < count;) {
    time = occurrences.after(time);
    if (time === null) break;
    found.push(iso(time));
  }
  return found;
}

describe('daylight saving', () => {
  test('an occurrence in the gap is right after it, once', () => {
    expect(some(cron('30 2 * * *', 'Europe/Berlin'), '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ]);
    expect(some(cron('0 2,3 * * *', 'Europe/Berlin'), '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:00',
    ]);
  });

  test('a time of day that comes twice counts once, the first time', () => {
    expect(some(cron('30 2 * * *', 'Europe/Berlin'), '2026-10-24T12:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
    expect(some(cron('30 1 * * *', 'America/New_York'), '2026-10-31T12:00Z', 2)).toEqual([
      '2026-11-01T05:30',
      '2026-11-02T06:30',
    ]);
  });

  test('every half hour goes on through both', () => {
    expect(some(cron('*/30 * * * *', 'Europe/Berlin'), '2026-10-24T23:40Z', 5)).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T00:30',
      '2026-10-25T01:00',
      '2026-10-25T01:30',
      '2026-10-25T02:00',
    ]);
    expect(some(cron('*/30 * * * *', 'Europe/Berlin'), '2026-03-29T00:10Z', 3)).toEqual([
      '2026-03-29T00:30',
      '2026-03-29T01:00',
      '2026-03-29T01:30',
    ]);
  });

  test('backwards and forwards, a year has the same occurrences in each zone', () => {
    const [from, upto] = [at('2026-01-01T00:00Z'), at('2027-01-01T00:00Z')];
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'America/Santiago',
      'Africa/Cairo',
    ];
    for (const zone of zones) {
      for (const text of ['30 2 * * *', '59 0-3 * * 0']) {
        const occurrences = cron(text, zone);
        const forwards: Millis[] = [];
        for (let time = occurrences.after(from - 1); time !== null && time <= upto; time = occurrences.after(time))
          forwards.push(time);
        expect(occurrences.newest(10_000, from, upto)).toEqual(forwards);
        expect(new Set(forwards).size).toBe(forwards.length);
      }
    }
  });
});

describe('intervals and single times', () => {
  test('an interval counts from its beginning, and does not drift', () => {
    const every = occurrencesOf({ kind: 'every', everyS: 90, anchor: at('2026-01-01T00:00:07Z') }, 'UTC');
    expect(every.after(0)).toBe(at('2026-01-01T00:01:37Z'));
    expect(every.after(at('2026-06-01T10:00:00Z'))).toBe(at('2026-06-01T10:00:07Z'));
    expect(every.newest(2, 0, at('2026-01-01T00:05:00Z'))).toEqual([
      at('2026-01-01T00:03:07Z'),
      at('2026-01-01T00:04:37Z'),
    ]);
    expect(every.newest(2, 0, at('2026-01-01T00:01:00Z'))).toEqual([]);
  });

  test('a single time has one occurrence', () => {
    const once = occurrencesOf({ kind: 'at', at: 5_000 }, 'UTC');
    expect([once.after(4_999), once.after(5_000)]).toEqual([5_000, null]);
    expect([once.newest(9, 0, 4_999), once.newest(9, 0, 5_000), once.newest(9, 5_001, 9_000)]).toEqual([
      [],
      [5_000],
      [],
    ]);
  });
});

describe('what is refused', () => {
  const NOW = at('2026-01-01T00:00Z');
  const ofCron = (text: string) => timingFault({ kind: 'cron', cron: text }, 'UTC', NOW)?.message;

  test.each(['', 'x', '61 * * * *', '* * * * * *', '@reboot', '2026-01-01T00:00:00', '* * * *'])('%j', (text) => {
    expect(ofCron(text)).toMatch(/^cron is not valid: .+\. Write five fields: /);
  });

  test('an expression without a date, and a time that is past', () => {
    expect(ofCron('0 0 31 2 *')).toBe('cron has no time in the future.');
    expect(timingFault({ kind: 'at', at: NOW }, 'UTC', NOW)?.message).toBe('at must be in the future.');
  });

  test.each(['+02:00', 'Mars/Olympus', '', 'UTC+2'])('the time zone %j', (zone) => {
    expect(timingFault({ kind: 'cron', cron: '@daily' }, zone, NOW)).toMatchObject({ param: 'timezone' });
  });

  test('names of days, ranges, steps and nicknames are valid', () => {
    for (const text of ['@daily', '0 9 * * MON-FRI', '*/5 8-18 * * 1-5', '0 0 L * *', '0 0 1,15 * *'])
      expect(ofCron(text)).toBeUndefined();
  });
});

describe('missed occurrences', () => {
  const hourly = cron('0 * * * *');
  const due = (catchUp: CatchUp, now: string): Plan =>
    plan(hourly, policy({ catchUp }), at('2026-01-01T10:00Z'), at(now));
  const next = (text: string) => ({ occurrence: at(text), startAt: at(text) });

  test('an occurrence up to a minute late is on time', () => {
    for (const catchUp of CATCH_UPS)
      expect(due(catchUp, '2026-01-01T10:01:00Z')).toEqual({
        run: at('2026-01-01T10:00Z'),
        missed: null,
        next: next('2026-01-01T11:00Z'),
      });
  });

  test('none: what is later is missed, in one entry', () => {
    expect(due('none', '2026-01-01T15:30Z')).toEqual({
      run: null,
      missed: { from: at('2026-01-01T10:00Z'), upto: at('2026-01-01T15:00Z') },
      next: next('2026-01-01T16:00Z'),
    });
    expect(due('none', '2026-01-01T15:00:30Z')).toEqual({
      run: at('2026-01-01T15:00Z'),
      missed: { from: at('2026-01-01T10:00Z'), upto: at('2026-01-01T14:00Z') },
      next: next('2026-01-01T16:00Z'),
    });
  });

  test('one: the newest runs for all', () => {
    expect(due('one', '2026-01-01T15:30Z')).toEqual({
      run: at('2026-01-01T15:00Z'),
      missed: { from: at('2026-01-01T10:00Z'), upto: at('2026-01-01T14:00Z') },
      next: next('2026-01-01T16:00Z'),
    });
  });

  test('all: each runs, and one after the other', () => {
    expect(due('all', '2026-01-01T15:30Z')).toEqual({
      run: at('2026-01-01T10:00Z'),
      missed: null,
      next: next('2026-01-01T11:00Z'),
    });
  });

  test('all: only the newest hundred run', () => {
    const found = due('all', '2026-02-01T00:00:00Z');
    expect(found.run).toBe(at('2026-02-01T00:00Z') - 99 * 3_600_000);
    expect(found.missed).toEqual({ from: at('2026-01-01T10:00Z'), upto: (found.run ?? 0) - 3_600_000 });
  });

  test('a clock that was set back runs nothing again', () => {
    expect(due('all', '2026-01-01T09:59:59Z')).toEqual({ run: null, missed: null, next: next('2026-01-01T10:00Z') });
  });

  test('a single time runs late, unless nothing is caught up', () => {
    const once = occurrencesOf({ kind: 'at', at: 5_000 }, 'UTC');
    const late = (catchUp: CatchUp) => plan(once, policy({ catchUp }), 5_000, 500_000);
    expect(late('one')).toEqual({ run: 5_000, missed: null, next: null });
    expect(late('none')).toEqual({ run: null, missed: { from: 5_000, upto: 5_000 }, next: null });
  });
});

describe('the delay', () => {
  test('is the same at every look, differs between occurrences, and ends before the next one', () => {
    const minutely = cron('* * * * *');
    const delays = Array.from({ length: 200 }, (_, index) => {
      const occurrence = at('2026-01-01T00:00Z') + index * 60_000;
      const { startAt } = startOf(minutely, policy({ jitterS: 86_400 }), occurrence);
      expect(startOf(minutely, policy({ jitterS: 86_400 }), occurrence).startAt).toBe(startAt);
      return startAt - occurrence;
    });
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeLessThan(60_000);
    expect(new Set(delays).size).toBeGreaterThan(190);
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    expect(Math.abs(mean - 30_000)).toBeLessThan(6_000);
  });

  test('of a single time is bounded by itself', () => {
    const once = occurrencesOf({ kind: 'at', at: 5_000 }, 'UTC');
    const { startAt } = startOf(once, policy({ jitterS: 10 }), 5_000);
    expect(startAt).toBeGreaterThanOrEqual(5_000);
    expect(startAt).toBeLessThan(15_000);
  });
});

/** What a process that looks at these times does, from `from` on: each occurrence with what became of it. */
function live(occurrences: Occurrences, given: Policy, from: Millis, looks: readonly Millis[]) {
  const ran: Millis[] = [];
  const missed: { from: Millis; upto: Millis }[] = [];
  let start = following(occurrences, given, from);
  for (const now of looks) {
    while (start !== null && start.startAt <= now) {
      const planned = plan(occurrences, given, start.occurrence, now);
      if (planned.run !== null) ran.push(planned.run);
      if (planned.missed !== null) missed.push(planned.missed);
      expect(planned.next?.occurrence ?? Infinity).toBeGreaterThan(start.occurrence);
      start = planned.next;
    }
  }
  return { ran, missed, next: start };
}

/** The same, of two years, found once: croner takes a tenth of a millisecond for each. */
function listed(occurrences: Occurrences, from: Millis): Occurrences {
  const all: Millis[] = [];
  for (let time = occurrences.after(from); time !== null && time < from + 2 * YEAR; time = occurrences.after(time))
    all.push(time);
  return {
    after: (time) => all.find((one) => one > time) ?? null,
    newest: (most, begin, upto) => all.filter((one) => begin <= one && one <= upto).slice(-most),
  };
}

const FROM = at('2026-01-01T00:00Z');
const YEAR = 365 * 86_400_000;

const TIMINGS: readonly Timing[] = [
  { kind: 'cron', cron: '30 2 * * *' },
  { kind: 'cron', cron: '*/30 1-3 * * 0' },
  { kind: 'cron', cron: '0 0 1 * *' },
  { kind: 'cron', cron: '15 9 * * 1-5' },
  { kind: 'every', everyS: 36_001, anchor: at('2026-01-01T00:00:00.500Z') },
  { kind: 'at', at: at('2026-07-01T12:00Z') },
];

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Auckland'];

test('over a year with looks at any time, every occurrence runs once or is missed once', () => {
  const known = new Map<string, Occurrences>();
  fc.assert(
    fc.property(
      fc.constantFrom(...TIMINGS),
      fc.constantFrom(...ZONES),
      fc.constantFrom(...CATCH_UPS),
      fc.constantFrom(0, 30, 7_200),
      // Times between two looks: a second to a month; a clock may also be set back.
      fc.array(fc.oneof(fc.integer({ min: 1, max: 7_200 }), fc.integer({ min: -86_400, max: 2_600_000 })), {
        maxLength: 60,
      }),
      (timing, zone, catchUp, jitterS, waits) => {
        const name = JSON.stringify([timing, zone]);
        const occurrences = known.get(name) ?? listed(occurrencesOf(timing, zone), FROM);
        known.set(name, occurrences);
        const given = policy({ catchUp, jitterS });
        const looks: Millis[] = [];
        for (const wait of waits) looks.push((looks.at(-1) ?? FROM) + wait * 1_000);
        looks.push(FROM + YEAR);
        const { ran, missed, next } = live(occurrences, given, FROM, looks);
        const all = occurrences.newest(50_000, FROM + 1, (next?.occurrence ?? Math.max(...looks) + 1) - 1);
        const became = all.map(
          (one) =>
            ran.filter((other) => other === one).length +
            missed.filter((gap) => gap.from <= one && one <= gap.upto).length,
        );
        expect(became.every((count) => count === 1)).toBe(true);
        expect(ran.every((one) => all.includes(one))).toBe(true);
        if (catchUp === 'all' && missed.length === 0) expect(ran).toEqual(all);
      },
    ),
    { numRuns: 200 },
  );
});
