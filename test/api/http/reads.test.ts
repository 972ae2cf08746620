// The work of PostgreSQL for a read is bounded: by the class of its route, by its client, and by its request.
import { sql } from 'drizzle-orm';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { READ_CLASSES, readerOf } from '../../../src/api/response/reads.ts';
import type { Server } from '../../../src/api/server/server.ts';
import type { Environment } from '../../../src/config/environment.ts';
import { GivenUp } from '../../../src/db/connection/client.ts';
import { errorCode } from '../../../src/db/connection/database-errors.ts';
import { tagOf } from '../../services/statements.ts';
import { openApi, type Api, type Body } from '../harness.ts';
import { configOf, listen } from './listening.ts';

/** Waiting for an event on a slow machine. */
const PATIENT = { timeout: 60_000 };

let api: Api;
let ids: Record<string, string>;
beforeAll(async () => {
  api = await openApi();
  const worker = await api.worker();
  const { body } = await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'x' });
  await api.call('PUT', '/api/roles/clerk', { model: 'simulated/x' });
  ids = { contexts: worker.context_id, workers: worker.id, jobs: body.job_id, message: body.message_id };
});
afterAll(() => api.close());

type Operation = { path: string; operationId: string };

/** GET operations of the document that read from PostgreSQL. */
function reading(): Operation[] {
  const { paths = {} } = api.app.swagger() as Body;
  return Object.entries<Body>(paths).flatMap(([path, methods]) => {
    const operationId = methods.get?.operationId;
    return operationId === undefined || ['getHealth', 'getOpenapi'].includes(operationId)
      ? []
      : [{ path, operationId }];
  });
}

/** With ids that exist, or might. */
function addressOf({ path }: Operation): string {
  const [, , resource = ''] = path.split('/');
  const address = path
    .replace('{id}', ids[resource] ?? v7())
    .replace('{message_id}', ids['message'] ?? '')
    .replace('{tool_call_id}', v7())
    .replace('{n}', '1')
    .replace('{name}', 'clerk');
  return path === '/api/search' ? `${address}?q=words` : address;
}

describe('the class of a read', () => {
  test('is known for every operation that reads, and for no other', () => {
    expect(Object.keys(READ_CLASSES).sort()).toEqual(
      reading()
        .map(({ operationId }) => operationId)
        .sort(),
    );
  });

  const streams = ['streamEvents', 'streamChanges'];
  test.each(Object.entries(READ_CLASSES).filter(([id]) => !streams.includes(id)))(
    '%s is %s: its limit is set in the round trip that begins the read, or it has none',
    async (operationId, readClass) => {
      const operation = reading().find((one) => one.operationId === operationId);
      if (operation === undefined) throw new Error('There is no such operation.');
      for (const method of ['GET', 'HEAD']) {
        api.statements.splice(0);
        await api.call(method, addressOf(operation));
        const sent = api.statements.filter((text) => tagOf(text) !== 'processes.read_published');
        // Its two reads begin together, and send the same statement in turn.
        const texts = operationId === 'getMetrics' ? sent.filter((text, at) => text !== sent[at - 1]) : sent;
        const begun = texts.flatMap((text, at) => (text === 'begin' ? [texts[at + 1]] : []));
        const limited = texts.filter((text) => text.includes(`set_config('statement_timeout'`));
        if (readClass === 'short') expect([begun, limited]).toEqual([[], []]);
        else expect(limited.length).toBeGreaterThan(0);
        expect(begun).toEqual(limited);
      }
    },
  );

  test('a route that is not listed gets no reader', () => {
    const reply = { request: { routeOptions: { schema: { operationId: 'listNothing' } } } };
    expect(() => readerOf(api, reply as never)).toThrow(/listNothing/);
  });

  test('a page of one statement takes one round trip: it is sent with the limit before it and the commit behind it', async () => {
    api.statements.splice(0);
    await api.get('/api/jobs');
    const [begin, limit, page, commit] = api.statements;
    expect([begin, commit, api.statements.length]).toEqual(['begin', 'commit', 4]);
    expect(limit).toContain('client_connection_check_interval');
    expect(tagOf(page ?? '')).toBe('jobs.list');
  });
});

describe('a read in the database', () => {
  test('is cancelled after its limit, which no other statement has', async () => {
    const slow = api.database.read((tx) => tx.execute(sql`select pg_sleep(600)`), { statementMs: 50 });
    expect(await slow.catch(errorCode)).toBe('57014');
    const [row] = await api.database.db.execute(sql`select current_setting('statement_timeout') as ms`);
    expect(row).toEqual({ ms: '0' });
  });

  test('is run once more after a lost connection', async () => {
    let times = 0;
    const rows = await api.database.read(
      async (tx) => {
        times += 1;
        const [own] = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
        if (times === 1) await api.database.db.execute(sql`select pg_terminate_backend(${own?.pid}::int)`);
        return tx.execute(sql`select current_setting('statement_timeout') as ms`);
      },
      { statementMs: 7_000 },
    );
    expect([times, rows[0]]).toEqual([2, { ms: '7s' }]);
  });

  test('is not begun for a client that has disconnected', async () => {
    const given = api.database.read((tx) => tx.execute(sql`select 1`), {
      statementMs: 1_000,
      signal: AbortSignal.abort(),
    });
    await expect(given).rejects.toThrow(GivenUp);
  });
});

describe('a read that waits in PostgreSQL', () => {
  /** Without statement limits: a read that ends here ends for another reason. */
  const start = (env: Environment): Promise<Server> =>
    listen(api, {
      database: {
        ...api.database,
        read: (read, options) => api.database.read(read, { ...options, statementMs: 0 }),
      },
      config: configOf(env),
    });

  /** Statements that wait for a lock. */
  const waiting = async (): Promise<number> => {
    const rows = await api.database.db.execute(sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
    return rows.length;
  };

  /** While a table is locked against reads. */
  async function whileLocked(table: string, work: () => Promise<void>): Promise<void> {
    await api.database.transaction(async (tx) => {
      await tx.execute(sql.raw(`lock table ${table} in access exclusive mode`));
      await work();
    });
  }

  test.each([
    ['/api/jobs', 'jobs'],
    ['/api/contexts?q=x', 'contexts'],
    ['/api/stats/history', 'jobs'],
    ['/api/approvals', 'tool_calls'],
    ['/api/workers/{workers}/tree', 'workers'],
    ['/api/contexts/{contexts}/export', 'contexts'],
  ])('ends when its client disconnects: %s', async (path, table) => {
    const server = await start({});
    await whileLocked(table, async () => {
      const gone = new AbortController();
      const address = path.replace(/\{(\w+)\}/, (_, of: string) => ids[of] ?? '');
      const asked = fetch(`${server.url}${address}`, { signal: gone.signal }).catch(() => 'gone');
      await expect.poll(waiting, PATIENT).toBe(1);
      gone.abort();
      expect(await asked).toBe('gone');
      await expect.poll(waiting, PATIENT).toBe(0);
    });
    await server.close();
  });

  test('ends when its request is answered with 503', async () => {
    const server = await start({ NIGHTSHIFT_REQUEST_MS: '1000' });
    await whileLocked('jobs', async () => {
      const answer = await fetch(`${server.url}/api/jobs`);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      await expect.poll(waiting, PATIENT).toBe(0);
    });
    await server.close();
  });

  test('is answered with 503 and advice when it takes longer than its limit', async () => {
    await whileLocked('tool_calls', async () => {
      const { status, headers, body } = await api.get('/api/approvals');
      expect([status, headers['retry-after'], body.error.code]).toEqual([503, '1', 'unavailable']);
      expect(body.error.message).toBe(
        'PostgreSQL did not finish this read within 5 s. Use a smaller limit or a narrower filter.',
      );
    });
  });
});
