// The comparison of a conversation with its reference has to detect faults. Each fault is made in turn, and some
// sequence must show it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sequenceOf } from './operations.ts';
import { FAULTS } from './faults.ts';
import { SequenceRunner } from './sequence-runner.ts';

/** More sequences than any fault has needed. */
const SEQUENCES = 40;

let stage: SequenceRunner;

beforeAll(async () => {
  stage = await SequenceRunner.open();
});

afterAll(() => stage.close());

test.each(FAULTS)('the comparison detects: %s', async (_, tamper, shown, seed = 1) => {
  const others = Array.from({ length: SEQUENCES }, (_none, place) => place + 1);
  for (const next of new Set([seed, ...others])) {
    const { faults } = await stage.judge(sequenceOf(next), tamper);
    if (faults.length === 0) continue;
    expect(faults.join('\n')).toMatch(shown);
    return;
  }
  expect.fail('no sequence showed it');
});

test('a sequence without a fault shows no difference', async () => {
  expect((await stage.judge(sequenceOf(1))).faults).toEqual([]);
});
