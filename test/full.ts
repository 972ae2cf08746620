// `npm run test:full`: every test at full depth, the end-to-end tests once more on embedded services, the package, and
// chaos with a seed of its own. A release runs it; it takes 35 minutes on two cores. All parts run, one after
// the other, whichever of them fails. With names of parts, only these. A part with sources of its own is recorded once
// it has passed: see proven/parts.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { PARTS, SOURCES, digestOf, recordPassed, type Part } from './proven/parts.ts';

const VITEST = path.join(import.meta.dirname, '../node_modules/vitest/vitest.mjs');
const FRESH_MACHINE = 'test/e2e/start/fresh-machine.test.ts';
const CHAOS = 'test/e2e/chaos.test.ts';

type Env = Readonly<Record<string, string>>;
/** A file for Node and its arguments. */
type Step = { args: readonly string[]; env?: Env };
type Name = 'tests' | Part;

const STEPS: Readonly<Record<Name, readonly Step[]>> = {
  tests: [{ args: [VITEST, 'run', '--exclude', FRESH_MACHINE, '--exclude', CHAOS] }],
  'fresh-machine': [{ args: [VITEST, 'run', FRESH_MACHINE] }],
  chaos: [{ args: [VITEST, 'run', CHAOS] }, { args: [path.join(import.meta.dirname, 'chaos/main.ts')] }],
  embedded: [
    {
      // The fresh machine uses embedded services in its own part, too.
      args: [VITEST, 'run', 'test/e2e', '--exclude', FRESH_MACHINE],
      env: { NIGHTSHIFT_TEST_SERVICES: 'embedded' },
    },
  ],
};
const NAMES: readonly Name[] = ['tests', ...PARTS];

async function succeeds({ args, env = {} }: Step): Promise<boolean> {
  const child = spawn(process.execPath, [...args], {
    stdio: 'inherit',
    env: { ...process.env, NIGHTSHIFT_TEST_DEPTH: 'full', ...env },
  });
  const [code] = await once(child, 'exit');
  return code === 0;
}

async function passes(name: Name): Promise<boolean> {
  process.stdout.write(`\n=== ${name}\n`);
  const digest = name === 'tests' ? null : digestOf(SOURCES[name]);
  for (const step of STEPS[name]) if (!(await succeeds(step))) return false;
  if (name !== 'tests' && digest !== null) recordPassed(name, digest);
  return true;
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !NAMES.some((known) => known === name));
if (unknown.length > 0) {
  process.stderr.write(`There is no part ${unknown.join(', ')}. Parts: ${NAMES.join(', ')}.\n`);
  process.exit(2);
}
const failed: Name[] = [];
for (const name of NAMES) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  if (!(await passes(name))) failed.push(name);
}
process.stdout.write(failed.length === 0 ? '\nEverything passed.\n' : `\nFAILED: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
