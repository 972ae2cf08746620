// Sweeps beside very many contexts whose time has not come: none of them is read.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { revoke, takeDue } from '../../../src/db/run/due-contexts.ts';
import { archiveIdle, findPurgeable } from '../../../src/db/write/contexts/expiry.ts';
import { createFreshDatabase } from '../../services/database.ts';
import { explaining, passedOver } from '../../services/explaining.ts';

const MANY = 20_000;

let database: Database;
let url: string;
let drop: () => Promise<void>;
beforeAll(async () => {
  const made = await createFreshDatabase();
  drop = () => made.drop();
  url = made.url;
  database = openDatabase(made.url, { max: 2 });
  const { db } = database;
  const id = (of: string) => sql.raw(`('00000000-0000-7000-${of}-' || lpad(to_hex(n), 12, '0'))::uuid`);
  // Each third waits, is idle and will be archived, was archived and will be purged.
  await db.execute(sql`insert into contexts (id, tenant_id, scheduling_status, state, next_check_at)
    select ${id('8000')}, ${DEFAULT_TENANT}, case n % 3 when 0 then 'waiting' else 'idle' end,
      case n % 3 when 0 then 'AwaitingInput' else 'Idle' end,
      case n % 3 when 0 then now() + n * interval '1 minute' end
    from generate_series(1, ${MANY}::int) n`);
  await db.execute(sql`insert into workers (id, tenant_id, context_id, name, config, expires_at, archived_at)
    select ${id('8001')}, ${DEFAULT_TENANT}, ${id('8000')}, 'w', '{"idle_timeout_s": 3600}',
      case n % 3 when 1 then now() + n * interval '1 minute' end,
      case n % 3 when 2 then now() - n * interval '1 minute' end
    from generate_series(1, ${MANY}::int) n`);
  await db.execute(sql`vacuum analyze`);
}, 120_000);
afterAll(async () => {
  await database.close();
  await drop();
});

const processId = sql.raw(`('00000000-0000-7000-8002-' || lpad(to_hex(n), 12, '0'))::uuid`);

test.each<[string, (db: Database['db']) => Promise<unknown>, RegExp]>([
  ['what is due', (db) => takeDue(db, { most: 100, againMs: 3_000, passBy: [] }), /Index Cond: .*next_check_at </],
  ['what died', (db) => revoke(db, 100), /contexts_owned/],
  ['contexts idle for too long', (db) => archiveIdle(db, {}, 100), /Index Cond: .*expires_at </],
  ['contexts archived for too long', (db) => findPurgeable(db, 365, 100), /Index Cond: .*archived_at </],
])('%s are found without reading others', async (_, sweep, found) => {
  const plans: string[] = [];
  await sweep(explaining(database.db, plans));
  expect(plans).toHaveLength(1);
  expect(plans[0]).toMatch(found);
  expect(passedOver(plans[0] ?? '')).toBeLessThan(10);
});

/** Processes that live, and those that died: of one the statistics know that it owns many contexts. */
const ALIVE = 4;
const DEAD = 4;

test.each([ALIVE, 1])(
  'processes that died and left nothing cost no look at the contexts of %s others',
  async (owners) => {
    const { db } = database;
    await db.execute(sql`truncate processes`);
    await db.execute(sql`insert into processes (id, lock_key, host, pid, version, tools, roles, models, dead_at)
    select ${processId}, n, 'host', n, '1', '{}', '{}', '{}', case when n > ${ALIVE}::int then now() end
    from generate_series(1, ${ALIVE + DEAD}::int) n`);
    await db.execute(sql`update contexts set scheduling_status = 'running', lease_owner = owner.id
    from (select ${processId} as id, n % ${owners}::int as place from generate_series(1, ${owners}::int) n) owner,
      (select id, row_number() over (order by id) as place from contexts) numbered
    where numbered.id = contexts.id and numbered.place <= 8000 and numbered.place % ${owners}::int = owner.place`);
    await db.execute(sql`vacuum analyze contexts`);
    await db.execute(sql`vacuum analyze processes`);
    const plans: string[] = [];
    await revoke(explaining(db, plans), 500);
    expect(plans[0]).toContain('contexts_owned');
    expect(plans[0]).not.toMatch(/Seq Scan on contexts .*actual/);
    expect(passedOver(plans[0] ?? '')).toBe(ALIVE);
    const read = [...(plans[0] ?? '').matchAll(/Scan .*on contexts.*actual rows=(\d+) loops=(\d+)/g)];
    expect(read).not.toEqual([]);
    expect(read.reduce((sum, [, rows, loops]) => sum + Number(rows) * Number(loops), 0)).toBe(0);
  },
);

test('leases that another sweep revokes do not keep those behind them', async () => {
  const { db } = database;
  await db.execute(sql`update processes set dead_at = now() where lock_key = 1`);
  const owned = sql`select id from contexts where lease_owner is not null order by lease_owner, id`;
  await database.transaction(async (tx) => {
    await tx.execute(sql`select id from contexts where id in (${owned} limit 8) for no key update`);
    const other = openDatabase(url, { max: 1 });
    try {
      expect(await revoke(other.db, 10)).toBe(10);
    } finally {
      await other.close();
    }
  });
});
