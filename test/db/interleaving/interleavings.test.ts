// Thousands of schedules of two to six actors on one context, one statement at a time, against real Postgres. A seed
// reproduces its schedule: `NIGHTSHIFT_SEED=17`; `NIGHTSHIFT_SCHEDULES=20000` runs more of them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { depth, seedsOf } from '../../services/depth.ts';
import type { TestDatabase } from '../../services/database.ts';
import { ScheduleRunner, createScheduleDatabase, describeJudgement } from './schedule-runner.ts';

const seeds = seedsOf(250, 2_000, 'NIGHTSHIFT_SCHEDULES');

/** Run side by side, each on a database of its own: most of the time is spent waiting for Postgres. */
const STAGES = depth(2, 4);

const databases: TestDatabase[] = [];
const stages: ScheduleRunner[] = [];

beforeAll(async () => {
  for (let count = Math.min(STAGES, seeds.length); count > 0; count -= 1) {
    const database = await createScheduleDatabase();
    databases.push(database);
    stages.push(await ScheduleRunner.open(database.url));
  }
});

afterAll(async () => {
  await Promise.all(stages.map((runner) => runner.close()));
  await Promise.all(databases.map((database) => database.drop()));
});

test('every law holds in any order of statements', { timeout: 60_000 + 600 * seeds.length }, async () => {
  const left = seeds.values();
  await Promise.all(
    stages.map(async (runner) => {
      for (const seed of left) {
        const judgement = await runner.judge(seed);
        expect(judgement.faults, describeJudgement(judgement)).toEqual([]);
      }
    }),
  );
});
