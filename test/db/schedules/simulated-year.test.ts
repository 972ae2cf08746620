// A thousand schedules over a simulated year in the database: two processes that die, clock jumps, daylight saving.
// Each occurrence runs once, or is in one entry of missed ones.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GivenTiming } from '../../../src/commands/schedules/create-schedule.ts';
import { occurrencesOf } from '../../../src/commands/schedules/occurrences.ts';
import { runDue } from '../../../src/commands/schedules/run-due.ts';
import type { SchedulePorts } from '../../../src/commands/schedules/post-run.ts';
import { mapConcurrent } from '../../../src/commands/map-concurrent.ts';
import type { ContextId } from '../../../src/core/ids.ts';
import { CATCH_UPS } from '../../../src/core/schedules/schedule.ts';
import type { Millis } from '../../../src/core/time.ts';
import type { Database } from '../../../src/db/connection/client.ts';
import { currentTime } from '../../../src/db/schedules/schedules.ts';
import { dueSchedules } from '../../../src/db/schedules/due-schedules.ts';
import { given, type Given } from '../database-fixture.ts';
import { current, firstOf, portsOf, runsOf, schedule } from './schedule-fixture.ts';

const SCHEDULES = 1_000;
const CONTEXTS = 20;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

/** The same numbers in every run: a linear congruential generator. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const random = numbers(14);
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago', 'Asia/Kathmandu'];

/** A few occurrences a year each, many of them in hours that daylight saving skips or repeats. */
function timing(begin: Millis): GivenTiming {
  const kind = random();
  if (kind < 0.1) return { kind: 'at', at: Math.floor(begin + random() * 360 * DAY) };
  if (kind < 0.2) return { kind: 'every', everyS: 20 * 86_400 + Math.floor(random() * 86_400) };
  const minute = Math.floor(random() * 60);
  const hour = Math.floor(random() * 4);
  // The last Sundays of March and October, the first ones of November and April: when clocks change.
  const day = pick(['L', '29 3', '25 10', '1 11', '8 3', '5 4', '4 10', '5 9', '1 */3', '15 */4']);
  const date = day === 'L' ? 'L 3,6,10,12' : day;
  return { kind: 'cron', cron: `${minute} ${hour} ${date} *` };
}

/** Dies before a statement at random: its transaction is rolled back. */
let deaths = 0;
function mortal(): Database {
  return the.open({
    max: 4,
    hook: () => {
      if (random() >= 0.005) return;
      deaths += 1;
      throw new Error('died');
    },
  });
}

async function pass(ports: SchedulePorts, at: Millis): Promise<number> {
  const { due } = await dueSchedules(the.database.db, 200, at);
  const ran = await mapConcurrent(due, (one) => runDue(ports, one, at).catch(() => 'died' as const));
  return ran.length;
}

test('each occurrence once', async () => {
  const contexts: ContextId[] = [];
  for (let count = 0; count < CONTEXTS; count += 1) contexts.push((await the.context()).contextId);
  const begin = await currentTime(the.database.db);
  const wanted = Array.from({ length: SCHEDULES }, () => {
    const jitterS = pick([0, 0, 600]);
    const catchUp = pick(CATCH_UPS);
    return { timing: timing(begin), timezone: pick(ZONES), jitterS, catchUp, contextId: pick(contexts) };
  });
  const made = await mapConcurrent(wanted, ({ contextId, ...settings }) => schedule(the, contextId, settings));
  const processes = [portsOf(the, {}, mortal()), portsOf(the, {}, mortal())] as const;
  let now = begin;
  let jumps = 0;
  while (now < begin + 365 * DAY) {
    // Mostly some hours; now and then the processes are down for weeks, or a clock is set back.
    const kind = random();
    if (kind < 0.03) jumps += 1;
    now += kind < 0.03 ? -random() * DAY : kind < 0.06 ? random() * 30 * DAY : random() * 24 * HOUR;
    now = Math.floor(now);
    for (let found = 1; found > 0;)
      found = Math.max(...(await Promise.all(processes.map((ports) => pass(ports, now)))));
  }
  expect(jumps).toBeGreaterThan(3);
  expect(deaths).toBeGreaterThan(20);
  let started = 0;
  let missed = 0;
  const faults: string[] = [];
  const ended = await mapConcurrent(made, async (one) => {
    const [runs, { nextOccurrence }] = await Promise.all([runsOf(the, one), current(the, one)]);
    return { one, runs, nextOccurrence };
  });
  for (const { one, runs, nextOccurrence } of ended) {
    const occurrences = occurrencesOf(one.timing, one.timezone);
    const upto = (nextOccurrence ?? now + 1) - 1;
    for (let time: Millis | null = firstOf(one); time !== null && time <= upto; time = occurrences.after(time)) {
      const occurrence = time;
      const became = runs.filter(
        (run) =>
          run.occurrence !== null && run.occurrence <= occurrence && occurrence <= (run.missedUntil ?? run.occurrence),
      );
      if (became.length !== 1) faults.push(`${one.id} at ${new Date(occurrence).toISOString()}: ${became.length} runs`);
      if (became[0]?.status === 'started') started += 1;
      else missed += 1;
    }
  }
  expect(faults).toEqual([]);
  // Each run has posted one input, and nothing else has.
  const [jobs] = await the.rows(`select count(*)::int as n, count(distinct r.job_id)::int as logged
      from jobs j left join schedule_runs r on r.job_id = j.id and r.message_id = j.message_id`);
  expect(jobs).toEqual({ n: started, logged: started });
  expect(started).toBeGreaterThan(1_500);
  expect(missed).toBeGreaterThan(50);
}, 120_000);
