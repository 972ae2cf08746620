// The rule for flaky tests with a real Vitest: runs a folder of tests, repeats its failures and reads the summary.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { REPORT_VARIABLE, WHOLE_FILE, readReport } from './report.ts';

const VITEST = path.join(import.meta.dirname, '..', '..', 'node_modules', 'vitest', 'vitest.mjs');
const MAIN = path.join(import.meta.dirname, 'main.ts');
const REPORTER = path.join(import.meta.dirname, 'reporter.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'nightshift-flakes-'));
  writeFileSync(
    path.join(folder, 'vitest.config.js'),
    `export default { test: { globals: true, reporters: ['default', ${JSON.stringify(REPORTER)}] } };\n`,
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => path.join(folder, name);

function write(file: string, text: string): void {
  mkdirSync(path.dirname(at(file)), { recursive: true });
  writeFileSync(at(file), text);
}

/** Passes from its second run on. */
const flaky = `
  import { existsSync, writeFileSync } from 'node:fs';
  test('is there in time', () => {
    const seen = existsSync('seen');
    writeFileSync('seen', '');
    expect(seen).toBe(true);
  });
`;

function run(...options: string[]): number | null {
  const env = { ...process.env, [REPORT_VARIABLE]: at('report.json') };
  return spawnSync(process.execPath, [VITEST, 'run', ...options], { cwd: folder, env }).status;
}

function repeat(): { code: number | null; output: string; flakes: string } {
  const args = [MAIN, at('report.json'), at('flakes.txt'), process.execPath, VITEST, 'run'];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return { code: status, output: stdout, flakes: readFileSync(at('flakes.txt'), 'utf8') };
}

test('a flaky end-to-end test lets the gate pass and is named with its first output', () => {
  write('test/e2e/late.test.js', flaky);
  write('test/core/sound.test.js', `test('is sound', () => expect(1).toBe(1));`);
  expect(run()).toBe(1);
  const { code, flakes } = repeat();
  expect(code).toBe(0);
  expect(flakes).toMatch(
    /^FLAKY test\/e2e\/late\.test\.js is there in time\n {4}AssertionError: expected false to be true/,
  );
});

test('a test that fails twice fails the gate, whatever else is flaky', () => {
  write('test/e2e/late.test.js', flaky);
  write('test/e2e/wrong.test.js', `test('is wrong', () => expect(1).toBe(2));`);
  expect(run()).toBe(1);
  const { code, output, flakes } = repeat();
  expect(code).toBe(1);
  expect(output).toContain('FAILED test/e2e/wrong.test.js failed twice.');
  expect(flakes).toContain('FLAKY test/e2e/late.test.js');
  expect(flakes).not.toContain('wrong.test.js');
});

test('an API test is not repeated, though its second run would pass', () => {
  write('test/api/late.test.js', flaky);
  expect(run()).toBe(1);
  const { code, output, flakes } = repeat();
  expect(code).toBe(1);
  expect(output).toContain(
    'FAILED test/api/late.test.js failed and is not repeatable: is there in time\n    AssertionError: expected false',
  );
  expect(output).not.toContain('second run');
  expect(flakes).toBe('');
});

test('the report assigns failures of hooks, of files, and unhandled rejections to their file', () => {
  write('test/e2e/hook.test.js', `beforeAll(() => { throw new Error('no service'); }); test('a', () => {});`);
  write('test/e2e/broken.test.js', `throw new Error('no such thing');`);
  write(
    'test/e2e/group.test.js',
    `describe('g', () => { afterAll(() => { throw new Error('left'); }); test('b', () => {}); });`,
  );
  write(
    'test/e2e/unawaited.test.js',
    `test('c', async () => { void Promise.reject(new Error('lost')); await new Promise((r) => setTimeout(r, 50)); });`,
  );
  expect(run()).toBe(1);
  const report = readReport(at('report.json'));
  const failures = (report?.failures ?? []).map(
    ({ file, test: name, output }) => `${file} ${name} ${output.split('\n')[0]}`,
  );
  expect(failures.toSorted()).toEqual([
    `test/e2e/broken.test.js ${WHOLE_FILE} Error: no such thing`,
    `test/e2e/group.test.js ${WHOLE_FILE} Error: left`,
    `test/e2e/hook.test.js ${WHOLE_FILE} Error: no service`,
    `test/e2e/unawaited.test.js ${WHOLE_FILE} Error: lost`,
  ]);
  expect(report?.errors).toEqual([]);
  expect(report?.passed).toContain('test/e2e/unawaited.test.js c');
});

test('a run that was interrupted fails, though its only failure would pass in a second run', () => {
  write('test/e2e/late.test.js', flaky);
  write('test/e2e/never-ran.test.js', `test('is sound', () => expect(1).toBe(1));`);
  expect(run('--bail=1', '--no-file-parallelism', '--sequence.shuffle=false')).toBe(1);
  const { code, output } = repeat();
  expect(code).toBe(1);
  expect(output).not.toContain('second run');
});

test('without a report the gate fails and nothing is repeated', () => {
  const { code, output } = repeat();
  expect(code).toBe(1);
  expect(output).toContain('FAILED The test run ended without a report.');
});
