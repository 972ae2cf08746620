// The platform behind PgBouncer in transaction mode, with the file of docs/deploy.md: API and worker processes share
// sessions of the server, only heartbeats and migrations do not. And what it says where PgBouncer is set up otherwise.
import { afterEach, describe, expect, inject, test } from 'vitest';
import { createClient, type Client } from '../../src/client/index.ts';
import { createEmptyDatabase } from '../services/database.ts';
import { withLogins } from '../services/logins.ts';
import { DOCUMENTED_INI, pgBouncerMissing, startPgBouncer, type PgBouncer } from '../services/pgbouncer.ts';
import { rowsOf } from '../services/connected.ts';
import { testPrefix } from '../services/prefix.ts';
import { killChildren, startChild, type Ended } from './rig/children.ts';
import { withEnvironment } from './rig/environment.ts';
import { startApi, startWorker } from './rig/platform.ts';
import { until } from './rig/until.ts';

const MISSING = (await pgBouncerMissing()) ?? (inject('redisUrl') === null ? 'there is no Redis' : null);
const [OURS, THEIRS] = ['o'.repeat(32), 't'.repeat(32)];

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  await killChildren();
  for (const close of opened.splice(0).reverse()) await close();
});

async function bouncerFor(ini: string, server: string, logins: readonly string[]): Promise<PgBouncer> {
  const bouncer = await startPgBouncer(ini, server, logins);
  opened.push(() => bouncer.remove());
  return bouncer;
}

/** Fewer sessions than connections, so that every session serves several processes. */
const FEW = DOCUMENTED_INI.replace(/default_pool_size = \d+/, 'default_pool_size = 3');

describe.skipIf(MISSING !== null)(`behind PgBouncer${MISSING === null ? '' : ` (skipped: ${MISSING})`}`, () => {
  test(
    'jobs of two tenants run, survive a killed worker process and a restart of PgBouncer, and no tenant sees the other',
    () =>
      withEnvironment(async ({ env: { DATABASE_URL = '', ...services } }) => {
        expect(FEW).not.toBe(DOCUMENTED_INI);
        const logins = await withLogins(DATABASE_URL);
        const bouncer = await bouncerFor(FEW, DATABASE_URL, [logins.api, logins.worker]);
        const keys = { NIGHTSHIFT_API_KEYS: `${OURS}:acme,${THEIRS}:globex` };
        const apiEnv = {
          ...services,
          ...keys,
          NIGHTSHIFT_API_DATABASE_URL: bouncer.urlOf('nightshift_api', logins.api),
          NIGHTSHIFT_DATABASE_POOL_SIZE: '8',
        };
        const workerEnv = {
          ...services,
          DATABASE_URL: bouncer.urlOf('nightshift', logins.worker),
          NIGHTSHIFT_DIRECT_DATABASE_URL: logins.worker,
          NIGHTSHIFT_LEASE_MS: String(LEASE_MS),
          NIGHTSHIFT_DATABASE_POOL_SIZE: '8',
        };
        const api = await startApi(apiEnv);
        const url = `http://127.0.0.1:${api.env['PORT']}`;
        const tenants = [OURS, THEIRS].map((apiKey) => createClient({ url, apiKey }));
        const killed = await startWorker(workerEnv);

        // Each tenant reads while both write, through the same sessions.
        const worked = await Promise.all(tenants.map((client, at) => answersOf(client, `answer of ${at}`)));
        expect(worked).toEqual(tenants.map((_, at) => Array.from({ length: 6 }, () => `answer of ${at}`)));
        const seen = await Promise.all(
          Array.from({ length: 40 }, async (_, at) => {
            const jobs = await (tenants[at % 2] as Client).jobs.list({ limit: 200 }).all();
            return jobs.length === 6 && jobs.every(({ output }) => output?.text === `answer of ${at % 2}`);
          }),
        );
        expect(seen).toEqual(Array.from({ length: 40 }, () => true));
        await sessionsAreClean(bouncer.urlOf('nightshift_api', logins.api));

        // The lock of a killed process is gone with its direct session, so another one takes over without the lease.
        const [ours] = tenants;
        if (ours === undefined) throw new Error('no client');
        const { id } = await ours.contexts.create({ worker: { name: 'w' } });
        const { job_id } = await ours.contexts.send(id, 'wait: 2s\nsay: survived');
        await until('the job to run', async () => (await ours.jobs.get(job_id)).status === 'running');
        killed.signal('SIGKILL');
        await killed.exited;
        const died = performance.now();
        await startWorker(workerEnv);
        expect((await ours.jobs.wait(job_id)).output?.text).toBe('survived');
        expect(performance.now() - died).toBeLessThan(LEASE_MS);

        // Connections are cut in the middle of transactions; requests are refused in the meantime at most.
        await bouncer.stop();
        expect((await fetch(`${url}/readyz`)).status).toBe(503);
        await bouncer.start();
        await until('the API to be ready', async () => (await fetch(`${url}/readyz`)).status === 200);
        expect((await ours.contexts.run(id, { input: 'say: after the restart' })).output?.text).toBe(
          'after the restart',
        );
      }),
    240_000,
  );

  test('each command says what it needs, and ends', async () => {
    const empty = await createEmptyDatabase();
    opened.push(() => empty.drop());
    const bouncer = await bouncerFor(DOCUMENTED_INI, empty.url, [empty.url]);
    const statements = await bouncerFor(
      DOCUMENTED_INI.replace('pool_mode = transaction', 'pool_mode = statement'),
      empty.url,
      [empty.url],
    );
    const services = { REDIS_URL: inject('redisUrl') ?? '', NIGHTSHIFT_PREFIX: testPrefix().replaceAll(/[{}]/g, '') };
    const pooled = { ...services, DATABASE_URL: bouncer.urlOf('nightshift', empty.url) };
    const direct = { NIGHTSHIFT_DIRECT_DATABASE_URL: empty.url };

    expect(await ended('migrate', pooled)).toMatch(
      /The URL of the database leads to a pooler that pools transactions\..*\(session_needed\)$/,
    );
    expect(await ended('migrate', { ...pooled, ...direct }, 0)).toMatch(/^Applied to the schema nightshift: /);
    expect(await ended('worker', pooled)).toMatch(
      /^DATABASE_URL leads to a pooler that pools transactions\..*\(session_needed\)$/,
    );
    for (const [command, more] of [
      ['api', {}],
      ['worker', direct],
    ] as const) {
      const url = { DATABASE_URL: statements.urlOf('nightshift', empty.url), PORT: '0' };
      const line = await ended(command, { ...services, ...url, ...more });
      expect(line).toMatch(
        /^DATABASE_URL leads to a pooler that pools statements.*pool_mode = transaction.*\(statement_pooling\)$/,
      );
    }
    expect(await poolingFinding(pooled)).toMatch(/^fail +pooling +DATABASE_URL leads to .* \(session_needed\)$/);
    expect(await poolingFinding({ ...pooled, ...direct })).toMatch(
      /^ok +pooling +transactions share the sessions of a pooler$/,
    );
    const worker = await startWorker({ ...pooled, ...direct });
    expect(worker.lines.filter((line) => line.includes('"level":40'))).toEqual([]);
    // With the limits of worker processes.
    const api = await startApi(pooled);
    expect(api.child.lines.join('\n')).toContain('Set lock_timeout = 300 in connect_query.');
  }, 120_000);
});

/** Much longer than the takeover of a context whose process is found dead by its lock, on a busy machine too. */
const LEASE_MS = 120_000;

/** Six jobs at once, each of a context of its own, and what they answer. */
async function answersOf(client: Client, text: string): Promise<(string | undefined)[]> {
  return Promise.all(
    Array.from({ length: 6 }, async () => {
      const { id } = await client.contexts.create({ worker: { name: 'w' }, config: { tools: ['remember'] } });
      const input = `call: remember {"key": "a", "value": "b"}\n---\nsay: ${text}`;
      return (await client.contexts.run(id, { input })).output?.text;
    }),
  );
}

/** No session keeps the tenant of the transaction before, and each has prepared statements for its clients. */
async function sessionsAreClean(url: string): Promise<void> {
  for (let look = 0; look < 20; look += 1) {
    const [session] = await rowsOf(
      url,
      `select coalesce(current_setting('nightshift.tenant', true), '') as tenant, (select count(*) from tenants)::int as rows,
        (select count(*) from pg_prepared_statements where starts_with(name, 'PGBOUNCER_'))::int as prepared`,
    );
    expect(session).toMatchObject({ tenant: '', rows: 0 });
    expect(session?.['prepared']).toBeGreaterThan(0);
  }
}

/** The line of `doctor`. */
async function poolingFinding(env: Record<string, string>): Promise<string> {
  return startChild('src/cli/main.ts', ['doctor'], env).says(/ pooling /);
}

/** The last line of a command that ends by itself. */
async function ended(command: string, env: Record<string, string>, code = 1): Promise<string> {
  const child = startChild('src/cli/main.ts', [command], env);
  expect(await child.exited, child.lines.join('\n')).toEqual<Ended>({ code, signal: null });
  expect(child.lines.join('\n')).not.toMatch(/\n\s+at /);
  return child.lines.at(-1) ?? '';
}
