// API and worker processes with logins of their own, which do not own the tables; row security limits that of the API.
import { afterAll, expect, inject, test } from 'vitest';
import { createClient, type Client } from '../../src/client/index.ts';
import { signIn } from '../console/rig/sign-in.ts';
import { withLogins } from '../services/logins.ts';
import { tablesWithRowsOf } from '../services/tenant-rows.ts';
import { killChildren, startChild } from './rig/children.ts';
import { withEnvironment } from './rig/environment.ts';
import { startApi, startWorker } from './rig/platform.ts';
import { until } from './rig/until.ts';

afterAll(killChildren);

const redis = inject('redisUrl') !== null;
const [OURS, THEIRS, ADMIN] = ['o'.repeat(32), 't'.repeat(32), 'a'.repeat(32)];

test.skipIf(!redis)(
  'two tenants run jobs, follow and steer them, and one of them is deleted',
  () =>
    withEnvironment(async (environment) => {
      const { DATABASE_URL = '', ...services } = environment.env;
      const logins = await withLogins(DATABASE_URL);
      const keys = { NIGHTSHIFT_API_KEYS: `${OURS}:acme,${THEIRS}:globex`, NIGHTSHIFT_ADMIN_KEY: ADMIN };
      const api = await startApi({ ...services, ...keys, NIGHTSHIFT_API_DATABASE_URL: logins.api });
      await startWorker({ ...services, DATABASE_URL: logins.worker });
      const url = `http://127.0.0.1:${api.env['PORT']}`;
      const [ours, theirs] = [OURS, THEIRS].map((apiKey) => createClient({ url, apiKey }));
      if (ours === undefined || theirs === undefined) throw new Error('no client');

      const both = [ours, theirs];
      const contexts = await Promise.all(
        both.map((client) => client.contexts.create({ worker: { name: 'w' }, config: { tools: ['ask_user'] } })),
      );
      const outputs = both.map(async (client, at) => {
        const id = contexts[at]?.id ?? '';
        const first = await client.contexts.run(id, { input: `say: answer ${at}` });
        const waiting = await client.contexts.send(id, `ask: ready?\n---\nsay: done ${at}`);
        await until('the question', async () => (await client.approvals.list().all()).length === 1);
        const [question] = await client.approvals.list().all();
        await client.tools.result(id, question?.tool_call_id ?? '', { content: 'yes' });
        const job = await client.jobs.wait(waiting.job_id);
        return [first.output?.text, job.status];
      });
      expect(await Promise.all(outputs)).toEqual([
        ['answer 0', 'completed'],
        ['answer 1', 'completed'],
      ]);
      const found = await theirs.contexts.get(contexts[0]?.id ?? '').catch((error: unknown) => error);
      expect(found).toMatchObject({ code: 'not_found' });
      const searched = async (client: Client): Promise<(string | undefined)[]> =>
        (await client.search({ q: 'answer' }).page()).data.map(({ context_id }) => context_id);
      // The index is filled a moment later.
      for (const [at, client] of both.entries())
        await until('its own answer in the search', async () => (await searched(client)).includes(contexts[at]?.id));
      expect(await searched(ours)).not.toContain(contexts[1]?.id);
      expect(await searched(theirs)).not.toContain(contexts[0]?.id);

      const [acme] = await environment.query(`select id from tenants where name = 'acme'`);
      // In a browser session of the operator, whose row has no tenant.
      const { value: session, name } = await signIn(url, ADMIN);
      const headers = { cookie: `${name}=${session}`, origin: url };
      expect((await fetch(`${url}/api/tenants/acme`, { method: 'DELETE', headers })).status).toBe(202);
      await until(
        'its deletion',
        async () => (await environment.query(`select 1 from tenants where name = 'acme'`)).length === 0,
      );
      expect(await tablesWithRowsOf((text) => environment.query(text), String(acme?.['id']))).toEqual([]);
      expect((await theirs.contexts.get(contexts[1]?.id ?? '')).id).toBe(contexts[1]?.id);
    }),
  120_000,
);

test.skipIf(!redis)(
  'an API does not start with a login that is not limited',
  () =>
    withEnvironment(async (environment) => {
      const { DATABASE_URL = '', ...services } = environment.env;
      const child = startChild('src/cli/main.ts', ['api'], {
        ...services,
        PORT: '0',
        NIGHTSHIFT_API_DATABASE_URL: DATABASE_URL,
      });
      await child.says(/Row security does not limit the login of NIGHTSHIFT_API_DATABASE_URL: it is a superuser\./);
      expect((await child.exited).code).toBe(1);
    }),
  60_000,
);
