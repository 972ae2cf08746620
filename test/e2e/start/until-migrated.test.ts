// A worker process on a database without migrations waits for them: it logs what is missing and what to do, less and
// less often, and continues once they are applied.
import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { freePort } from '../../../src/dev/free-port.ts';
import { rowsOf } from '../../services/connected.ts';
import { createEmptyDatabase, type TestDatabase } from '../../services/database.ts';
import { testPrefix } from '../../services/prefix.ts';
import { query } from '../rig/stored.ts';
import { openDatabase } from '../../../src/db/connection/client.ts';
import { migrate } from '../../../src/db/setup/migrate.ts';
import { killChildren, startChild } from '../rig/children.ts';

const redisUrl = inject('redisUrl');

let made: TestDatabase | null = null;
afterEach(async () => {
  await killChildren();
  await made?.drop();
  made = null;
});

test.skipIf(redisUrl === null)('a worker process waits for the migrations, and logs this rarely', async () => {
  const empty = await createEmptyDatabase();
  made = empty;
  const env = {
    DATABASE_URL: empty.url,
    REDIS_URL: redisUrl ?? '',
    NIGHTSHIFT_PREFIX: testPrefix().replaceAll(/[{}]/g, ''),
    LOG_LEVEL: 'info',
  };
  const worker = startChild('src/cli/main.ts', ['worker'], env);
  await worker.says(/"again_in_ms":1000,/);
  const waiting = [...worker.lines];
  // Nothing else: no stack traces, no errors. Each wait is twice as long as the one before, so that there are few
  // lines.
  const waits = waiting.map((line) => Number(/"again_in_ms":(\d+),/.exec(line)?.[1]));
  expect(waits).toEqual(waits.map((_, at) => 500 * 2 ** at));
  for (const line of waiting) {
    expect(line).toContain('The database lacks the migration 0000_initial. Run');
    expect(line).toContain('Run `nightshift migrate` (in a clone: `npm run migrate`).');
  }
  expect(worker.ended()).toBeNull();

  const migration = startChild('src/cli/main.ts', ['migrate'], env);
  expect(await migration.exited, migration.lines.join('\n')).toEqual({ code: 0, signal: null });
  await worker.says(/worker process is up/);
  const database = openDatabase(empty.url, { max: 1 });
  expect(await query(database.db, 'select pid from processes where dead_at is null')).toEqual([{ pid: worker.pid }]);
  await database.close();
  worker.signal('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
});

test.each(['start', 'migrate'])('%s refuses a database of another build in plain text', async (command) => {
  made = await createEmptyDatabase();
  await migrate(made.url);
  const database = openDatabase(made.url, { max: 1 });
  await query(database.db, `update migrations set hash = 'of another build'`);
  await database.close();
  const env = { DATABASE_URL: made.url, REDIS_URL: redisUrl ?? '', PORT: '0', LOG_LEVEL: 'info' };
  const child = startChild('src/cli/main.ts', [command], env);
  expect(await child.exited, child.lines.join('\n')).toEqual({ code: 1, signal: null });
  expect(child.lines.at(-1)).toMatch(/^The database was created by another build of Nightshift.*`nightshift import`/);
  expect(child.lines.join('\n')).not.toMatch(/"level":[56]0|\n\s+at /);
});

describe.skipIf(redisUrl === null)('an API process on a database that needs a newer version', () => {
  const settings = (url: string) => ({
    DATABASE_URL: url,
    REDIS_URL: redisUrl ?? '',
    NIGHTSHIFT_PREFIX: testPrefix().replaceAll(/[{}]/g, ''),
    PORT: '0',
    LOG_LEVEL: 'info',
  });

  async function newerDatabase(): Promise<string> {
    made = await createEmptyDatabase();
    await migrate(made.url);
    await rowsOf(made.url, `comment on table nightshift.migrations is 'Processes need Nightshift 99.1.0'`);
    return made.url;
  }

  const REFUSED = /^The database was migrated by a newer version of Nightshift\..* Upgrade this process\.$/;

  test('does not start', async () => {
    const child = startChild('src/cli/main.ts', ['api'], settings(await newerDatabase()));
    expect(await child.exited, child.lines.join('\n')).toEqual({ code: 1, signal: null });
    expect(child.lines.at(-1)).toMatch(REFUSED);
    expect(child.lines.join('\n')).not.toContain('the API is up');
  });

  test('and that is away at its start: it is up, and ends once PostgreSQL answers', async () => {
    const { hostname, port } = new URL(await newerDatabase());
    const [away, url] = [await freePort(), new URL(made?.url ?? '')];
    Object.assign(url, { hostname: '127.0.0.1', port: String(away) });
    const child = startChild('src/cli/main.ts', ['api'], settings(url.href));
    await child.says(/PostgreSQL that does not respond \(ECONNREFUSED\)/);
    await child.says(/the API is up/);
    const relay = createServer((client) => {
      const server = connect(Number(port), hostname);
      for (const socket of [client, server]) socket.on('error', () => undefined);
      client.pipe(server).pipe(client);
    });
    relay.listen(away, '127.0.0.1');
    try {
      expect(await child.exited, child.lines.join('\n')).toEqual({ code: 1, signal: null });
    } finally {
      relay.close();
    }
    expect(child.lines.at(-1)).toMatch(REFUSED);
  });
});
