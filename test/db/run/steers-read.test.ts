// What the read of inputs that wait to join a job costs.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readParts } from '../../../src/db/run/mailbox/mailbox.ts';
import { places } from '../../../src/db/run/places.ts';
import { explainingBuffers } from '../../services/explaining.ts';
import { given, type Given } from '../database-fixture.ts';
import { createFreshDatabase } from '../../services/database.ts';

let the: Given;
beforeAll(async () => {
  the = await given(createFreshDatabase);
});
afterAll(() => the.close());

const MANY = 20_000;

test('it reads inputs of the branch of the job, and none of the history', async () => {
  const { contextId } = await the.context();
  const jobId = await the.submit(contextId);
  const row = await the.claimed(contextId);
  const { db } = the.database;
  await db.execute(sql`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content)
    select gen_random_uuid(), 1, ${contextId}, 'main', 1000 + n, 'user', 'text', 'a1', 'completed', '[]'::json
    from generate_series(1, ${MANY}::int) n`);
  await db.execute(
    sql`update jobs set status = 'running', started_at = now(), first_seq = 1, attempt = 1, turn = 1 where id = ${jobId}`,
  );
  await db.execute(sql`analyze messages`);
  await db.execute(sql`vacuum messages`);
  const plans: string[] = [];
  const at = places([{ ...row.lease, branch: row.activeBranch, steers: 1 }]);
  await readParts(explainingBuffers(db, plans), at, 'alone');
  const [plan = ''] = plans;
  const [, hit = '0', , read = '0'] = /Buffers: shared hit=(\d+)( read=(\d+))?/.exec(plan) ?? [];
  expect(Number(hit) + Number(read)).toBeLessThan(60);
});
