// The rule for flaky tests: which failures a second run can clear, and which it cannot.
import { describe, expect, test } from 'vitest';
import { MAX_FLAKY_FILES, countFlakyFiles, describeFlakes, repeatFailures } from './repeat.ts';
import { WHOLE_FILE, nameOf, type Failure, type Report } from './report.ts';

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

/** Applies the rule. `second` returns the report of a file's second run; `asked` lists the files that were repeated. */
async function judge(report: Report | null, second: (file: string) => Report | null, earlier = 0) {
  const asked: string[] = [];
  const outcome = await repeatFailures(report, earlier, (file) => {
    asked.push(file);
    return Promise.resolve(second(file));
  });
  return { outcome, asked };
}

const crash = failure('test/e2e/crash/crash.test.ts');
const inbox = failure('test/console/inbox.test.ts');

describe('a repeatable file', () => {
  test('is flaky if its second run passes', async () => {
    const { outcome, asked } = await judge(failed(crash, inbox), (file) => passed(file === crash.file ? crash : inbox));
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

  test('fails the gate if it fails twice; other flaky files are still named', async () => {
    const { outcome } = await judge(failed(crash, inbox), (file) =>
      file === crash.file ? failed(crash) : passed(inbox),
    );
    expect(outcome).toEqual({
      kind: 'failed',
      flakes: [{ file: inbox.file, failures: [inbox] }],
      reasons: ['test/e2e/crash/crash.test.ts failed twice.'],
    });
  });

  test('fails the gate if another of its tests fails in the second run', async () => {
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
    ['had an error outside any test file', { ...passed(crash), errors: ['Error: lost'] }],
  ])('fails the gate if the second run %s', async (_, second) => {
    const { outcome } = await judge(failed(crash), () => second);
    expect(outcome.kind).toBe('failed');
  });

  test('whose hook failed is flaky if its tests pass in the second run', async () => {
    const hook = failure(crash.file, WHOLE_FILE);
    const { outcome } = await judge(failed(hook), () => passed(crash));
    expect(outcome.kind).toBe('passed');
  });
});

describe('no file is repeated', () => {
  test.each(['test/core/decide.test.ts', 'test/db/run/claim.test.ts', 'test/api/jobs/jobs.test.ts'])(
    'if %s failed',
    async (file) => {
      const { outcome, asked } = await judge(failed(crash, failure(file)), () => passed(crash));
      expect(outcome).toMatchObject({
        kind: 'failed',
        reasons: [
          `${file} failed and is not repeatable: it works\n    Error: late`,
          `${crash.file} failed and was not repeated, because the gate fails anyway: it works\n    Error: late`,
        ],
      });
      expect(asked).toEqual([]);
    },
  );

  test.each<[string, Report | null]>([
    ['left no report', null],
    ['failed without a failing test', failed()],
    ['had an error outside any test file', { ...failed(crash), errors: ['Error: lost'] }],
  ])('if the run %s', async (_, report) => {
    const { outcome, asked } = await judge(report, () => passed(crash));
    expect(outcome.kind).toBe('failed');
    expect(asked).toEqual([]);
  });

  test('if more files failed than may be flaky, counting earlier runs of the gate', async () => {
    const many = Array.from({ length: MAX_FLAKY_FILES }, (_, at) => failure(`test/e2e/${at}.test.ts`));
    const second = (file: string): Report => passed(failure(file));
    expect((await judge(failed(...many), second)).outcome.kind).toBe('passed');
    expect((await judge(failed(...many, crash), second)).asked).toEqual([]);
    expect((await judge(failed(...many), second, 1)).outcome).toMatchObject({
      kind: 'failed',
      reasons: [`${MAX_FLAKY_FILES + 1} files failed in this gate. At most ${MAX_FLAKY_FILES} may be flaky.`],
    });
  });
});

test('the summary names each flaky test with its first output, and its files are counted', () => {
  const summary = describeFlakes([
    {
      file: crash.file,
      failures: [crash, { ...crash, test: 'another', output: 'Error: late\n  at FLAKY x' }],
    },
    { file: inbox.file, failures: [inbox] },
  ]);
  expect(summary).toBe(`FLAKY test/e2e/crash/crash.test.ts it works
    Error: late
FLAKY test/e2e/crash/crash.test.ts another
    Error: late
      at FLAKY x
FLAKY test/console/inbox.test.ts it works
    Error: late
`);
  expect(countFlakyFiles(summary)).toBe(2);
  expect(countFlakyFiles('')).toBe(0);
});
