// `npm run repeat-failed -- <report> <flakes> [command]`: repeats the test files that failed, by the rule in repeat.ts.
// The command (default `npm test --`) is called with the path of one test file. Appends a summary of the flaky tests to
// the file <flakes>. Exits 0 if the gate may pass.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { REPORT_VARIABLE, readReport, type Report } from './report.ts';
import { countFlakyFiles, describeFlakes, repeatFailures } from './repeat.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const [reportFile, flakesFile, ...given] = process.argv.slice(2);
if (reportFile === undefined || flakesFile === undefined) {
  say('usage: npm run repeat-failed -- <report> <flakes> [command]');
  process.exit(2);
}

const [command = 'npm', ...before] = given.length === 0 ? ['npm', 'test', '--'] : given;

const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-again-'));
const runAgain = async (file: string): Promise<Report | null> => {
  say(`\n=== second run, alone: ${file}`);
  const report = path.join(folder, 'report.json');
  rmSync(report, { force: true });
  const env = { ...process.env, [REPORT_VARIABLE]: report };
  const child = spawn(command, [...before, file], { stdio: 'inherit', env });
  const [code] = await once(child, 'exit');
  return code === 0 ? readReport(report) : null;
};

const earlierFlakyFiles = existsSync(flakesFile) ? countFlakyFiles(readFileSync(flakesFile, 'utf8')) : 0;
const outcome = await repeatFailures(readReport(reportFile), earlierFlakyFiles, runAgain);
rmSync(folder, { recursive: true, force: true });
const summary = describeFlakes(outcome.flakes);
appendFileSync(flakesFile, summary);
process.stdout.write(`\n${summary}`);
if (outcome.kind === 'failed') {
  for (const reason of outcome.reasons) say(`FAILED ${reason}`);
  process.exitCode = 1;
}
