// Sequences that once showed a fault, each with the fault that it rules out.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Operation } from './operations.ts';
import { SequenceRunner } from './sequence-runner.ts';

let stage: SequenceRunner;

beforeAll(async () => {
  stage = await SequenceRunner.open();
});

afterAll(() => stage.close());

const go: Operation = { kind: 'go' };
const job = { plan: [], maxSteps: null };
const post: Operation = { kind: 'post', branch: null, delivery: 'queue', ...job };
/** The `place`th message that the active branch shows, counted from 0. */
const shown = (place: number) => 3 * place + 1;
const branch = (name: string, from: number | null, message: number | null): Operation => ({
  kind: 'branch',
  name,
  from,
  message,
  activate: true,
});

const summarise: Operation = { kind: 'compact', type: 'llm', keepTurns: 1, how: 'say', isPaused: false };
const deleteSecond: Operation = { kind: 'delete', branch: 1 };
const postToSecond: Operation = { ...post, branch: 1 };
const retry: Operation = { kind: 'retry', branch: null, ...job };
const rollback: Operation = { kind: 'interrupt', mode: 'rollback' };
const discard: Operation = { kind: 'interrupt', mode: 'discard' };
const twoTurns = [post, go, post, go];
/** It shares the first turn, and continues by itself. */
const left = [branch('a', 0, shown(1)), post, go];
/** A branch of a branch whose name is given to another one meanwhile. */
const renamed = [...left, branch('b', null, null), deleteSecond, branch('a', 0, null)];

test.each<[fault: string, operations: Operation[]]>([
  [
    'what was made on a branch stands on one that reads an older branch of the same name',
    [...twoTurns, post, go, ...renamed, summarise, go, postToSecond, go],
  ],
  ['an interrupted retry where nothing stands counts a turn', [retry, rollback]],
  ['a request for a summary is counted in the context, and not on its branch', [...twoTurns, summarise, go]],
  [
    'an input that was summarised is answered once more without being shown',
    [post, go, post, discard, post, go, summarise, go, branch('a', 0, shown(2)), retry, go],
  ],
])('ruled out: %s', async (_, operations) => {
  expect((await stage.judge(operations)).faults).toEqual([]);
});
