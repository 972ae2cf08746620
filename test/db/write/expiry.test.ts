// Expiry: a context that is idle for too long is archived, comes back with its next input, and is purged after its
// time; by any number of processes at once, wherever one of them dies.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { purgeArchived } from '../../../src/commands/workers/purge-archived.ts';
import { perform } from '../../../src/commands/perform.ts';
import { changeWorker } from '../../../src/commands/workers/change-worker.ts';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import type { IdleTimeouts } from '../../../src/core/workers/settings.ts';
import { archiveIdle } from '../../../src/db/write/contexts/expiry.ts';
import { addVersion } from '../../../src/db/write/workers/roles.ts';
import { submit } from '../../../src/db/write/inputs/submit.ts';
import type { NewWorker } from '../../../src/db/write/workers/create.ts';
import { runHousekeeping } from '../../../src/workers/process/housekeeper.ts';
import { given, type Context, type Given } from '../database-fixture.ts';
import { submissionTo } from '../inputs.ts';
import { workerState } from '../worker-state.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());
beforeEach(async () => {
  await the.rows('update workers set expires_at = null, archived_at = null');
});

const HOUR = 3_600;

const idle = (over: Partial<NewWorker> = {}): Promise<Context> =>
  the.context({ config: { idle_timeout_s: HOUR }, ...over });

/** Nothing has happened for so many seconds; a sweep is to check. */
async function passTime(contextId: ContextId, seconds: number): Promise<void> {
  const ago = `interval '${seconds} seconds'`;
  await the.rows(`update contexts set state_since = state_since - ${ago} where id = '${contextId}'`);
  await the.rows(`update workers set updated_at = updated_at - ${ago}, archived_at = archived_at - ${ago},
    expires_at = least(expires_at - ${ago}, clock_timestamp() - interval '1 second') where context_id = '${contextId}'`);
}

const look = (ofFile: IdleTimeouts = {}) => archiveIdle(the.database.db, ofFile, 100);

/** In seconds from now; null: never. */
async function standing(contextId: ContextId): Promise<{ archived: boolean; looksIn: number | null }> {
  const [row] = await the.rows(`
    select archived_at is not null as archived, extract(epoch from expires_at - clock_timestamp())::float8 as looks_in
    from workers where context_id = '${contextId}'`);
  const looksIn = row?.['looks_in'];
  return { archived: row?.['archived'] === true, looksIn: typeof looksIn === 'number' ? looksIn : null };
}

describe('a context without activity', () => {
  test('is archived after its timeout, and not before', async () => {
    const { contextId } = await idle();
    await look();
    const fresh = await standing(contextId);
    expect(fresh.archived).toBe(false);
    expect(fresh.looksIn).toBeGreaterThan(HOUR - 60);
    expect(fresh.looksIn).toBeLessThan(HOUR + 1);
    await passTime(contextId, HOUR - 100);
    expect(await look()).toEqual({ looked: 1, archived: 0 });
    expect((await standing(contextId)).archived).toBe(false);
    await passTime(contextId, 200);
    expect(await look()).toEqual({ looked: 1, archived: 1 });
    expect((await standing(contextId)).archived).toBe(true);
  });

  test('is checked once more, and then never again', async () => {
    const { contextId } = await idle();
    await passTime(contextId, 2 * HOUR);
    await look();
    await passTime(contextId, 100);
    await look();
    expect(await standing(contextId)).toEqual({ archived: true, looksIn: null });
    expect(await look()).toEqual({ looked: 0, archived: 0 });
  });

  test('is kept where no timeout is set', async () => {
    const { contextId } = await the.context();
    expect(await standing(contextId)).toEqual({ archived: false, looksIn: null });
    const withRole = await the.context({ role: { name: 'plain', version: null } });
    await passTime(withRole.contextId, 1_000 * HOUR);
    await look({ plain: null });
    expect(await standing(withRole.contextId)).toEqual({ archived: false, looksIn: null });
  });

  test.each(['its settings were changed', 'its state changed'])('is kept while %s', async (what) => {
    const { contextId } = await idle();
    await passTime(contextId, 2 * HOUR);
    await the.rows(
      what === 'its state changed'
        ? `update contexts set state_since = clock_timestamp() where id = '${contextId}'`
        : `update workers set updated_at = clock_timestamp() where context_id = '${contextId}'`,
    );
    expect(await look()).toEqual({ looked: 1, archived: 0 });
    const { archived, looksIn } = await standing(contextId);
    expect(archived).toBe(false);
    expect(looksIn).toBeGreaterThan(HOUR - 60);
  });

  test.each(['queued', 'running', 'waiting', 'queued in a stopped worker'])(
    'is kept while an input is %s',
    async (what) => {
      const { contextId } = await idle();
      await the.submit(contextId);
      if (what === 'running') await the.claimed(contextId);
      if (what === 'waiting')
        await the.rows(
          `update contexts set scheduling_status = 'waiting', next_check_at = clock_timestamp() + interval '1 day' where id = '${contextId}'`,
        );
      if (what === 'queued in a stopped worker')
        await the.rows(
          `update contexts set scheduling_status = 'idle', next_check_at = null, stopped = true where id = '${contextId}'`,
        );
      await passTime(contextId, 100 * HOUR);
      expect(await look()).toEqual({ looked: 1, archived: 0 });
      expect((await standing(contextId)).looksIn).toBeGreaterThan(HOUR - 60);
    },
  );
});

describe('the timeout', () => {
  test('comes from the role, where the config sets none', async () => {
    await addVersion(the.database.db, DEFAULT_TENANT, {
      name: 'guide',
      version: 1,
      definition: { idle_timeout_s: 10 },
    });
    const ofApi = await the.context({ role: { name: 'guide', version: 1 } });
    const ofFile = await the.context({ role: { name: 'coder', version: null } });
    const own = await idle({ role: { name: 'guide', version: 1 } });
    for (const { contextId } of [ofApi, ofFile, own]) await passTime(contextId, 60);
    // A name of the file is no role of the API.
    await look({ coder: 30, guide: 1_000_000 });
    expect((await standing(ofApi.contextId)).archived).toBe(true);
    expect((await standing(ofFile.contextId)).archived).toBe(true);
    expect((await standing(own.contextId)).archived).toBe(false);
  });

  test('of a role that is unknown here is left to processes that know it', async () => {
    const { contextId } = await the.context({ role: { name: 'elsewhere', version: null } });
    await passTime(contextId, 60);
    expect(await look()).toEqual({ looked: 0, archived: 0 });
    expect(await look({ elsewhere: 30 })).toEqual({ looked: 1, archived: 1 });
  });

  test('applies again when the settings change', async () => {
    const { contextId } = await idle();
    await look();
    const change = (config: object) =>
      perform(
        the.ports(),
        changeWorker({ tenantId: DEFAULT_TENANT, contextId, change: { config }, expectedVersion: null }),
      );
    await change({ idle_timeout_s: 60 });
    await look();
    expect((await standing(contextId)).looksIn).toBeLessThan(61);
    await change({});
    await look();
    expect(await standing(contextId)).toEqual({ archived: false, looksIn: null });
  });
});

describe('an input', () => {
  test('takes its context out of the archive, and starts its timeout again', async () => {
    const { contextId } = await idle();
    await passTime(contextId, 2 * HOUR);
    await look();
    await the.submit(contextId);
    expect((await standing(contextId)).archived).toBe(false);
    await look();
    const { archived, looksIn } = await standing(contextId);
    expect(archived).toBe(false);
    expect(looksIn).toBeGreaterThan(HOUR - 60);
  });

  test('that waited for the lock while its context was archived unarchives it at the second read', async () => {
    const { contextId } = await idle();
    await passTime(contextId, 2 * HOUR);
    const client = the.open({ max: 1, name: 'client' });
    let submitted: Promise<unknown> = Promise.resolve();
    await the.database.transaction(async (tx) => {
      expect(await archiveIdle(tx, {}, 100)).toEqual({ looked: 1, archived: 1 });
      submitted = submit(client.db, submissionTo(contextId));
      await untilBlocked('client');
    });
    await submitted;
    // The statement saw the earlier version of its context.
    expect((await standing(contextId)).archived).toBe(true);
    await the.rows(
      `update workers set expires_at = clock_timestamp() - interval '1 second' where context_id = '${contextId}'`,
    );
    await look();
    const { archived, looksIn } = await standing(contextId);
    expect(archived).toBe(false);
    expect(looksIn).toBeGreaterThan(HOUR - 60);
  });
});

describe('many at once', () => {
  test('share the due contexts, and skip locked ones', async () => {
    const contexts = await Promise.all(Array.from({ length: 30 }, () => idle()));
    for (const { contextId } of contexts) await passTime(contextId, 2 * HOUR);
    const [locked] = contexts;
    await the.database.transaction(async (tx) => {
      await tx.execute(sql`select id from contexts where id = ${locked?.contextId} for update`);
      const done = await Promise.all([1, 2, 3, 4].map(() => archiveIdle(the.database.db, {}, 100)));
      expect(done.reduce((sum, { archived }) => sum + archived, 0)).toBe(29);
    });
    expect(await look()).toEqual({ looked: 1, archived: 1 });
  });
});

async function archived(days: number, over: Partial<NewWorker> = {}): Promise<Context> {
  const made = await idle(over);
  await the.rows(
    `update contexts set state_since = clock_timestamp() - interval '${days + 1} days' where id = '${made.contextId}'`,
  );
  await the.rows(`update workers set archived_at = clock_timestamp() - interval '${days} days', expires_at = null
    where context_id = '${made.contextId}'`);
  return made;
}

const isThere = async ({ contextId }: Context): Promise<boolean> =>
  (await the.rows(`select 1 from contexts where id = '${contextId}'`)).length > 0;

describe('a purge', () => {
  const purge = (days = 30) => purgeArchived(the.ports(), days, 100);

  test('removes contexts archived for long enough, with all their rows', async () => {
    const [old, young, active] = [await archived(31), await archived(29), await idle()];
    await the.submit(old.contextId);
    await the.rows(
      `update contexts set scheduling_status = 'idle', next_check_at = null, queued = 0 where id = '${old.contextId}'`,
    );
    await the.rows(
      `update workers set archived_at = clock_timestamp() - interval '31 days' where context_id = '${old.contextId}'`,
    );
    expect(await purge()).toEqual({ found: 1, purged: 1 });
    expect([await isThere(old), await isThere(young), await isThere(active)]).toEqual([false, true, true]);
    expect(await the.rows(`select 1 from messages where context_id = '${old.contextId}'`)).toEqual([]);
  });

  test('spares unarchived contexts, in any order', async () => {
    const context = await archived(31);
    await the.submit(context.contextId);
    expect(await purge()).toEqual({ found: 0, purged: 0 });
    // As if the input had waited for the lock while it was archived.
    await the.rows(
      `update workers set archived_at = clock_timestamp() - interval '31 days' where context_id = '${context.contextId}'`,
    );
    expect(await purge()).toEqual({ found: 0, purged: 0 });
    expect(await isThere(context)).toBe(true);
  });

  test('is not blocked by an archived context with activity, and takes it later', async () => {
    const [cleared, old] = [await archived(32), await archived(31)];
    await the.rows(`update contexts set state_since = clock_timestamp() where id = '${cleared.contextId}'`);
    expect(await purgeArchived(the.ports(), 30, 1)).toEqual({ found: 1, purged: 1 });
    expect([await isThere(cleared), await isThere(old)]).toEqual([true, false]);
    await passTime(cleared.contextId, 31 * 24 * HOUR);
    expect(await purge()).toEqual({ found: 1, purged: 1 });
  });

  test('continues past a context that cannot be removed, and reports it', async () => {
    const [stuck, other] = [await archived(32), await archived(31)];
    await the.rows(`create function refuse_removal() returns trigger language plpgsql as
      $$ begin if old.id = '${stuck.contextId}' then raise 'not this one'; end if; return old; end $$`);
    await the.rows('create trigger refuse before delete on contexts for each row execute function refuse_removal()');
    try {
      await expect(purge()).rejects.toThrow();
      expect([await isThere(stuck), await isThere(other)]).toEqual([true, false]);
    } finally {
      await the.rows('drop function refuse_removal cascade');
    }
    expect(await purge()).toEqual({ found: 1, purged: 1 });
  });

  test('takes children before their parents, and leaves the parents of those that stay', async () => {
    const [parent, other] = [await archived(31), await archived(31)];
    const child = await archived(31, { parentWorkerId: parent.workerId, depth: 1 });
    const staying = await idle({ parentWorkerId: other.workerId, depth: 1 });
    expect(await purge()).toEqual({ found: 1, purged: 1 });
    expect(await purge()).toEqual({ found: 1, purged: 1 });
    expect(await purge()).toEqual({ found: 0, purged: 0 });
    const left = await Promise.all([parent, child, other, staying].map(isThere));
    expect(left).toEqual([false, false, true, true]);
  });

  test('skips locked contexts, and can be done by many at once', async () => {
    const contexts = [await archived(31), await archived(32), await archived(33)];
    await the.database.transaction(async (tx) => {
      await tx.execute(sql`select id from contexts where id = ${contexts[0]?.contextId} for update`);
      const done = await Promise.all([1, 2, 3].map(() => purge()));
      expect(done.reduce((sum, { purged }) => sum + purged, 0)).toBe(2);
    });
    expect((await purge()).purged).toBe(1);
  });
});

test('wherever housekeeping dies, the next round finishes it', async () => {
  const make = async () => {
    const due = await idle();
    await passTime(due.contextId, 2 * HOUR);
    return { due, old: await archived(31), older: await archived(32) };
  };
  let statement = 0;
  let statements = 0;
  const dying = the.open({
    max: 1,
    hook: () => {
      if (statements === statement) throw new Error('dies here');
      statements += 1;
    },
  });
  for (let isDone = false; !isDone; statement += 1) {
    const { due, old, older } = await make();
    statements = 0;
    const state = { ...workerState(the), expiry: { timeouts: {}, archivedDays: 30, workspaces: null } };
    isDone = await runHousekeeping({ ...state, database: dying }).then(
      () => true,
      () => false,
    );
    await runHousekeeping(state);
    expect((await standing(due.contextId)).archived).toBe(true);
    expect([await isThere(old), await isThere(older)]).toEqual([false, false]);
  }
  expect(statement).toBeGreaterThan(20);
});

async function untilBlocked(name: string): Promise<void> {
  for (;;) {
    const rows = await the.rows(`
      select 1 from pg_stat_activity where datname = current_database() and application_name = '${name}'
        and cardinality(pg_blocking_pids(pid)) > 0`);
    if (rows.length > 0) return;
  }
}
