// Which roles of PostgreSQL may enqueue for which tenants, and what is refused before or by the statement.
import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SUBMISSION_BYTES } from '../../src/core/submissions/submission.ts';
import { createNightshift, type EnqueueJob, type Enqueued, type Nightshift } from '../../src/index.ts';
import { openDatabase, type Database } from '../../src/db/connection/client.ts';
import { addGrant, listGrants, removeGrant } from '../../src/db/submissions/grants.ts';
import { connected } from '../services/connected.ts';
import { createEmptyDatabase, createFreshDatabase } from '../services/database.ts';
import { withLogins } from '../services/logins.ts';

const SCHEMA = 'nightshift';
/** Roles belong to the whole server. */
const ROLE = `shop_${randomUUID().slice(0, 8)}`;

let own: Awaited<ReturnType<typeof createFreshDatabase>>;
let nightshift: Nightshift;
let database: Database;
/** One session, as this role. */
let shop: postgres.Sql;
beforeAll(async () => {
  own = await createFreshDatabase();
  nightshift = await createNightshift({ databaseUrl: own.url, logger: 'silent' });
  database = openDatabase(own.url, { max: 2 });
  shop = postgres(own.url, { max: 1, onnotice: () => undefined });
  await shop.unsafe(`create role ${ROLE} noinherit`);
  await shop.unsafe(`set role ${ROLE}`);
});
afterAll(async () => {
  await shop.unsafe('reset role');
  await shop.unsafe(`drop owned by ${ROLE}`);
  await shop.unsafe(`drop role ${ROLE}`);
  await shop.end();
  await database.close();
  await nightshift.stop();
  await own.drop();
});

const job = (tenant: string): EnqueueJob => ({
  tenant,
  name: 'w',
  config: { model: 'simulated/default' },
  input: 'say: hello',
});
/** In a transaction of its own. */
const enqueueIn = (sql: postgres.Sql, given: EnqueueJob): Promise<Enqueued> =>
  sql.begin((tx) => nightshift.enqueue(tx, given));
const grant = (tenant: string) => database.transaction((tx) => addGrant(tx, SCHEMA, { role: ROLE, tenant }));
const revoke = (tenant: string) => database.transaction((tx) => removeGrant(tx, { role: ROLE, tenant }));

test('a role submits for the tenants of its grants, and can do nothing else', async () => {
  const refused = { name: 'NightshiftEnqueueError', code: 'not_granted' };
  await expect(enqueueIn(shop, job('acme'))).rejects.toMatchObject(refused);
  expect(await grant('acme')).toEqual({ kind: 'granted', addsTenant: false });
  const { job_id } = await enqueueIn(shop, job('acme'));
  expect(await nightshift.tenant('acme').jobs.get(job_id)).toMatchObject({ status: 'queued' });
  await expect(enqueueIn(shop, job('other'))).rejects.toMatchObject({
    ...refused,
    message: `The database role "${ROLE}" may not submit jobs for the tenant "other". Run: nightshift submissions grant --role <role> --tenant other`,
  });
  for (const table of ['submissions', 'submission_grants', 'jobs', 'tenants'])
    await expect(shop.unsafe(`select 1 from ${SCHEMA}.${table}`)).rejects.toMatchObject({ code: '42501' });
  expect(await listGrants(database.db)).toEqual([{ role: ROLE, tenant: 'acme' }]);
  expect(await grant('acme')).toEqual({ kind: 'granted', addsTenant: false });
  expect(await grant('other')).toEqual({ kind: 'granted', addsTenant: false });
  expect(await revoke('acme')).toBe(true);
  expect(await revoke('acme')).toBe(false);
  await expect(enqueueIn(shop, job('acme'))).rejects.toMatchObject(refused);
  await enqueueIn(shop, job('other'));
  // With the last grant the rights of the role end.
  expect(await revoke('other')).toBe(true);
  await expect(enqueueIn(shop, job('other'))).rejects.toMatchObject({
    ...refused,
    message: expect.stringContaining('The database role of the transaction may not submit jobs.'),
  });
  await expect(shop.unsafe(`select ${SCHEMA}.nightshift_submit_v1('other', '{}')`)).rejects.toMatchObject({
    code: '42501',
  });
});

test('the last revoke leaves the usage of the schema, which the role may have for another reason', async () => {
  await database.db.execute(`grant usage on schema ${SCHEMA} to ${ROLE}`);
  await grant('acme');
  await revoke('acme');
  const [usage] = await shop.unsafe(`select has_schema_privilege('${ROLE}', '${SCHEMA}', 'usage') as given`);
  expect(usage).toEqual({ given: true });
});

test('a role does not have the grants of a dropped one of its name', async () => {
  const role = `former_${randomUUID().slice(0, 8)}`;
  const grantTo = (tenant: string) => database.transaction((tx) => addGrant(tx, SCHEMA, { role, tenant }));
  await database.db.execute(`create role ${role}`);
  expect(await grantTo('typed')).toEqual({ kind: 'granted', addsTenant: true });
  await database.db.execute(`drop owned by ${role}; drop role ${role}; create role ${role}`);
  await grantTo('acme');
  await grantTo('other');
  expect(await listGrants(database.db)).toEqual([
    { role, tenant: 'acme' },
    { role, tenant: 'other' },
  ]);
  await database.db.execute(`drop owned by ${role}; drop role ${role}; delete from submission_grants`);
});

test('a role that PostgreSQL does not have gets no grant', async () => {
  const absent = { role: 'no_such_role', tenant: 'acme' };
  expect(await database.transaction((tx) => addGrant(tx, SCHEMA, absent))).toEqual({ kind: 'no_role' });
  expect(await listGrants(database.db)).toEqual([]);
});

test('objects in the search path of the caller are not used', async () => {
  await database.db.execute(`create schema trap_${ROLE} authorization ${ROLE}`);
  await grant('acme');
  await shop.unsafe(`create table trap_${ROLE}.submissions (like pg_class)`);
  await shop.unsafe('create temp table tenants (id int)');
  await shop.unsafe(`set search_path = trap_${ROLE}, public`);
  const { job_id } = await enqueueIn(shop, job('acme'));
  await shop.unsafe('reset search_path');
  expect(await nightshift.tenant('acme').jobs.get(job_id)).toMatchObject({ status: 'queued' });
  await revoke('acme');
});

test('logins that row security separates keep what they were granted', async () => {
  const { worker } = await withLogins(own.url);
  const workers = { role: new URL(worker).username, tenant: 'acme' };
  await database.transaction((tx) => addGrant(tx, SCHEMA, workers));
  await withLogins(own.url);
  const sql = postgres(worker, { max: 1 });
  const { job_id } = await enqueueIn(sql, job('acme'));
  await sql.end();
  expect(await nightshift.tenant('acme').jobs.get(job_id)).toMatchObject({ status: 'queued' });
  await database.transaction((tx) => removeGrant(tx, workers));
});

const submit = (tenant: string, submission: string) =>
  database.db.execute(`select nightshift_submit_v1('${tenant}', '${submission}')`);

test.each([
  ['no JSON', 'x', 'NS004'],
  ['no object', '[]', 'NS004'],
  ['an id that is none', '{"job_id":"1"}', 'NS004'],
  ['no context', `{"job_id":"${randomUUID()}"}`, 'NS004'],
  ['an absent context', `{"job_id":"${randomUUID()}","context_id":"${randomUUID()}"}`, 'NS005'],
  ['too many bytes', `{"x":"${'x'.repeat(SUBMISSION_BYTES)}"}`, 'NS003'],
])('the function refuses %s', async (_, submission, code) => {
  await nightshift.tenant('acme').jobs.list().all();
  await expect(submit('acme', submission)).rejects.toMatchObject({ cause: { code } });
});

test('a tenant that is suspended gets no submission', async () => {
  await nightshift.tenant('asleep').jobs.list().all();
  await database.db.execute(`update tenants set status = 'suspended' where name = 'asleep'`);
  await expect(enqueueAsOwner(job('asleep'))).rejects.toMatchObject({ code: 'tenant_suspended' });
});

/** In a transaction of the owner. */
function enqueueAsOwner(given: EnqueueJob): Promise<Enqueued> {
  return connected(own.url, (sql) => enqueueIn(sql, given));
}

test('an invalid job is refused before anything is written, with all faults', async () => {
  const wrong = { ...job('acme'), role: 7, input: { content: '', priority: 99 } };
  // @ts-expect-error role is a text
  const refused = enqueueAsOwner(wrong);
  await expect(refused).rejects.toMatchObject({
    code: 'invalid_request',
    faults: expect.arrayContaining([
      expect.stringContaining('role'),
      expect.stringContaining('input.content'),
      expect.stringContaining('input.priority'),
    ]),
  });
  const input = { tenant: 'acme', context_id: 'x', input: 'hello' };
  await expect(enqueueAsOwner(input)).rejects.toMatchObject({ code: 'invalid_request' });
  const unknownModel = { ...job('acme'), config: { model: 'unknown/model' } };
  await expect(enqueueAsOwner(unknownModel)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('Model "unknown/model" has no known provider.'),
  });
  await expect(enqueueAsOwner({ ...job('a b') })).rejects.toMatchObject({ code: 'invalid_request' });
  for (const job_id of ['7', randomUUID()])
    await expect(enqueueAsOwner({ ...job('acme'), job_id })).rejects.toMatchObject({
      code: 'invalid_request',
      faults: [expect.stringMatching(/^job_id must be a UUID of version 7/)],
    });
  const large = { ...job('acme'), input: 'x'.repeat(SUBMISSION_BYTES) };
  await expect(enqueueAsOwner(large)).rejects.toMatchObject({ code: 'payload_too_large' });
  // @ts-expect-error it cannot run SQL
  await expect(nightshift.enqueue({}, job('acme'))).rejects.toMatchObject({ code: 'invalid_transaction' });
});

test('a transaction in a database without Nightshift is refused', async () => {
  const elsewhere = await createEmptyDatabase();
  const sql = postgres(elsewhere.url, { max: 1 });
  // Before PostgreSQL is asked to write: the transaction can go on.
  await sql.begin(async (tx) => {
    await expect(nightshift.enqueue(tx, job('acme'))).rejects.toMatchObject({
      code: 'not_installed',
      message: expect.stringContaining('has no function nightshift.nightshift_submit_v1'),
    });
    await tx`select 1`;
  });
  await sql.end();
  await elsewhere.drop();
});

test('a transaction in the database of another installation is refused, also in a copy of the same one', async () => {
  const other = await createFreshDatabase();
  const sql = postgres(other.url, { max: 1 });
  await expect(enqueueIn(sql, job('acme'))).rejects.toMatchObject({
    code: 'other_installation',
    message: expect.stringContaining('another installation of Nightshift than databaseUrl'),
  });
  expect(await sql`select 1 from nightshift.submissions`).toEqual([]);
  await sql.end();
  await other.drop();
});

test('a login of the name of a dropped one is not given the function with its rights', async () => {
  const { worker } = await withLogins(own.url);
  const { username: role } = new URL(worker);
  await database.transaction((tx) => addGrant(tx, SCHEMA, { role, tenant: 'acme' }));
  // As if it was dropped with all that it had, and made again.
  await database.db.execute(
    `revoke execute on function ${SCHEMA}.nightshift_submit_v1(text, text, boolean) from "${role}"`,
  );
  await withLogins(own.url);
  const sql = postgres(worker, { max: 1 });
  await expect(enqueueIn(sql, job('acme'))).rejects.toMatchObject({ code: 'not_granted' });
  await sql.end();
  expect(await listGrants(database.db)).toEqual([]);
});
