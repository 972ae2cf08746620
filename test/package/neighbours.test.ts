// Processes of the release before this version, beside processes of this version, on one database: what happens while an
// installation is upgraded, or goes back. The release is the newest tag of an older minor version, packed and installed from its
// own sources.
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { start, type Env, type Running } from '../cli/command-line.ts';
import { OLDEST_VERSION, isOlder, minorBefore } from '../../src/db/setup/migrations-table.ts';
import { VERSION } from '../../src/package-files.ts';
import { openClient, type Client } from '../e2e/rig/client.ts';
import { createEmptyDatabase } from '../services/database.ts';
import { depth } from '../services/depth.ts';
import { testPrefix } from '../services/prefix.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { QUIET, install, pack } from './install-package.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const run = promisify(execFile);

const git = async (...args: string[]): Promise<string> => (await run('git', args, { cwd: ROOT })).stdout.trim();

const TAGS = await git('tag', '--list', 'v[0-9]*', '--merged', 'HEAD', '--sort=-version:refname')
  .then((tags) => tags.split('\n'))
  .catch(() => []);
/** The newest release of the minor version before this one. Null: there is none. */
const BEFORE = minorBefore(TAGS, VERSION);
const RELEASE = BEFORE === null ? null : `v${BEFORE}`;

const NOT_HERE =
  RELEASE === null
    ? 'there is no tag of a release of an older minor version'
    : depth(true, false)
      ? 'npm run test:full does it'
      : inject('redisUrl') === null
        ? 'there is no Redis'
        : null;

test('the release before is the newest one of an older minor version', () => {
  expect(minorBefore(['v0.2.1', 'v0.2.0', 'v0.10.1', 'v0.9.0', 'other'], '0.10.2')).toBe('0.9.0');
  expect(minorBefore(['v0.2.0', ''], '0.2.1')).toBeNull();
});

test('the oldest version that may run beside this one is the minor version before it', async () => {
  const oldest = BEFORE ?? VERSION;
  expect([isOlder(OLDEST_VERSION, oldest), isOlder(oldest, OLDEST_VERSION)]).toEqual([false, false]);
});

describe.skipIf(NOT_HERE !== null)(
  `${RELEASE ?? 'the release before'} beside this version${NOT_HERE === null ? '' : ` (skipped: ${NOT_HERE})`}`,
  () => {
    type Version = (args: readonly string[], env: Env) => Running;

    let folder = '';
    let before: Version;
    const now: Version = (args, env) => start(args, env);
    const servers: Running[] = [];

    beforeAll(async () => {
      folder = await temporaryFolder();
      const [sources, project] = ['sources', 'project'].map((name) => path.join(folder, name));
      if (sources === undefined || project === undefined) throw new Error('two folders');
      await Promise.all([sources, project].map((one) => mkdir(one)));
      await run('git', ['archive', '--output', path.join(folder, 'sources.tar'), RELEASE ?? ''], { cwd: ROOT });
      await run('tar', ['-xf', path.join(folder, 'sources.tar'), '-C', sources]);
      await run('npm', ['ci', '--prefer-offline', ...QUIET], { cwd: sources, maxBuffer: 1e8 });
      await install(await pack(sources, project), project);
      const program = path.join(project, 'node_modules/.bin/nightshift');
      before = (args, env) => start(args, env, { cwd: project, command: [process.execPath, program, ...args] });
    }, 900_000);

    afterAll(async () => {
      await stopped();
      await removeFolder(folder);
    });

    /** Ends all processes that a test has started. */
    async function stopped(): Promise<void> {
      const running = servers.splice(0);
      for (const server of running) server.signal('SIGTERM');
      await Promise.all(running.map(({ done }) => done));
    }

    async function startApi(version: Version, env: Env): Promise<Client> {
      const server = version(['api'], { ...env, PORT: '0' });
      servers.push(server);
      return openClient((await server.says('out', /"address":"(http:[^"]+)"/))[1] ?? '');
    }

    async function startWorker(version: Version, env: Env): Promise<Running> {
      const server = version(['worker'], env);
      servers.push(server);
      await server.says('out', /worker process is up/);
      return server;
    }

    async function migrate(version: Version, env: Env): Promise<void> {
      const { code, err } = await version(['migrate'], env).done;
      expect({ code, err }).toEqual({ code: 0, err: '' });
    }

    /** A job that waits for a person in the middle, and one of the same context after it. */
    async function works(client: Client, contextId: string): Promise<void> {
      const { job_id: waits } = await client.post(
        contextId,
        'call: remember {"key": "a", "value": "b"}\n---\nsay: kept',
      );
      await expect.poll(async () => (await client.approvals()).length).toBe(1);
      const [approval] = await client.approvals();
      await client.approve(contextId, { tool_call_id: approval?.tool_call_id, decision: 'approve' });
      const [first, second] = [
        await client.ended(waits),
        await client.ended((await client.post(contextId, 'say: again')).job_id),
      ];
      expect([first.status, first.output?.text, second.status, second.output?.text]).toEqual([
        'completed',
        'kept',
        'completed',
        'again',
      ]);
    }

    const CONFIG = {
      model: 'simulated/default',
      tools: ['remember'],
      approval: [{ tool: 'remember', decision: 'always' as const }],
    };

    test('an upgrade in the order of docs/upgrade.md, and back: each pair of versions works on the same contexts', async () => {
      const database = await createEmptyDatabase();
      const env = {
        DATABASE_URL: database.url,
        REDIS_URL: inject('redisUrl') ?? '',
        NIGHTSHIFT_PREFIX: testPrefix().replaceAll(/[{}]/g, ''),
      };
      try {
        await migrate(before, env);
        const [oldApi] = [await startApi(before, env), await startWorker(before, env)];
        const { id } = await oldApi.createContext(CONFIG);
        await works(oldApi, id);

        // The database first, while the old processes run.
        await migrate(now, env);
        await works(oldApi, id);
        expect(await oldApi.status('/readyz')).toBe(200);
        await stopped();

        const newApi = await startApi(now, env);
        await startWorker(before, env);
        await works(newApi, id);
        await stopped();

        const again = await startApi(before, env);
        await startWorker(now, env);
        await works(again, id);
        expect(await again.status('/readyz')).toBe(200);
        await stopped();

        // Both kinds of worker processes, one of which dies in the middle of a job.
        const client = await startApi(now, env);
        for (const [dies, goesOn] of [
          [before, now],
          [now, before],
        ] as const) {
          const killed = await startWorker(dies, env);
          const { job_id } = await client.post(id, 'wait: 3s\nsay: survived');
          await expect.poll(async () => (await client.job(job_id)).status).toBe('running');
          killed.signal('SIGKILL');
          await killed.done;
          await startWorker(goesOn, env);
          const { status, output } = await client.ended(job_id);
          expect([status, output?.text]).toEqual(['completed', 'survived']);
          const [api, ...workers] = servers.splice(0);
          if (api !== undefined) servers.push(api);
          for (const worker of workers) worker.signal('SIGTERM');
          await Promise.all(workers.map(({ done }) => done));
        }
        // `migrate` of the version before changes nothing.
        await migrate(before, env);
        await startWorker(now, env);
        await works(client, id);
      } finally {
        await stopped();
        await database.drop();
      }
    }, 600_000);
  },
);
