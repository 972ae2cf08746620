// `nightshift submissions`: which roles may submit jobs, as the operator grants it on the command line.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIN } from './command-line.ts';
import { connected } from '../services/connected.ts';
import { createEmptyDatabase, createFreshDatabase } from '../services/database.ts';

const ROLE = `web_${randomUUID().slice(0, 8)}`;

let databaseUrl: string;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ url: databaseUrl, drop } = await createFreshDatabase());
  await connected(databaseUrl, (sql) => sql.unsafe(`create role ${ROLE}`));
});
afterAll(async () => {
  await connected(databaseUrl, (sql) => sql.unsafe(`drop owned by ${ROLE}; drop role ${ROLE}`));
  await drop();
});

type Ran = { code: number; out: string; err: string };

const run = (...args: string[]): Promise<Ran> => runOn(databaseUrl, ...args);

async function runOn(url: string, ...args: string[]): Promise<Ran> {
  const env = { ...process.env, DATABASE_URL: url };
  return promisify(execFile)(process.execPath, [MAIN, 'submissions', ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      out: error.stdout,
      err: error.stderr,
    }),
  );
}

test('grants, lists and revokes', async () => {
  const acme = ['--role', ROLE, '--tenant', 'acme'];
  expect(await run('list')).toEqual({
    code: 0,
    out: 'No role may submit jobs, except the owner of the tables.\n',
    err: '',
  });
  expect(await run('grant', ...acme)).toEqual({
    code: 0,
    out: `The tenant acme did not exist, and was added.\nThe role ${ROLE} may submit jobs for the tenant acme, and settle its calls of transactional tools.\n`,
    err: '',
  });
  expect((await run('grant', ...acme)).out).toBe(
    `The role ${ROLE} may submit jobs for the tenant acme, and settle its calls of transactional tools.\n`,
  );
  expect((await run('list')).out).toBe(`${ROLE}\tacme\n`);
  expect((await run('revoke', ...acme)).out).toBe(`The role ${ROLE} may no longer submit jobs for the tenant acme.\n`);
  expect((await run('revoke', ...acme)).out).toBe(
    `The role ${ROLE} had no right to submit jobs for the tenant acme.\n`,
  );
});

test('a role that PostgreSQL does not have', async () => {
  expect(await run('grant', '--role', 'no_such_role', '--tenant', 'acme')).toEqual({
    code: 1,
    out: '',
    err: 'PostgreSQL has no role "no_such_role". Create it first, then grant again.\n',
  });
});

test('a database without tables, and one that does not answer', async () => {
  const empty = await createEmptyDatabase();
  const migrateFirst = 'The database has no tables of this version. Run `nightshift migrate` first.\n';
  for (const args of [['list'], ['grant', '--role', ROLE, '--tenant', 'acme']])
    expect(await runOn(empty.url, ...args)).toEqual({ code: 1, out: '', err: migrateFirst });
  await empty.drop();
  const { code, err } = await runOn('postgres://x:y@127.0.0.1:1/z', 'list');
  expect(code).toBe(1);
  expect(err).toBe('The database does not answer (ECONNREFUSED). Check DATABASE_URL, and run `nightshift doctor`.\n');
});

test.each([[[]], [['grant']], [['list', '--role', 'x']], [['take']], [['grant', '--role', 'x', '--tenant', 'a b']]])(
  'wrong arguments %j print the usage',
  async (args) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^Usage: nightshift submissions list\n/);
  },
);

test('the help has the options', async () => {
  const { code, out } = await run('--help');
  expect(code).toBe(0);
  expect(out).toContain('--role <role>');
});
