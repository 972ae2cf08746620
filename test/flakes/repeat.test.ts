// The rule for flakes, as a table: which failures a second run forgives, and which it does not.
import { describe, expect, test } from 'vitest';
import { MOST_FLAKES, countFlakyFiles, describeFlakes, repeatFailures } from './repeat.ts';
import { WHOLE_FILE, nameOf } from './report.ts';
import type { Failure, Report } from './report.ts';

const failure = (file: string, name = 'it works'): Failure => ({ file, test: name, output: 'Error: late' });
const failed = (...failures: Failure[]): Report => ({
  passed: ['test/core/a.test.ts is sound'],
  failures,
  errors: [],
});
const passed = (...failures: Failure[]): Report => ({
  passed: failures.map(nameOf),
  failures: [],
  errors: [],
});

/** Runs the rule; the second runs end as `second` says, and are listed in `asked`. */
async function judge(report: Report | null, second: (file: string) => Report | null, earlier = 0) {
  const asked: string[] = [];
  const outcome = await repeatFailures(report, earlier, (file) => {
    asked.push(file);
    return Promise.resolve(second(file));
  });
  return { outcome, asked };
}

const crash = failure('test/e2e/crash.test.ts');
const inbox = failure('test/console/inbox.test.ts');

describe('a file that may be repeated', () => {
  test('is a flake where its second run passes', async () => {
    const { outcome, asked } = await judge(failed(crash, inbox), (file) =>
      passed(file === crash.file ? crash : inbox),
    );
    expect(outcome).toEqual({
      kind: 'passed',
      flakes: [
        { file: crash.file, failures: [crash] },
        { file: inbox.file, failures: [inbox] },
      ],
    });
    expect(asked).toEqual([crash.file, inbox.file]);
  });

  test('runs once more for all its failures, not once for each', async () => {
    const both = [crash, failure(crash.file, 'it works again')];
    const { outcome, asked } = await judge(failed(...both), () => passed(...both));
    expect(outcome.kind).toBe('passed');
    expect(asked).toEqual([crash.file]);
  });

  test('fails where it fails twice, and others of the run are still named as flakes', async () => {
    const { outcome } = await judge(failed(crash, inbox), (file) =>
      file === crash.file ? failed(crash) : passed(inbox),
    );
    expect(outcome).toEqual({
      kind: 'failed',
      flakes: [{ file: inbox.file, failures: [inbox] }],
      reasons: ['test/e2e/crash.test.ts failed twice'],
    });
  });

  test('fails where another test of it fails in the second run', async () => {
    const { outcome } = await judge(failed(crash), () => ({
      ...passed(crash),
      failures: [failure(crash.file, 'another')],
    }));
    expect(outcome.kind).toBe('failed');
  });

  test.each<[string, Report | null]>([
    ['wrote no report', null],
    ['ran nothing', { passed: [], failures: [], errors: [] }],
    ['skipped the test that failed', passed(failure(crash.file, 'another'))],
    ['met an error outside of all files', { ...passed(crash), errors: ['Error: lost'] }],
  ])('fails where the second run %s', async (_, second) => {
    const { outcome } = await judge(failed(crash), () => second);
    expect(outcome.kind).toBe('failed');
  });

  test('that failed in a hook is a flake where its tests pass the second time', async () => {
    const hook = failure(crash.file, WHOLE_FILE);
    const { outcome } = await judge(failed(hook), () => passed(crash));
    expect(outcome.kind).toBe('passed');
  });
});

describe('nothing is repeated', () => {
  test.each(['test/core/decide.test.ts', 'test/db/claim.test.ts', 'test/api/jobs.test.ts'])(
    'where %s failed',
    async (file) => {
      const { outcome, asked } = await judge(failed(crash, failure(file)), () => passed(crash));
      expect(outcome).toMatchObject({
        kind: 'failed',
        reasons: [`${file} runs once, and failed: it works`],
      });
      expect(asked).toEqual([]);
    },
  );

  test.each<[string, Report | null]>([
    ['left no report', null],
    ['failed without a failing test', failed()],
    ['met an error outside of all files', { ...failed(crash), errors: ['Error: lost'] }],
  ])('where the run %s', async (_, report) => {
    const { outcome, asked } = await judge(report, () => passed(crash));
    expect(outcome.kind).toBe('failed');
    expect(asked).toEqual([]);
  });

  test('where more files failed than a gate may forgive, those of its earlier runs among them', async () => {
    const many = Array.from({ length: MOST_FLAKES }, (_, at) => failure(`test/e2e/${at}.test.ts`));
    const second = (file: string): Report => passed(failure(file));
    expect((await judge(failed(...many), second)).outcome.kind).toBe('passed');
    expect((await judge(failed(...many, crash), second)).asked).toEqual([]);
    expect((await judge(failed(...many), second, 1)).outcome).toMatchObject({
      kind: 'failed',
      reasons: [`${MOST_FLAKES + 1} files failed once, and ${MOST_FLAKES} may`],
    });
  });
});

test('the summary names each test with its first output, and its files can be counted', () => {
  const summary = describeFlakes([
    {
      file: crash.file,
      failures: [crash, { ...crash, test: 'another', output: 'Error: late\n  at FLAKY x' }],
    },
    { file: inbox.file, failures: [inbox] },
  ]);
  expect(summary).toBe(`FLAKY test/e2e/crash.test.ts it works
    Error: late
FLAKY test/e2e/crash.test.ts another
    Error: late
      at FLAKY x
FLAKY test/console/inbox.test.ts it works
    Error: late
`);
  expect(countFlakyFiles(summary)).toBe(2);
  expect(countFlakyFiles('')).toBe(0);
});
