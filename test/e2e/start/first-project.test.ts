// A new project from an empty folder: `nightshift init`, the test of its tool, `nightshift dev` and changes of the code.
// Its packages are those of this clone.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/index.ts';
import { start, runProcess, type Running } from '../../cli/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../services/database.ts';
import { removeFolder, temporaryFolder } from '../../services/temporary-folder.ts';
import { until } from '../rig/until.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** A tool that runs until the test lets it end. It runs once, so a drain waits for it. */
const HOLD = `
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { defineTool } from 'nightshift';

export const hold = defineTool({
  name: 'hold',
  description: 'Waits.',
  input_schema: { type: 'object', properties: {} },
  effect: 'once',
  async execute(_, { signal }) {
    appendFileSync('held', 'x');
    while (!existsSync('release')) await setTimeout(20, undefined, { signal });
    appendFileSync('held', '.');
    return 'released';
  },
});
`;

let home = '';
let folder = '';
let database: TestDatabase;
let dev: Running;
let client: Client;

const at = (name: string): string => path.join(folder, name);

beforeAll(async () => {
  home = await temporaryFolder();
  folder = path.join(home, 'shop');
  database = await createTestDatabase();
});

afterAll(async () => {
  dev.signal('SIGTERM');
  await dev.done;
  await database.drop();
  await removeFolder(home);
});

test('init writes a project whose test passes', async () => {
  expect(await runProcess(['init', 'shop'], {}, { cwd: home })).toMatchObject({ code: 0, err: '' });
  await mkdir(at('node_modules'));
  for (const name of ['zod', 'vitest', 'typescript', '@types'])
    await symlink(path.join(ROOT, 'node_modules', name), at(`node_modules/${name}`));
  await linkClone();
  const { stdout } = await run(process.execPath, [at('node_modules/vitest/vitest.mjs'), 'run'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], NO_COLOR: '1' },
  });
  expect(stdout).toMatch(/Tests\s+3 passed/);
});

test('npm run typecheck passes with a clone that has not been built', async () => {
  // Several checkers would each check what they share, for half as much CPU again.
  await run(process.execPath, [at('node_modules/typescript/bin/tsc'), '--checkers', '1'], { cwd: folder });
});

test('dev reads .env, and runs a job with the tool', async () => {
  await appendFile(at('.env'), '\nPORT=0\nNIGHTSHIFT_DATABASE_POOL_SIZE=4\n');
  dev = start(['dev', '--no-open'], { DATABASE_URL: database.url }, { cwd: folder });
  const [, url = ''] = await dev.says('out', /"address":"(http:[^"]+)".*"env_file":".*\.env".*"msg":"ready"/);
  client = createClient({ url });
  expect(await answerTo('call: order_status {"order": "A-17"}\n---\nsay: done')).toContain('shipped');
});

test('a job goes on with the new code, and what had begun ends where it began', async () => {
  await writeFile(at('tools/hold.ts'), HOLD);
  const config = await readFile(at('nightshift.config.ts'), 'utf8');
  const withHold = config
    .replace('import { orderStatus }', "import { hold } from './tools/hold.ts';\nimport { orderStatus }")
    .replace('tools: [orderStatus],', 'tools: [orderStatus, hold],')
    .replace('tools: [orderStatus.name],', "tools: [orderStatus.name, 'hold'],");
  await writeFile(at('nightshift.config.ts'), withHold);
  await dev.says('out', /"tools":2,"roles":1,"msg":"reloaded"/);
  const job = begin('call: hold {}\n---\ncall: order_status {"order": "A-17"}\n---\nsay: done');
  await until('the tool runs', () => existsSync(at('held')));
  await change('tools/order-status.ts', "'shipped'", "'delivered'");
  await dev.says('out', /(?:"msg":"reloaded"[\s\S]*){2}/);
  await writeFile(at('release'), '');
  expect(await resultsOf(await job)).toContain('delivered');
  expect(await readFile(at('held'), 'utf8')).toBe('x.');
});

test('a fault in an imported file is told with its line, and the version before it goes on', async () => {
  await change('tools/order-status.ts', 'const orders =', 'const orders ==');
  await dev.says('out', /cannot be loaded: .*order-status\.ts:5\b.*"/);
  expect(await answerTo('call: order_status {"order": "A-17"}\n---\nsay: done')).toContain('delivered');
  await change('tools/order-status.ts', 'const orders ==', 'const orders =');
  await dev.says('out', /(?:"msg":"reloaded"[\s\S]*){3}/);
});

test('a new file that never ends loading can be mended', async () => {
  await mkdir(at('hanging'));
  const waits = 'await new Promise((done) => setTimeout(done, 1e8));';
  await writeFile(
    at('hanging/hangs.ts'),
    `import { writeFileSync } from 'node:fs';\nwriteFileSync('hangs', '');\n${waits}\n`,
  );
  await change('nightshift.config.ts', 'import', "import './hanging/hangs.ts';\nimport");
  await until('the config is loading', () => existsSync(at('hangs')));
  await writeFile(at('hanging/hangs.ts'), 'export {};\n');
  await dev.says('out', /(?:"msg":"reloaded"[\s\S]*){4}/);
});

test('a new file that ends the process while it loads can be mended', async () => {
  await mkdir(at('ending'));
  await writeFile(at('ending/ends.ts'), 'process.exit(3);\n');
  await change('nightshift.config.ts', 'import', "import './ending/ends.ts';\nimport");
  await dev.says('out', /The process ended before it was ready \(exit code 3\)/);
  await writeFile(at('ending/ends.ts'), 'export {};\n');
  await dev.says('out', /(?:"msg":"reloaded"[\s\S]*){5}/);
});

test('an import waits for a file in a folder that does not exist', async () => {
  await change('tools/order-status.ts', 'import', "import '../later/prices.ts';\nimport");
  await dev.says('out', /cannot be loaded: .*later\/prices\.ts/);
  await mkdir(at('later'));
  await writeFile(at('later/prices.ts'), 'export {};\n');
  await dev.says('out', /(?:"msg":"reloaded"[\s\S]*){6}/);
});

test('a process that ends by itself is told, and the next change starts another one', async () => {
  const [, pid] =
    [...dev.output().out.matchAll(/"pid":(\d+),"process_id":"[^"]+","msg":"worker process is up"/g)].at(-1) ?? [];
  process.kill(Number(pid), 'SIGKILL');
  await dev.says('out', /The process ended \(SIGKILL\)/);
  await change('tools/order-status.ts', "'delivered'", "'returned'");
  await until('the new code runs', async () => {
    const answer = await answerTo('call: order_status {"order": "A-17"}\n---\nsay: done').catch(() => '');
    return answer.includes('returned');
  });
});

test('Ctrl-C waits for a tool that began before the last change, and ends with 0', async () => {
  await rm(at('release'));
  await rm(at('held'));
  const { out } = dev.output();
  await client.workers.create({ name: 'bea', role: 'support', input: 'call: hold {}\n---\nsay: done' });
  await until('the tool runs', () => existsSync(at('held')));
  await change('tools/order-status.ts', "'returned'", "'lost'");
  await until('the change is loaded', () => dev.output().out.slice(out.length).includes('"msg":"reloaded"'));
  dev.signal('SIGINT');
  await dev.says('out', /"msg":"stopping/);
  await writeFile(at('release'), '');
  expect(await dev.done).toMatchObject({ code: 0 });
  expect(await readFile(at('held'), 'utf8')).toBe('x.');
});

test('npm start runs the project, with its `.env`', async () => {
  const { scripts } = JSON.parse(await readFile(at('package.json'), 'utf8')) as { scripts: Record<string, string> };
  const [program = '', ...args] = scripts['start']?.split(' ') ?? [];
  expect(program).toBe('nightshift');
  await appendFile(at('.env'), '\nNIGHTSHIFT_API_KEYS=a-key-of-the-project-1234567:default\n');
  const started = start(args, { DATABASE_URL: database.url }, { cwd: folder });
  const [, url = ''] = await started.says('out', /is ready at (http:\S+)[^]*Settings from \S*\.env;/);
  client = createClient({ url, apiKey: 'a-key-of-the-project-1234567' });
  expect(await answerTo('call: order_status {"order": "A-17"}\n---\nsay: done')).toContain('lost');
  await expect(createClient({ url }).workers.list().all()).rejects.toMatchObject({ code: 'unauthorized' });
  started.signal('SIGTERM');
  expect(await started.done).toMatchObject({ code: 0 });
});

/** The package `nightshift` as npm links a clone, with the sources and packages of this one. */
async function linkClone(): Promise<void> {
  const clone = path.join(home, 'clone');
  await mkdir(clone);
  for (const name of ['package.json', 'src', 'node_modules'])
    await symlink(path.join(ROOT, name), path.join(clone, name));
  const link = "import(process.argv[1]).then(({ linkSources }) => linkSources('.'))";
  const program = pathToFileURL(path.join(ROOT, 'bootstrap-link.js')).href;
  await run(process.execPath, ['-e', link, program], { cwd: clone });
  await symlink(clone, at('node_modules/nightshift'));
}

async function change(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(at(file), 'utf8');
  expect(text).toContain(from);
  await writeFile(at(file), text.replace(from, to));
}

/** Resolves with the job once it has been accepted and has ended. */
async function begin(input: string): Promise<string> {
  const { job_id } = await client.workers.create({ name: 'ada', role: 'support', input });
  await client.jobs.wait(job_id);
  return job_id;
}

async function answerTo(input: string): Promise<string> {
  return resultsOf(await begin(input));
}

/** The conversation of a completed job. */
async function resultsOf(jobId: string): Promise<string> {
  const job = await client.jobs.get(jobId);
  expect(job).toMatchObject({ status: 'completed' });
  const messages = [];
  for await (const message of client.contexts.messages.list(job.context_id)) messages.push(message);
  return JSON.stringify(messages);
}
