// For any sequence of operations on a conversation: every history is one that providers accept, turn numbers never
// skip, no branch sees another's messages, counters and lists are correct. Operations are drawn from a seed and run
// through the commands and a real run loop on real Postgres, paused and released; a naive reference is the oracle,
// compared after each. `NIGHTSHIFT_SEED=17` reproduces a seed, and shortens its sequence where it fails;
// `NIGHTSHIFT_SEQUENCES=5000` runs more.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedsOf } from '../../services/depth.ts';
import { sequenceOf, shrink, type Operation } from './operations.ts';
import { SequenceRunner, type Judgement } from './sequence-runner.ts';

/** This many reach everything that is listed below. */
const FULL = 400;
const seeds = seedsOf(80, FULL, 'NIGHTSHIFT_SEQUENCES');

/** Sequences that run side by side, each in a context of its own. */
const SIDE_BY_SIDE = 8;

/** The combinations that so many sequences reach; otherwise the draw is biased. */
const REACHED = [
  ...['idle', 'runnable', 'waiting', 'paused at the model', 'paused at the tools', 'paused at the summary'].flatMap(
    (when) =>
      ['post', 'interrupt', 'branch', 'edit', 'regenerate', 'switch', 'delete', 'clear', 'compact'].map(
        (kind) => `${kind} while ${when}`,
      ),
  ),
  ...[
    'post',
    'answer',
    'interrupt',
    'cancel',
    'branch',
    'edit',
    'regenerate',
    'retry',
    'switch',
    'delete',
    'clear',
  ].map((kind) => `${kind}: done`),
  ...['post', 'branch', 'edit', 'regenerate', 'delete', 'clear'].map((kind) => `${kind}: context_busy`),
  ...['post', 'branch', 'edit', 'switch', 'delete'].map((kind) => `${kind}: not_found`),
  ...['branch', 'edit', 'regenerate'].map((kind) => `${kind}: branch_exists`),
  ...['branch', 'edit'].map((kind) => `${kind}: invalid_request`),
  ...['completed', 'incomplete', 'failed', 'cancelled', 'interrupted'].map((status) => `a job that is ${status}`),
];

/** After that, the search ends. */
const MOST_REPORTS = 3;

let stage: SequenceRunner;

beforeAll(async () => {
  stage = await SequenceRunner.open();
});

afterAll(() => stage.close());

test(
  'after any operations, a conversation equals the reference and is valid for every provider',
  { timeout: 60_000 + 1_000 * seeds.length },
  async () => {
    const left = seeds.values();
    const reports: string[] = [];
    const reached = new Set<string>();
    const players = Array.from({ length: SIDE_BY_SIDE }, async () => {
      for (const seed of left) {
        const operations = sequenceOf(seed);
        const judgement = await stage.judge(operations);
        for (const one of judgement.reached) reached.add(one);
        if (judgement.faults.length > 0 && reports.length < MOST_REPORTS) reports.push(await report(seed, operations));
        if (reports.length >= MOST_REPORTS) return;
      }
    });
    await Promise.all(players);
    expect(reports.join('\n\n')).toBe('');
    if (seeds.length >= FULL) expect(REACHED.filter((one) => !reached.has(one))).toEqual([]);
  },
);

/** The shortest part of the sequence that fails, and its faults. */
async function report(seed: number, operations: readonly Operation[]): Promise<string> {
  const fails = async (part: readonly Operation[]) => (await stage.judge(part)).faults.length > 0;
  const least = await shrink(operations, fails);
  return describeJudgement(seed, least, await stage.judge(least));
}

function describeJudgement(seed: number, operations: readonly Operation[], { faults, trace }: Judgement): string {
  const drawn = operations.map((operation) => `  ${JSON.stringify(operation)}`);
  return [`seed ${seed}:`, ...faults, 'after:', ...trace.map((line) => `  ${line}`), 'drawn:', ...drawn].join('\n');
}
