// The guides, followed literally in an empty folder, with the packages as npm would publish them: a new project, its tests,
// `nightshift dev`, a tool of one's own, the container files; then the code of the embedding guide, which enqueues in
// transactions, with a crash at each point.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { start, type Env, type Running } from '../cli/command-line.ts';
import { blocksOf, fileNameOf } from '../docs/blocks.ts';
import { rowsOf } from '../services/connected.ts';
import { createEmptyDatabase, type TestDatabase } from '../services/database.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';

const FIRST_PROJECT = 'docs/guides/first-project.md';
const EMBEDDING = 'docs/guides/embedding.md';
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

const run = promisify(execFile);

let home = '';
let folder = '';

const at = (name: string): string => path.join(folder, name);

/**
 * Of the shell of a user: without what vitest and this run have set, and with the Node of this run, which may not be the
 * first in the PATH of this machine.
 */
const ENV: Env = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value = '']) =>
      /^(?:VITEST|TEST$|NODE_|NIGHTSHIFT_|DATABASE_URL$|REDIS_URL$|CI$)/.test(name) && name !== 'NODE_EXTRA_CA_CERTS'
        ? []
        : [[name, value]],
    ),
  ),
  PATH: [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
};

/** What a command of a guide writes to stdout. Rejects where it fails. */
async function shell(command: string, { cwd = folder, env = {} }: { cwd?: string; env?: Env } = {}): Promise<string> {
  const { stdout } = await run('sh', ['-c', command], { cwd, env: { ...ENV, NO_COLOR: '1', ...env } });
  return stdout;
}

beforeAll(async () => {
  home = await temporaryFolder();
  folder = path.join(home, 'my-agents');
  const [block] = blocksOf(FIRST_PROJECT);
  expect(block?.text.split('\n').slice(0, 2)).toEqual(['npm create nightshift my-agents', 'cd my-agents']);
  const { create, nightshift } = inject('packed');
  // What `npm create nightshift` runs, and the packages that the guides install. Neither of ours is published yet.
  await shell(`npm exec --yes --package ${create} -- create-nightshift my-agents`, { cwd: home });
  await shell(`npm install ${QUIET.join(' ')} ${nightshift} fastify@5 postgres@3`);
});

afterAll(() => removeFolder(home));

test('npm create writes what nightshift init writes', async () => {
  await shell('npx nightshift init ../other');
  const files = ['nightshift.config.ts', 'tools/order-status.ts', 'Dockerfile', 'docker-compose.yml', '.gitignore'];
  for (const file of files)
    expect(await readFile(path.join(home, 'other', file), 'utf8')).toBe(await readFile(at(file), 'utf8'));
  const { dependencies } = JSON.parse(await readFile(path.join(home, 'other/package.json'), 'utf8'));
  expect(dependencies.nightshift).toMatch(/^\^\d+\.\d+\.\d+$/);
});

test('the tests of the new project pass, its types are right, and its Dockerfile has no fault', async () => {
  expect(await shell('npm test')).toMatch(/Tests\s+3 passed/);
  await shell('npm run typecheck');
  expect(validate(await readFile(at('Dockerfile'), 'utf8'))).toEqual([]);
});

/** A tool as the guide to tools writes them. */
const REFUND = `
import { appendFileSync } from 'node:fs';
import { defineTool } from 'nightshift';
import { z } from 'zod';

export const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  input: z.object({ order: z.string(), amount: z.number().positive().default(5) }),
  effect: 'idempotent',
  execute({ order, amount }, { tenant }) {
    appendFileSync('refunds', \`\${tenant} \${order.toUpperCase()} \${amount.toFixed(2)}\\n\`);
    return { order, amount };
  },
});
`;

const REFUND_TEST = `
import { runTool } from 'nightshift/testing';
import { expect, test } from 'vitest';
import { refund } from './refund.ts';

test('the default is filled in', async () => {
  const { output } = await runTool(refund, { order: 'b-04' });
  expect(output).toEqual({ order: 'b-04', amount: 5 });
});
`;

describe('nightshift dev', () => {
  let dev: Running;
  let env: Env;

  beforeAll(async () => {
    const program = at('node_modules/.bin/nightshift');
    dev = start(
      [],
      { PORT: '0', HOME: home },
      { cwd: folder, command: [process.execPath, program, 'dev', '--no-open'] },
    );
    const [, url = ''] = await dev.says('out', /"address":"(http:[^"]+)".*"msg":"ready"/);
    env = { NIGHTSHIFT_URL: url };
  });

  afterAll(async () => {
    dev.signal('SIGTERM');
    await dev.done;
  });

  test('a task for the role of the project, as the guide gives it', async () => {
    const task = blocksOf(FIRST_PROJECT).find(({ text }) =>
      text.startsWith("npx nightshift run --role support 'call:"),
    );
    expect(await shell(task?.text ?? 'false', { env })).toContain('It is on its way.');
  });

  test('a tool of one’s own has types, a test, and runs as soon as it is saved', async () => {
    await writeFile(at('tools/refund.ts'), REFUND);
    await writeFile(at('tools/refund.test.ts'), REFUND_TEST);
    const config = await readFile(at('nightshift.config.ts'), 'utf8');
    const withRefund = config
      .replace('import { orderStatus }', "import { refund } from './tools/refund.ts';\nimport { orderStatus }")
      .replace('tools: [orderStatus],', 'tools: [orderStatus, refund],')
      .replace('tools: [orderStatus.name],', 'tools: [orderStatus.name, refund.name],');
    await writeFile(at('nightshift.config.ts'), withRefund);
    await dev.says('out', /"tools":2,"roles":1,"msg":"reloaded"/);
    expect(await shell('npm test')).toMatch(/Tests\s+4 passed/);
    await shell('npm run typecheck');
    await shell(`npx nightshift run --role support 'call: refund {"order": "a-17"}\n---\nsay: paid'`, { env });
    expect(await readFile(at('refunds'), 'utf8')).toBe('default B-04 5.00\ndefault A-17 5.00\n');
    await writeFile(at('tools/wrong.ts'), REFUND.replace('amount.toFixed(2)', 'amount.toUpperCase()'));
    await expect(shell('npm run typecheck')).rejects.toMatchObject({ stdout: expect.stringContaining('toUpperCase') });
    await shell('rm tools/wrong.ts');
  });
});

describe('the guide to embedding', () => {
  let database: TestDatabase;

  const blockOf = (name: string): string => {
    const block = blocksOf(EMBEDDING).find((one) => fileNameOf(one) === name);
    if (block === undefined) throw new Error(`${EMBEDDING} has no ${name}.`);
    return block.text.replace(/'postgres:\/\/shop:[^']*'/, `'${database.url}'`);
  };

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await rowsOf(database.url, 'create table orders (id text primary key, job_id uuid not null)');
    await mkdir(at('shop'));
    for (const name of ['shop/nightshift.ts', 'shop/orders.ts', 'shop/ship-order.ts'])
      await writeFile(at(name), blockOf(name));
  });

  afterAll(() => database.drop());

  /** Runs a program beside the files of the guide; what it writes, as JSON. */
  async function program(text: string): Promise<unknown> {
    await writeFile(at('shop/program.ts'), text);
    return JSON.parse(await shell('node shop/program.ts'));
  }

  const END = 'await nightshift.stop();\n';

  test('a job without HTTP, with a tool that closes over an object of the service', async () => {
    const imports = ['nightshift', 'orders', 'ship-order'].map((name, index) => {
      const member = ['nightshift', 'orders', 'shipOrder'][index] ?? '';
      return `import { ${member} } from './${name}.ts';\n`;
    });
    const ask =
      "const text = await shipOrder('acme', 'A-17');\nconsole.log(JSON.stringify([text, orders.shipped()]));\n";
    const shipment = { order: 'A-17', tenant: 'acme', by: null };
    expect(await program(`${imports.join('')}${ask}${END}`)).toEqual(['shipped', [shipment]]);
  });

  test('the API in Fastify knows the callers of the service', async () => {
    const ask = `
const url = await app.listen({ port: 0, host: '127.0.0.1' });
const status = async (cookie: string) => (await fetch(\`\${url}/agents/api/workers\`, { headers: { cookie } })).status;
console.log(JSON.stringify([await status('session=alice'), await status('session=eve')]));
await app.close();
`;
    expect(await program(`${blockOf('shop/fastify.ts')}${ask}${END}`)).toEqual([200, 401]);
  });

  test('the API as a fetch handler', async () => {
    const stand =
      'const routes: any[] = [];\nconst app = { all: (_: string, handle: unknown) => void routes.push(handle) };\n';
    const ask = `
const status = async (authorization: string) => {
  const raw = new Request('http://service.test/agents/api/workers', { headers: { authorization } });
  return (await routes[0]({ req: { raw } })).status;
};
console.log(JSON.stringify([await status('Bearer my-secret'), await status('Bearer other')]));
`;
    expect(await program(`${blockOf('shop/hono.ts').replace(/^(?=app\.all)/m, stand)}${ask}${END}`)).toEqual([
      200, 401,
    ]);
  });

  /** Where the service dies: before the line of `placeOrder` that begins so. */
  const POINTS: Readonly<Record<string, string>> = {
    begun: 'const enqueued =',
    enqueued: 'await tx`insert',
    inserted: 'return enqueued;',
    committed: 'await nightshift.notify()',
    notified: 'return job_id;',
  };

  test('a commit leaves one job, and a rollback none, wherever the service dies', async () => {
    const text = Object.entries(POINTS).reduce((code, [name, line]) => {
      expect(code.split(line)).toHaveLength(2);
      return code.replace(line, `if (process.env.DIES === '${name}') process.kill(process.pid, 'SIGKILL');\n${line}`);
    }, blockOf('shop/place-order.ts'));
    await writeFile(at('shop/place-order.ts'), text);
    await writeFile(at('shop/place.ts'), PLACE);
    const place = async (order: string, env: Env = {}): Promise<string> =>
      (await run(process.execPath, ['shop/place.ts', order], { cwd: folder, env })).stdout;
    for (const name of Object.keys(POINTS))
      await expect(place(name, { DIES: name })).rejects.toMatchObject({ stdout: '', signal: 'SIGKILL' });
    expect(await place('fine')).toMatch(/^[0-9a-f-]{36}\n$/);
    // The order exists, so the transaction is rolled back after its job was enqueued.
    expect(await place('fine')).toContain('duplicate key');
    const kept = ['committed', 'fine', 'notified'];
    const orders = await rowsOf(database.url, 'select id from orders order by id');
    expect(orders).toEqual(kept.map((id) => ({ id })));
    await writeFile(at('shop/program.ts'), SETTLE);
    const jobs: unknown = JSON.parse(await shell('node shop/program.ts'));
    expect(jobs).toEqual(['A-17', ...kept].map((id) => [`order ${id}`, 'completed']));
    expect(await rowsOf(database.url, 'select id from nightshift.submissions')).toEqual([]);
  });

  const PLACE = `
import { placeOrder } from './place-order.ts';

console.log(await placeOrder('acme', process.argv[2] ?? '').catch((error: Error) => error.message));
process.exit();
`;

  /** Waits for every job of the tenant, also those whose worker process has died, and tells which there are. */
  const SETTLE = `
import { nightshift } from './nightshift.ts';

const client = nightshift.tenant('acme');
const unfinished = async () => (await client.jobs.list().all()).filter(({ finished_at }) => finished_at === null);
const submitted = async () => (await client.workers.list().all()).length < 4;
while (await submitted()) await new Promise((done) => setTimeout(done, 200));
for (const { id } of await unfinished()) await client.jobs.wait(id);
const jobs = await client.jobs.list().all();
console.log(JSON.stringify(jobs.map((job) => [job.worker_name, job.status]).sort()));
${END}`;
});

test('what the project writes beside its code is not for git', async () => {
  await shell('git init --quiet');
  const untracked = await shell('git status --short --untracked-files=all');
  expect(untracked).not.toMatch(/\.env$|\.nightshift|node_modules/m);
  expect(untracked).toContain('?? tools/order-status.ts');
});
