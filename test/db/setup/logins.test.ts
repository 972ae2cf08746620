// Logins that do not own the tables: what they may do, and which are refused.
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { inspectDatabase } from '../../../src/db/setup/inspect.ts';
import { migrate } from '../../../src/db/setup/migrate.ts';
import { describeSchemaProblem } from '../../../src/db/setup/schema-state.ts';
import { connected } from '../../services/connected.ts';
import { createEmptyDatabase, type TestDatabase } from '../../services/database.ts';

const SCHEMA = 'of_owner';
const DENIED = '42501';
/** Tables without rows of tenants. */
const OPEN = ['migrations', 'outbox_receipts', 'processes'];
/** The owner's views search them: not forced, so that PostgreSQL uses their statistics. */
const SEARCHED = ['jobs', 'search_entries'];

const tag = randomBytes(4).toString('hex');
const [owner, api, worker] = [
  `nightshift_test_owner_${tag}`,
  `nightshift_test_api_${tag}`,
  `nightshift_test_worker_${tag}`,
];
const logins = { api, worker };
let database: TestDatabase;

/** The database as a login sees it; without a name: as the superuser of the tests. */
function urlFor(login?: string): string {
  const url = new URL(database.url);
  if (login !== undefined) [url.username, url.password] = [login, 'secret'];
  return url.href;
}

const connections = new Map<string, postgres.Sql>();

/** On the one connection of the login. Settings end with the call. */
async function ask(login: string | undefined, text: string): Promise<Record<string, unknown>[]> {
  const url = urlFor(login);
  const connection = { search_path: SCHEMA };
  const client = connections.get(url) ?? postgres(url, { max: 1, onnotice: () => undefined, connection });
  connections.set(url, client);
  try {
    return [...(await client.unsafe(text))];
  } finally {
    await client.unsafe('reset all');
  }
}

const codeOf = (login: string, text: string): Promise<unknown> =>
  ask(login, text).then(
    () => null,
    (error: unknown) => (error instanceof postgres.PostgresError ? error.code : error),
  );

beforeAll(async () => {
  database = await createEmptyDatabase();
  await ask(undefined, `create role ${owner} login createrole password 'secret'`);
  await ask(owner, `create role ${api} login password 'secret'; create role ${worker} login password 'secret'`);
  const [row] = await ask(undefined, 'select current_database() as name');
  await ask(undefined, `grant create on database ${String(row?.['name'])} to ${owner}`);
  await migrate(urlFor(owner), SCHEMA, logins);
  await ask(worker, `insert into tenants (id, name) values (77, 'acme'), (78, 'globex')`);
});
afterAll(async () => {
  for (const client of connections.values()) await client.end();
  await database.drop();
  // Outside of their database, which is gone.
  await connected(inject('databaseUrl'), async (sql) => {
    for (const login of [worker, api, owner]) await sql.unsafe(`drop role if exists ${login}`);
  });
});

test.for([api, worker])(
  '%s reads and writes rows, and changes no table and no entry of the audit log',
  async (login) => {
    const tables = (await ask(undefined, `select tablename as name from pg_tables where schemaname = '${SCHEMA}'`)).map(
      ({ name }) => String(name),
    );
    expect(tables.length).toBeGreaterThan(20);
    for (const table of tables) {
      // Of all tenants: for worker processes only.
      const isHidden = login === api && table === 'outbox_receipts';
      expect(await codeOf(login, `select * from ${table}`), table).toBe(isHidden ? DENIED : null);
      for (const statement of [`alter table ${table} add column x int`, `truncate ${table}`, `drop table ${table}`])
        expect(await codeOf(login, statement), statement).toBe(DENIED);
      const isFixed = ['audit_entries', 'migrations'].includes(table);
      expect(await codeOf(login, `delete from ${table} where false`), table).toBe(isFixed || isHidden ? DENIED : null);
    }
    expect(await codeOf(login, `update audit_entries set action = 'x' where false`)).toBe(DENIED);
    expect(await codeOf(login, `update migrations set hash = 'x' where false`)).toBe(DENIED);
    expect(await codeOf(login, `insert into migrations (hash, created_at) values ('x', 1)`)).toBe(DENIED);
    expect(await codeOf(login, 'create table more (id int)')).toBe(DENIED);
    expect(await codeOf(login, 'alter table tenants disable row level security')).toBe(DENIED);
  },
);

test('entries of the audit log go with their tenant, and by the login of workers only', async () => {
  const id = '77';
  await ask(
    api,
    `set nightshift.tenant = '${id}';
     insert into audit_entries (id, tenant_id, actor_kind, action, target, detail)
     values (gen_random_uuid(), ${id}, 'key', 'key.created', 'x', '{}')`,
  );
  expect(await codeOf(api, `select delete_audit_entries(${id}, 10)`)).toBe(DENIED);
  expect(await ask(worker, `select delete_audit_entries(${id}, 10) as count`)).toEqual([{ count: 0 }]);
  await ask(worker, `update tenants set status = 'deleting', deletion = '{}' where id = ${id}`);
  expect(await ask(worker, `select delete_audit_entries(${id}, 10) as count`)).toEqual([{ count: 1 }]);
});

test('the login of the API sees rows of the tenant that its transaction names, and none without', async () => {
  const names = (setting: string): Promise<unknown> =>
    ask(api, `set nightshift.tenant = '${setting}'; select name from tenants order by name`).then((answers) =>
      answers.flat().map((row) => (typeof row === 'object' && 'name' in row ? row.name : null)),
    );
  expect(await ask(api, 'select name from tenants')).toEqual([]);
  expect(await names('')).toEqual([]);
  expect(await names('78')).toEqual(['globex']);
  expect(await names('*')).toEqual(['acme', 'default', 'globex']);
  expect(await codeOf(api, `set nightshift.tenant = '78'; insert into tenants (id, name) values (79, 'x')`)).toBe(
    DENIED,
  );
});

test('so do the views that it searches, through which nothing is written', async () => {
  const rows = (setting: string): string => `set nightshift.tenant = '${setting}';
    select (select count(*)::int from tenant_job_metadata) as jobs, (select count(*)::int from tenant_search_entries) as entries`;
  const counts = async (setting: string): Promise<unknown> => (await ask(api, rows(setting))).flat().at(-1);
  for (const id of [81, 82]) {
    await ask(worker, `insert into tenants (id, name) values (${id}, 'searched ${id}')`);
    await ask(
      worker,
      `insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, position, metadata)
       values (gen_random_uuid(), ${id}, gen_random_uuid(), gen_random_uuid(), 'retry', 'main', 1, '{"of": "${id}"}');
       insert into search_entries (context_id, seq, tenant_id, message_id, role, created_at, document)
       values (gen_random_uuid(), 1, ${id}, gen_random_uuid(), 'user', now(), 'word')`,
    );
  }
  expect(await counts('')).toEqual({ jobs: 0, entries: 0 });
  expect(await counts('81')).toEqual({ jobs: 1, entries: 1 });
  expect(await counts('83')).toEqual({ jobs: 0, entries: 0 });
  expect(await counts('*')).toEqual({ jobs: 2, entries: 2 });
  for (const login of [api, worker])
    for (const view of ['tenant_job_metadata', 'tenant_search_entries']) {
      expect(await codeOf(login, `delete from ${view} where false`), view).toBe(DENIED);
      expect(await codeOf(login, `update ${view} set tenant_id = 1 where false`), view).toBe(DENIED);
      expect(await codeOf(login, `insert into ${view} (tenant_id) values (1)`), view).toBe(DENIED);
    }
});

test('every table with rows of tenants has its policies, also after a migration that names no logins', async () => {
  const tables = `select c.relname as name, c.relrowsecurity as secured, c.relforcerowsecurity as forced,
      (select count(*)::int from pg_policies p where p.schemaname = '${SCHEMA}' and p.tablename = c.relname) as policies
    from pg_class c where c.relnamespace = '${SCHEMA}'::regnamespace and c.relkind = 'r' order by 1`;
  const open = (await ask(undefined, tables)).filter(({ secured }) => secured !== true).map(({ name }) => name);
  // Rows of no tenant, and of all.
  expect(open).toEqual(OPEN);
  await migrate(urlFor(owner), SCHEMA);
  expect((await ask(undefined, tables)).filter(({ secured }) => secured !== true).map(({ name }) => name)).toEqual(
    OPEN,
  );
  await migrate(urlFor(owner), SCHEMA, logins);
  const secured = (await ask(undefined, tables)).filter(({ policies }) => policies === 3);
  expect(secured.length).toBeGreaterThan(20);
  expect(secured.filter(({ forced }) => forced !== true).map(({ name }) => name)).toEqual(SEARCHED);
});

test('worker processes see the transactions of API processes, and may end their sessions', async () => {
  expect(await ask(worker, `select pg_has_role('${api}', 'usage') as yes`)).toEqual([{ yes: true }]);
  expect(await ask(api, `select pg_has_role('${worker}', 'usage') as yes`)).toEqual([{ yes: false }]);
});

test('a second migration gives the same rights again, also for a table that is new', async () => {
  await ask(owner, 'create table later (id int)');
  onTestFinished(async () => void (await ask(owner, 'drop table later')));
  expect(await codeOf(api, 'select * from later')).toBe(DENIED);
  await migrate(urlFor(owner), SCHEMA, logins);
  expect(await codeOf(api, 'select * from later')).toBe(null);
  expect(await codeOf(api, 'delete from audit_entries where false')).toBe(DENIED);
});

test('a login that is not there, owns the tables, or stands above rights is refused, and so is one for both', async () => {
  const refusal = (login: string, other = worker) => migrate(urlFor(owner), SCHEMA, { api: login, worker: other });
  await expect(refusal('nightshift_test_missing')).rejects.toThrow(
    'PostgreSQL has no login “nightshift_test_missing”.',
  );
  await expect(refusal(owner)).rejects.toThrow('has the rights of one that owns the tables');
  await expect(refusal(new URL(database.url).username)).rejects.toThrow('is a superuser or bypasses row security');
  await expect(refusal(api, api)).rejects.toThrow('need two different logins');
  await expect(refusal(worker, api)).rejects.toThrow(`The login “${worker}” has the rights of “${api}”`);
  const before = await ask(undefined, `select count(*)::int from pg_policies where schemaname = '${SCHEMA}'`);
  await migrate(database.url, SCHEMA, logins);
  expect(await ask(undefined, `select count(*)::int from pg_policies where schemaname = '${SCHEMA}'`)).toEqual(before);
  await expect(migrate(database.url, SCHEMA, { api: owner, worker })).rejects.toThrow('owns the tables');
});

test('what keeps row security from limiting the login of an API process is found, with what to do', async () => {
  const other = `nightshift_test_other_${tag}`;
  await ask(undefined, `create role ${other} login password 'secret'`);
  onTestFinished(() =>
    connected(inject('databaseUrl'), async (sql) => void (await sql.unsafe(`drop role if exists ${other}`))),
  );
  const problemOf = async (login?: string): Promise<string | null> => {
    const { schema } = await inspectDatabase(urlFor(login), SCHEMA, 'to be limited');
    return describeSchemaProblem(schema);
  };
  const migrateLogins = 'Run `nightshift migrate` with NIGHTSHIFT_API_LOGIN and NIGHTSHIFT_WORKER_LOGIN';
  const isNotLimited = 'Row security does not limit the login of NIGHTSHIFT_API_DATABASE_URL';

  expect(await problemOf(api)).toBe(null);
  expect(await problemOf()).toContain(`${isNotLimited}: it is a superuser. Use another login. ${migrateLogins}`);
  expect(await problemOf(owner)).toContain('it has the rights of the login that owns the tables. Use another login.');
  expect(await problemOf(worker)).toContain('it has the rights of the login of worker processes. Use another login.');

  expect(await problemOf(other)).toContain(`The login of NIGHTSHIFT_API_DATABASE_URL sees no tables. ${migrateLogins}`);
  // Rights given by hand: `migrate` ran without the name of this login.
  await ask(
    owner,
    `grant usage on schema ${SCHEMA} to ${other}; grant select on all tables in schema ${SCHEMA} to ${other}`,
  );
  expect(await problemOf(other)).toContain(`${isNotLimited}: the tables have no policy for it. ${migrateLogins}`);
  await ask(undefined, `grant ${worker} to ${other}`);
  expect(await problemOf(other)).toContain('it has the rights of the login of worker processes.');
  await ask(undefined, `revoke ${worker} from ${other}; grant ${owner} to ${other}`);
  expect(await problemOf(other)).toContain('it has the rights of the login that owns the tables.');
  await ask(undefined, `revoke ${owner} from ${other}; alter role ${other} bypassrls`);
  expect(await problemOf(other)).toContain('it bypasses row security.');
  await ask(
    owner,
    `revoke all on schema ${SCHEMA} from ${other}; revoke all on all tables in schema ${SCHEMA} from ${other}`,
  );

  await ask(owner, 'alter table tenants disable row level security');
  expect(await problemOf(api)).toContain('the tables have no policy for it.');
  await migrate(urlFor(owner), SCHEMA, logins);
  expect(await problemOf(api)).toBe(null);
});
