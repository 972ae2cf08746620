// What becomes of the failures of one run. The files that may be repeated run once more, each alone; all others stay
// failed. A file that passes then is a flake: named in the summary, and forgiven up to `MOST_FLAKES` files a gate.
import { isRepeatable } from './repeatable.ts';
import { WHOLE_FILE, nameOf } from './report.ts';
import type { Failure, Report } from './report.ts';

export const MOST_FLAKES = 3;

/** Failures of one file that its second run did not repeat. */
export type Flake = { readonly file: string; readonly failures: readonly Failure[] };

export type Outcome =
  | { readonly kind: 'passed'; readonly flakes: readonly Flake[] }
  | { readonly kind: 'failed'; readonly flakes: readonly Flake[]; readonly reasons: readonly string[] };

/**
 * Judges a run that failed. `earlier` counts the flaky files of the gate's runs before this one. `runAgain` runs one
 * file and resolves to its report, null where that run wrote none; it is not called where the run fails in any case.
 */
export async function repeatFailures(
  report: Report | null,
  earlier: number,
  runAgain: (file: string) => Promise<Report | null>,
): Promise<Outcome> {
  const reasons = reasonsAtOnce(report, earlier);
  if (report === null || reasons.length > 0) return { kind: 'failed', flakes: [], reasons };
  const flakes: Flake[] = [];
  const failed: string[] = [];
  for (const [file, failures] of byFile(report.failures)) {
    if (clears(await runAgain(file), failures)) flakes.push({ file, failures });
    else failed.push(`${file} failed twice`);
  }
  return failed.length === 0 ? { kind: 'passed', flakes } : { kind: 'failed', flakes, reasons: failed };
}

/** Why no second run of any file could make the gate pass. */
function reasonsAtOnce(report: Report | null, earlier: number): string[] {
  if (report === null) return ['the run ended without a report'];
  if (report.errors.length > 0)
    return report.errors.map((error) => `an error outside of all files: ${error}`);
  if (report.failures.length === 0) return ['the run failed, and no test did'];
  const once = report.failures.filter(({ file }) => !isRepeatable(file));
  if (once.length > 0) return once.map(({ file, test }) => `${file} runs once, and failed: ${test}`);
  const files = byFile(report.failures).size;
  if (earlier + files <= MOST_FLAKES) return [];
  return [`${earlier + files} files failed once, and ${MOST_FLAKES} may`];
}

function byFile(failures: readonly Failure[]): Map<string, Failure[]> {
  return Map.groupBy(failures, ({ file }) => file);
}

/** Whether a second run passed as a whole, with every test in it that failed: one that was skipped proves nothing. */
function clears(report: Report | null, failures: readonly Failure[]): boolean {
  if (report === null || report.failures.length > 0 || report.errors.length > 0) return false;
  const passed = new Set(report.passed);
  const tests = failures.filter(({ test }) => test !== WHOLE_FILE);
  return passed.size > 0 && tests.every((failure) => passed.has(nameOf(failure)));
}

/** The summary, a text of lines: one for each test, and below it, indented, what it printed when it failed. */
export function describeFlakes(flakes: readonly Flake[]): string {
  const lines = flakes.flatMap(({ failures }) =>
    failures.flatMap((failure) => [
      `FLAKY ${nameOf(failure)}`,
      ...failure.output.split('\n').map((line) => `    ${line}`),
    ]),
  );
  return lines.map((line) => `${line}\n`).join('');
}

/** How many files the summaries of earlier runs name. */
export function countFlakyFiles(summary: string): number {
  return new Set([...summary.matchAll(/^FLAKY (\S+)/gm)].map(([, file]) => file)).size;
}
