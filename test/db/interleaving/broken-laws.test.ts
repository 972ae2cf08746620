// The checks of the schedules have to detect a broken law. Each law of the protocol is broken in turn, by rewriting its
// statement on the way to Postgres; some schedule must show it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDatabase } from '../../services/database.ts';
import { depth } from '../../services/depth.ts';
import { LAWS, type Kind } from './laws.ts';
import { ScheduleRunner, createScheduleDatabase } from './schedule-runner.ts';

/** More schedules than any law has needed. */
const SCHEDULES = 5_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createScheduleDatabase();
});

afterAll(() => database.drop());

/** By then each statement was sent, also the rarest: a rewrite that changed none of them never will. */
const SCHEDULES_TO_REWRITE = depth(100, 1_000);

/**
 * Runs schedules until one has shown the fault, and each broken statement was sent at least once (`isRewritten`): one of
 * several may be enough to show it.
 */
async function search(
  runner: ScheduleRunner,
  isRewritten: () => boolean,
  seeds: Iterable<number>,
  fault: RegExp,
  { compacting = false, deaf = false }: Kind,
): Promise<{ seed: number | null; played: number; seen: ReadonlySet<string> }> {
  const seen = new Set<string>();
  let shown: { seed: number; played: number } | null = null;
  let played = 0;
  for (const seed of seeds) {
    played += 1;
    const { faults } = await runner.judge(seed, compacting, deaf);
    for (const line of faults) seen.add(line);
    if (faults.some((line) => fault.test(line))) shown ??= { seed, played };
    if (isRewritten() ? shown !== null : played >= SCHEDULES_TO_REWRITE) break;
  }
  return { seed: null, played, ...shown, seen };
}

/** Sweeps use real time: on a very busy machine, a schedule may end differently. */
const PLAYS = 3;

/**
 * The schedule that is known to show it; then all others, since the order of statements may have changed. At full depth
 * each law is searched for from seed 1 on, which measures how rare such schedules are.
 */
function seedsFor(known: number): number[] {
  const all = Array.from({ length: SCHEDULES }, (_, index) => index + 1);
  return depth([...Array.from({ length: PLAYS }, () => known), ...all], all);
}

test.each(LAWS)(
  'a broken law is detected: %s',
  { timeout: depth(900_000, 3_600_000) },
  async (law, rewrites, fault, known, kind = {}) => {
    const missing = new Set([rewrites].flat());
    const runner = await ScheduleRunner.open(database.url, (text) => {
      let rewritten: string | null = null;
      for (const rewrite of [rewrites].flat()) {
        const changed = rewrite(rewritten ?? text);
        if (changed === null || changed === text) continue;
        missing.delete(rewrite);
        rewritten = changed;
      }
      return rewritten;
    });
    try {
      const { seed, played, seen } = await search(runner, () => missing.size === 0, seedsFor(known), fault, kind);
      expect(missing.size, 'a statement was not found: its text has changed').toBe(0);
      expect(seed, `detected instead: ${[...seen].join('; ')}`).not.toBeNull();
      if (depth(played > PLAYS, true)) process.stdout.write(`Shown by schedule ${played}: ${law}\n`);
      if (depth(seed !== known, false))
        process.stdout.write(`Write seed ${seed} in place of ${known} in test/db/interleaving/laws.ts.\n`);
    } finally {
      await runner.close();
    }
  },
);
