// A reporter for Vitest that writes a `Report` when the run ends.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule, TestRunEndReason, TestSuite } from 'vitest/node';
import { REPORT_VARIABLE, WHOLE_FILE, nameOf, type Failure, type Report } from './report.ts';

export default class FailureReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[], reason: TestRunEndReason): void {
    const target = process.env[REPORT_VARIABLE];
    if (target === undefined) return;
    const report = reportOf(modules, unhandled);
    const errors = reason === 'interrupted' ? [...report.errors, 'The run was interrupted.'] : report.errors;
    writeFileSync(target, JSON.stringify({ ...report, errors }));
  }
}

function reportOf(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Report {
  const known = new Set(modules.map((module) => module.moduleId));
  const fileOf = (error: SerializedError): string | null => {
    const file: unknown = error['VITEST_TEST_PATH'];
    return typeof file === 'string' && known.has(file) ? relative(file) : null;
  };
  const ofFiles = unhandled.flatMap((error): Failure[] => {
    const file = fileOf(error);
    return file === null ? [] : [{ file, test: WHOLE_FILE, output: textOf([error]) }];
  });
  return {
    passed: modules.flatMap(passedOf),
    failures: [...modules.flatMap(failuresOf), ...ofFiles],
    errors: unhandled.filter((error) => fileOf(error) === null).map((error) => textOf([error])),
  };
}

function passedOf(module: TestModule): string[] {
  const file = relative(module.moduleId);
  return [...module.children.allTests('passed')].map((test) => nameOf({ file, test: test.fullName }));
}

/** Failed tests, failed hooks, and files that failed or did not end: a failed hook or file may report no failed test. */
function failuresOf(module: TestModule): Failure[] {
  const file = relative(module.moduleId);
  const groups: (TestModule | TestSuite)[] = [module, ...module.children.allSuites()];
  const whole = groups
    .filter((group) => group.errors().length > 0)
    .map((group) => ({ file, test: WHOLE_FILE, output: textOf(group.errors()) }));
  const tests = [...module.children.allTests('failed')].map((test) => ({
    file,
    test: test.fullName,
    output: textOf(test.result().errors ?? []),
  }));
  const found = [...whole, ...tests];
  const state = module.state();
  return found.length > 0 || state === 'passed' || state === 'skipped'
    ? found
    : [{ file, test: WHOLE_FILE, output: `The file ended as ${state}, without an error.` }];
}

function relative(file: string): string {
  return path.relative(process.cwd(), file).replaceAll(path.sep, '/');
}

/** Messages, differences and stacks, as text without colours. */
function textOf(errors: readonly SerializedError[]): string {
  const parts = errors.flatMap((error) => [error.stack ?? error.message, error['diff']]);
  return stripVTControlCharacters(parts.filter((part) => typeof part === 'string').join('\n'));
}
