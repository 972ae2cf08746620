// The report of a test run, written for the gate: which tests passed, which failed, in which file, with what output.
import { readFileSync } from 'node:fs';

/** One failure. `test` is the full name of the test, or `WHOLE_FILE` if a hook or the file itself failed. */
export type Failure = { readonly file: string; readonly test: string; readonly output: string };

/** `passed` contains names made by `nameOf`. `errors` belong to no file; with any of them nothing is repeated. */
export type Report = {
  readonly passed: readonly string[];
  readonly failures: readonly Failure[];
  readonly errors: readonly string[];
};

export const WHOLE_FILE = '(the whole file)';

export function nameOf({ file, test }: Pick<Failure, 'file' | 'test'>): string {
  return `${file} ${test}`;
}

/** The environment variable with the path of the report. If it is not set, no report is written. */
export const REPORT_VARIABLE = 'NIGHTSHIFT_TEST_REPORT';

/** The report at `path`, or null if the run ended before it wrote one. */
export function readReport(path: string): Report | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return null;
  }
  return text === '' ? null : (JSON.parse(text) as Report);
}
