// The first start in an empty database makes one tour, with several starts at once and with deaths; and none where
// there are other rows, or where it is switched off.
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/index.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { takeTurn } from '../../../src/db/processes/first-start.ts';
import { createTestDatabase, type TestDatabase } from '../../services/database.ts';
import { removeFolder, temporaryFolder } from '../../services/temporary-folder.ts';
import { killChildren } from '../rig/children.ts';
import { beginLaptop, startLaptop, stopLaptop } from './laptop.ts';
import { until } from '../rig/until.ts';

vi.setConfig({ testTimeout: 180_000 });

let made: TestDatabase;
let database: Database;
let folder = '';

beforeEach(async () => {
  made = await createTestDatabase();
  database = openDatabase(made.url, { max: 2, name: 'tour' });
  folder = await temporaryFolder();
});

afterEach(async () => {
  await killChildren();
  await database.close();
  await made.drop();
  await removeFolder(folder);
});

const data = (name: string): string => join(folder, name);
const namesOf = async (client: Client): Promise<string[]> =>
  (await client.workers.list().all()).map(({ name }) => name).sort();

/** Answers the questions of the tour, to its end: every job of this database belongs to it. */
async function finishTour(client: Client): Promise<void> {
  await until('the tour to ask', async () => (await client.approvals.list().all()).length > 0, 60);
  const [asked, ...more] = await client.approvals.list().all();
  if (asked === undefined) throw new Error('no question is open');
  expect(more).toEqual([]);
  expect(asked).toMatchObject({ kind: 'approval', name: 'write_file' });
  const { tool_call_id } = asked;
  await client.tools.approve(asked.context_id, { tool_call_id, decision: 'approve' });
  const job = await client.jobs.wait(asked.job_id);
  expect(job).toMatchObject({
    status: 'completed',
    output: { text: expect.stringContaining('The tour is complete') },
  });
  const steps = await client.jobs.steps(job.id).all();
  const tools = steps.filter(({ kind }) => kind === 'tool').map(({ name, status }) => `${name} ${status}`);
  const failed = steps.flatMap(({ status, tool_call_id: id }) => (status === 'failed' && id !== null ? [id] : []));
  const results = await Promise.all(failed.map((id) => client.tools.get(asked.context_id, id)));
  expect(tools, JSON.stringify(results)).toEqual([
    'remember completed',
    'spawn_worker completed',
    'write_file completed',
  ]);
  const jobs = await client.jobs.list().all();
  expect(jobs.filter(({ id }) => id !== job.id)).toMatchObject([{ status: 'completed', parent_job_id: job.id }]);
  expect(await namesOf(client)).toEqual(['hello', 'tour', 'tour guide']);
}

test('of two starts at once one makes the tour, both print its address, and a decision finishes it', async () => {
  const [one, two] = await Promise.all([startLaptop(made.url, data('one')), startLaptop(made.url, data('two'))]);
  for (const { child, url } of [one, two]) {
    expect(child.lines.filter((line) => line.includes(`${url}/contexts/`))).toHaveLength(1);
    expect(child.lines.filter((line) => line.includes(`${url}/inbox`))).toHaveLength(1);
  }
  await stopLaptop(two);
  await finishTour(one.client);
  await stopLaptop(one);
  const again = await startLaptop(made.url, data('one'));
  expect(again.child.lines.join('\n')).not.toContain('inbox');
  expect(await namesOf(again.client)).toEqual(['hello', 'tour', 'tour guide']);
  await stopLaptop(again);
});

test('a kill before it is made, and another one right after, leave one tour', async () => {
  const early = await database.transaction(async (tx) => {
    await takeTurn(tx);
    const child = beginLaptop(made.url, data('one'));
    await until(
      'the start to wait for its turn',
      async () => {
        const waiting = sql`select 1 from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
        return (await database.db.execute(waiting)).length > 0;
      },
      60,
    );
    child.signal('SIGKILL');
    await child.exited;
    return child;
  });
  expect(early.ended()).toMatchObject({ signal: 'SIGKILL' });
  expect([...(await database.db.execute(sql`select 1 from contexts`))]).toEqual([]);

  const late = beginLaptop(made.url, data('one'));
  await until('the tour', async () => (await database.db.execute(sql`select 1 from contexts limit 1`)).length > 0, 60);
  late.signal('SIGKILL');
  await late.exited;

  const last = await startLaptop(made.url, data('one'));
  expect(last.child.lines.join('\n')).toContain('/inbox');
  await finishTour(last.client);
  await stopLaptop(last);
});

test('a start with the tour switched off makes none, and none is made later in a used database', async () => {
  const without = await startLaptop(made.url, data('one'), { NIGHTSHIFT_TOUR: 'off' });
  expect(await namesOf(without.client)).toEqual(['hello']);
  await stopLaptop(without);
  const after = await startLaptop(made.url, data('one'));
  expect(after.child.lines.join('\n')).not.toContain('/inbox');
  expect(await namesOf(after.client)).toEqual(['hello']);
  await stopLaptop(after);
});
