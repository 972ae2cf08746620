// What a run of the tests leaves behind for the gate: which tests failed, in which file, and with what output.
import { readFileSync } from 'node:fs';

/** One failure. `test` is the full name of the test, or `WHOLE_FILE` where a hook or the file itself failed. */
export type Failure = { readonly file: string; readonly test: string; readonly output: string };

/** `passed` names tests as `nameOf` does. `errors` belong to no file: they fail the run, whatever is repeated. */
export type Report = {
  readonly passed: readonly string[];
  readonly failures: readonly Failure[];
  readonly errors: readonly string[];
};

export const WHOLE_FILE = '(the whole file)';

export function nameOf({ file, test }: Pick<Failure, 'file' | 'test'>): string {
  return `${file} ${test}`;
}

/** The environment variable that names the file the report is written to. Without it none is written. */
export const REPORT_VARIABLE = 'NIGHTSHIFT_TEST_REPORT';

/** The report at `path`, or null where the run ended before it wrote one. */
export function readReport(path: string): Report | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return null;
  }
  return text === '' ? null : (JSON.parse(text) as Report);
}
