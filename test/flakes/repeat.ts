// Decides whether the gate may pass after a failed test run. Each failed file that is repeatable runs once more, alone. A
// file that passes then is flaky. The gate passes if every failed file is flaky, and at most `MAX_FLAKY_FILES` are.
import { isRepeatable } from './repeatable.ts';
import { WHOLE_FILE, nameOf, type Failure, type Report } from './report.ts';

export const MAX_FLAKY_FILES = 3;

/** Lines of a failure's output that are printed again at the end. */
const TOLD_LINES = 12;

/** A file that failed and passed its second run, with the failures of the first. */
export type FlakyFile = { readonly file: string; readonly failures: readonly Failure[] };

export type Outcome =
  | { readonly kind: 'passed'; readonly flakes: readonly FlakyFile[] }
  | { readonly kind: 'failed'; readonly flakes: readonly FlakyFile[]; readonly reasons: readonly string[] };

/**
 * `report` is that of the failed run. `earlierFlakyFiles` counts those of earlier runs of the same gate. `runAgain`
 * runs one file and resolves to its report, or null if that run failed before its report. It is called only if the gate
 * can still pass.
 */
export async function repeatFailures(
  report: Report | null,
  earlierFlakyFiles: number,
  runAgain: (file: string) => Promise<Report | null>,
): Promise<Outcome> {
  const reasons = reasonsNotToRepeat(report, earlierFlakyFiles);
  if (report === null || reasons.length > 0) return { kind: 'failed', flakes: [], reasons };
  const flakes: FlakyFile[] = [];
  const failed: string[] = [];
  for (const [file, failures] of byFile(report.failures)) {
    if (passedAgain(await runAgain(file), failures)) flakes.push({ file, failures });
    else failed.push(`${file} failed twice.`);
  }
  return failed.length === 0 ? { kind: 'passed', flakes } : { kind: 'failed', flakes, reasons: failed };
}

/** Why the gate fails whatever the result of a second run. Empty if it can still pass. */
function reasonsNotToRepeat(report: Report | null, earlierFlakyFiles: number): string[] {
  if (report === null) return ['The test run ended without a report.'];
  if (report.errors.length > 0) return report.errors.map((error) => `Error outside any test file: ${error}`);
  if (report.failures.length === 0) return ['The test run failed although no test failed.'];
  const once = report.failures.filter(({ file }) => !isRepeatable(file));
  if (once.length > 0)
    return [...once.map(notRepeatable), ...report.failures.filter(({ file }) => isRepeatable(file)).map(notRepeated)];
  const files = byFile(report.failures).size;
  const total = earlierFlakyFiles + files;
  return total <= MAX_FLAKY_FILES
    ? []
    : [`${total} files failed in this gate. At most ${MAX_FLAKY_FILES} may be flaky.`];
}

function notRepeatable(failure: Failure): string {
  return told('failed and is not repeatable', failure);
}

function notRepeated(failure: Failure): string {
  return told('failed and was not repeated, because the gate fails anyway', failure);
}

/** Of the output: its beginning, so that the end of the gate's log says why it failed. */
function told(what: string, { file, test, output }: Failure): string {
  const lines = output.split('\n').slice(0, TOLD_LINES);
  return [`${file} ${what}: ${test}`, ...lines.map((line) => `    ${line}`)].join('\n');
}

function byFile(failures: readonly Failure[]): Map<string, Failure[]> {
  return Map.groupBy(failures, ({ file }) => file);
}

/** Whether the whole second run passed, and each test that had failed ran in it and passed. */
function passedAgain(report: Report | null, failures: readonly Failure[]): boolean {
  if (report === null || report.failures.length > 0 || report.errors.length > 0) return false;
  const passed = new Set(report.passed);
  const tests = failures.filter(({ test }) => test !== WHOLE_FILE);
  return passed.size > 0 && tests.every((failure) => passed.has(nameOf(failure)));
}

/** The summary: one line for each flaky test, followed by the indented output of its first run. */
export function describeFlakes(flakes: readonly FlakyFile[]): string {
  const lines = flakes.flatMap(({ failures }) =>
    failures.flatMap((failure) => [
      `FLAKY ${nameOf(failure)}`,
      ...failure.output.split('\n').map((line) => `    ${line}`),
    ]),
  );
  return lines.map((line) => `${line}\n`).join('');
}

/** The number of files that the summaries of earlier runs name. */
export function countFlakyFiles(summary: string): number {
  return new Set([...summary.matchAll(/^FLAKY (\S+)/gm)].map(([, file]) => file)).size;
}
