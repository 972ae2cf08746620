// The examples run as their first lines say, each as a process of its own beside the platform, and show their topics.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../services/database.ts';
import { removeFolder, temporaryFolder } from '../../services/temporary-folder.ts';
import { killChildren } from '../rig/children.ts';
import { startLaptop, stopLaptop, type Laptop } from './laptop.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const ROOT = path.join(import.meta.dirname, '../../..');

let made: TestDatabase;
let folder = '';
let laptop: Laptop;

beforeAll(async () => {
  made = await createTestDatabase();
  folder = await temporaryFolder();
  laptop = await startLaptop(made.url, folder, { NIGHTSHIFT_CONFIG: 'examples/nightshift.config.ts' });
  // As with an older Node: plain `node` needs these paths too.
  expect(await run('bootstrap.js', 'example', 'quickstart')).toMatch(/^completed: \d+ characters/m);
});

afterAll(async () => {
  await stopLaptop(laptop);
  await killChildren();
  await made.drop();
  await removeFolder(folder);
});

type Ended = { code: number | null; out: string; err: string };

async function runAt(url: string, program: string, ...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], NIGHTSHIFT_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

/** Its standard output; it must have succeeded. */
async function run(program: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await runAt(laptop.url, program, ...args);
  expect(code, err).toBe(0);
  return out;
}

const linesOf = async (name: string): Promise<string[]> =>
  (await run(`examples/${name}.ts`)).split('\n').filter((line) => line !== '');

test('the quickstart example runs', async () => {
  const out = await run('examples/quickstart.ts');
  expect(out).toMatch(/^Job [0-9a-f-]+ is stored/);
  expect(out).toMatch(/^completed: \d+ characters, \d+ tokens\.$/m);
});

test('the tools example uses those of the server and a function of the client', async () => {
  const lines = await linesOf('tools');
  expect(lines.slice(0, 5).sort()).toEqual([
    'order_status: completed',
    'order_status: failed',
    'read_clipboard: completed',
    'refund: completed',
    'reserve: completed',
  ]);
  expect(lines.slice(5, 10).sort()).toEqual([
    '→ 5 € were paid back for A-17.',
    '→ A-17',
    '→ A-17 (180 €) left the warehouse this morning.',
    '→ lamp is reserved for A-17.',
    '✗ No order has the number Z-99.',
  ]);
  expect(lines.at(-1)).toMatch(/^completed: A-17 is on its way/);
});

test('the approvals example shows calls that are approved, denied, and run with another input', async () => {
  const lines = await linesOf('approvals');
  expect(lines.slice(0, 3).sort()).toEqual([
    'approval requested: {"order":"A-17","amount":180}',
    'approval requested: {"order":"B-04","amount":25}',
    'approval requested: {"order":"C-30","amount":900}',
  ]);
  expect(lines.slice(3, 7).sort()).toEqual([
    '→ 180 € were paid back for A-17.',
    '→ 5 € were paid back for D-01.',
    '→ 90 € were paid back for C-30.',
    '→ Denied by the operator: B-04 was never paid.',
  ]);
  expect(lines.slice(7)).toEqual(['completed: I paid back what was approved.']);
});

test('the spawning example shows the tree of the workers', async () => {
  const lines = await linesOf('spawning');
  expect(lines.filter((line) => line.startsWith('spawned')).sort()).toEqual([
    'spawned reader 1',
    'spawned reader 2',
    'spawned reader 3',
  ]);
  expect(lines).toContain('completed: All three are about the sea.');
  expect(lines.slice(-5).map((line) => line.replace(/, \d+ tokens$/, ''))).toEqual([
    'lead: completed',
    '  reader 1: completed',
    '  reader 2: completed',
    '  reader 3: completed',
    '    translator: completed',
  ]);
});

test('the steering example shows an input that joins, and an answer that is retracted', async () => {
  expect(await linesOf('steering')).toEqual([
    'steer: joined the running job: true',
    'steer: completed: One verse, then. I see the sea.',
    expect.stringMatching(/^interrupt: partial answer “.{30} …”$/),
    'interrupt: interrupted, and its answer is removed',
    'next answer: Where were we?',
  ]);
});

test('the nightly report example posts its input once when it is run twice', async () => {
  const report = async (...into: string[]): Promise<Ended> => {
    const ended = await runAt(laptop.url, 'examples/nightly-report.ts', '2026-11-22', ...into);
    expect(ended.code, ended.err).toBe(0);
    return ended;
  };
  const jobsOf = ({ err }: Ended): string[] => [...err.matchAll(/^\w+: job \S+$/gm)].map(([line]) => line).sort();
  const first = jobsOf(await report(folder));
  expect(first).toHaveLength(3);
  const written = await readFile(path.join(folder, 'report-2026-11-22.md'), 'utf8');
  expect(written).toMatch(/^# Report of 2026-11-22\n\n## sales\n\n132 orders[^#]+## support\n[^#]+## stock\n/);
  expect(jobsOf(await report(folder))).toEqual(first);
  expect(await readFile(path.join(folder, 'report-2026-11-22.md'), 'utf8')).toBe(written);
  // A missing folder is made.
  await report(path.join(folder, 'reports', 'nightly'));
  expect(await readFile(path.join(folder, 'reports', 'nightly', 'report-2026-11-22.md'), 'utf8')).toBe(written);
  // Without a folder it leaves no file behind.
  expect((await report()).out).toBe(written);
  const named = (await laptop.client.workers.list().all()).filter(({ name }) => name.endsWith('2026-11-22'));
  expect(named).toHaveLength(3);
});

test('a missing platform, or one without a shop, is reported in two lines', async () => {
  const bare = createServer((_, response) => {
    const error = { code: 'unknown_role', message: 'Role "shop" is not known.' };
    response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  });
  const port = await new Promise<number>((resolve) => {
    bare.listen(0, '127.0.0.1', () => resolve((bare.address() as AddressInfo).port));
  });
  expect(await runAt(`http://127.0.0.1:${port}`, 'examples/tools.ts')).toEqual({
    code: 1,
    out: '',
    err: 'Role "shop" is not known.\nStart the platform with the shop: NIGHTSHIFT_CONFIG=examples/nightshift.config.ts npm start.\n',
  });
  await new Promise((resolve) => bare.close(resolve));
  expect(await runAt(`http://127.0.0.1:${port}`, 'examples/quickstart.ts')).toEqual({
    code: 1,
    out: '',
    err: `The API at http://127.0.0.1:${port} could not be reached.\nStart the platform: npm start. If it runs elsewhere, set NIGHTSHIFT_URL.\n`,
  });
});
