// What is counted of the calls that an append ended.
import { expect, test } from 'vitest';
import { deniedWith, NEVER_RAN } from '../../src/core/conversation/closing-texts.ts';
import { closeCalls, closedByRule, ended } from '../../src/core/transitions/tools.ts';
import { UNKNOWN_TOOL, USE_BOUNDS, codeIn, placeOf, usesOf } from '../../src/core/tools/tool-use.ts';
import { JOB, NOW, call, job, running } from './builders.ts';

test('each ended call counts with its status and code; cancelled ones and unknown tools do not', () => {
  const failed = (content: string, code?: string) => ({
    kind: 'result' as const,
    content,
    is_error: true,
    ...(code !== undefined && { code }),
  });
  const [first, second, third, fourth, fifth, sixth] = [1, 2, 3, 4, 5, 6].map((n) =>
    call({ id: `call-${n}` as never }),
  );
  if (!first || !second || !third || !fourth || !fifth || !sixth) throw new Error('There are six calls.');
  const closed = [
    ended(first, { kind: 'result', content: 'ok', is_error: false }),
    ended(second, failed('{"error":{"code":"not_found","message":"x"}}')),
    ended(third, failed('It took too long.', 'timed_out')),
    closedByRule(fourth, deniedWith(null)),
    closedByRule(fifth, NEVER_RAN),
    ended(sixth, failed('There is no tool.', UNKNOWN_TOOL)),
  ];
  const uses = usesOf(closeCalls(running(), job(), closed), NOW);
  expect(uses.map(({ id, status, code, jobId, at }) => [id, status, code, jobId, at])).toEqual([
    [first.id, 'completed', 'error', JOB, NOW],
    [second.id, 'failed', 'not_found', JOB, NOW],
    [third.id, 'failed', 'timed_out', JOB, NOW],
    [fourth.id, 'denied', 'error', JOB, NOW],
  ]);
});

test('a code is short and plain, else there is none', () => {
  expect(codeIn('{"error":{"code":"not_found","message":"m"}}')).toBe('not_found');
  expect(codeIn('{"error":{"code":"not found","message":"m"}}')).toBeNull();
  expect(codeIn(`{"error":{"code":"${'x'.repeat(65)}"}}`)).toBeNull();
  expect(codeIn('it failed')).toBeNull();
  expect(codeIn([])).toBeNull();
});

test('each duration has its place', () => {
  expect([0, 5, 6, 600_000, 600_001, Number.NaN].map(placeOf)).toEqual([0, 0, 1, 14, USE_BOUNDS.length - 1, 0]);
});
