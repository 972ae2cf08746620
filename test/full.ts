// `npm run test:full`: every test at full depth, the end-to-end tests once more on embedded services, the package, and chaos with a
// seed of its own. What a release runs; it takes more than an hour on two cores. All parts run, whichever of them fails.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const VITEST = path.join(import.meta.dirname, '../node_modules/vitest/vitest.mjs');

type Part = { name: string; args: readonly string[]; env?: Readonly<Record<string, string>> };

const PARTS: readonly Part[] = [
  { name: 'all tests', args: [VITEST, 'run'] },
  {
    name: 'end to end on embedded services',
    args: [VITEST, 'run', 'test/e2e'],
    env: { NIGHTSHIFT_TEST_SERVICES: 'embedded' },
  },
  { name: 'chaos', args: [path.join(import.meta.dirname, 'chaos/main.ts')] },
];

async function succeeds({ name, args, env = {} }: Part): Promise<boolean> {
  process.stdout.write(`\n=== ${name}\n`);
  const child = spawn(process.execPath, [...args], {
    stdio: 'inherit',
    env: { ...process.env, NIGHTSHIFT_TEST_DEPTH: 'full', ...env },
  });
  const [code] = await once(child, 'exit');
  return code === 0;
}

const failed: string[] = [];
for (const part of PARTS) if (!(await succeeds(part))) failed.push(part.name);
process.stdout.write(failed.length === 0 ? '\nEverything passed.\n' : `\nFAILED: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
