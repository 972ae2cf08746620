// The versions of a role among very many: a page is a range of the primary key, whatever the statistics say.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { listVersions } from '../../../src/db/write/workers/roles.ts';
import { createFreshDatabase } from '../../services/database.ts';
import { explaining, passedOver } from '../../services/explaining.ts';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const made = await createFreshDatabase();
  drop = () => made.drop();
  database = openDatabase(made.url, { max: 2 });
});
afterAll(async () => {
  await database.close();
  await drop();
});

const add = (name: string, versions: number) =>
  database.db.execute(sql`insert into roles (tenant_id, name, version, definition)
    select ${DEFAULT_TENANT}, ${name}, n, '{"max_steps": 1}' from generate_series(1, ${versions}::int) n`);

async function planOf(after: number | null): Promise<string> {
  const plans: string[] = [];
  await database.transaction((tx) => listVersions(explaining(tx, plans), DEFAULT_TENANT, 'busy', { after, limit: 51 }));
  return plans.join('\n');
}

test('a page of them reads its own rows', async () => {
  await database.db.execute(sql`alter table roles set (autovacuum_enabled = false)`);
  await add('few', 3);
  for (const statistics of ['none', 'old', 'fresh']) {
    if (statistics === 'old') {
      await database.db.execute(sql`analyze roles`);
      await add('busy', 20_000);
    }
    if (statistics === 'fresh') await database.db.execute(sql`analyze roles`);
    for (const after of [null, 10_000]) {
      const plan = await planOf(after);
      expect(plan, statistics).toContain('Index Scan Backward using roles_tenant_id_name_version_pk');
      expect(passedOver(plan), statistics).toBe(0);
      expect(plan, statistics).not.toContain('Seq Scan');
    }
  }
  const { items, more } = await database.transaction((tx) =>
    listVersions(tx, DEFAULT_TENANT, 'busy', { after: 10_000, limit: 3 }),
  );
  expect([items.map(({ version }) => version), more]).toEqual([[9_999, 9_998, 9_997], false]);
});
