// Thousands of schedules of two to six actors on one context, one statement at a time, against real Postgres. What a
// seed draws can be played again: `NIGHTSHIFT_SEED=17`; `NIGHTSHIFT_SCHEDULES=20000` plays more of them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedsOf } from '../services/depth.ts';
import { Stage, describeJudgement } from './interleaving/stage.ts';

const seeds = seedsOf(250, 2_000, 'NIGHTSHIFT_SCHEDULES');

/** Played side by side, each on a database of its own: most of the time is spent waiting for Postgres. */
const stages: Stage[] = [];

beforeAll(async () => {
  const many = Math.min(4, seeds.length);
  stages.push(...(await Promise.all(Array.from({ length: many }, () => Stage.open()))));
});

afterAll(async () => {
  await Promise.all(stages.map((stage) => stage.close()));
});

test(
  'in whatever order statements come, every law holds',
  { timeout: 60_000 + 300 * seeds.length },
  async () => {
    const left = seeds.values();
    await Promise.all(
      stages.map(async (stage) => {
        for (const seed of left) {
          const judgement = await stage.judge(seed);
          expect(judgement.faults, describeJudgement(judgement)).toEqual([]);
        }
      }),
    );
  },
);
