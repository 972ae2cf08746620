// Fixtures for tests of the database: a database of their own, and short functions for contexts, processes and inputs.
import { randomInt } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { v7 } from 'uuid';
import { localBus } from '../../src/bus/local.ts';
import type { CommandPorts } from '../../src/commands/ports.ts';
import type { Append } from '../../src/core/run/append.ts';
import {
  DEFAULT_TENANT,
  type ContextId,
  type Ids,
  type JobId,
  type ProcessId,
  type TenantId,
  type WorkerId,
} from '../../src/core/ids.ts';
import type { Lease } from '../../src/core/run/snapshot.ts';
import { blank } from '../../src/core/transitions/base.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../../src/db/connection/client.ts';
import { claim } from '../../src/db/run/claims.ts';
import type { ContextRow } from '../../src/db/run/contexts.ts';
import { takeLock, register, type LeaseTimes } from '../../src/db/processes/processes.ts';
import { submit, type Submission } from '../../src/db/write/inputs/submit.ts';
import { createWorker, type NewWorker } from '../../src/db/write/workers/create.ts';
import type { WakeUp } from '../../src/queue/wake-queue.ts';
import { snapshot } from '../core/builders.ts';
import { createTestDatabase, type TestDatabase } from '../services/database.ts';
import { submissionTo } from './inputs.ts';

export const ids: Ids = { next: <T extends string>() => v7() as T };

/** A free lock counts after three seconds without a heartbeat, a held one after a hundred. */
export const TIMES: LeaseTimes = { heartbeatTimeoutMs: 3_000, leaseMs: 100_000 };

/** The next heartbeat of a live process is still to come. */
const AHEAD_MS = -3_600_000;

export type Row = Record<string, unknown>;

export type Context = { contextId: ContextId; workerId: WorkerId; tenantId: TenantId };

export type Given = {
  readonly url: string;
  readonly database: Database;
  /** Another pool on the same database; closed with the fixture. */
  open(options?: DatabaseOptions): Database;
  /** One whose process dies before the statement of this number, from 1; begin and commit count too. */
  dying(place: number): Database;
  context(over?: Partial<NewWorker>): Promise<Context>;
  /**
   * A process whose last heartbeat was `silentMs` ago; null: it counts as alive, however long a test takes. `lock`:
   * whether it still holds its lock.
   */
  process(over?: { silentMs?: number | null; lock?: boolean; sessionName?: string }): Promise<ProcessId>;
  submit(contextId: ContextId, over?: Partial<Submission>): Promise<JobId>;
  /** The context under a lease: a live process has claimed it. */
  claimed(contextId: ContextId): Promise<ContextRow>;
  rows(text: string): Promise<Row[]>;
  row(contextId: ContextId): Promise<Row>;
  ports(database?: Database): CommandPorts & { wakeUps: WakeUp[] };
  close(): Promise<void>;
};

export function newWorker(over: Partial<NewWorker> = {}): NewWorker {
  return {
    id: ids.next<WorkerId>(),
    tenantId: DEFAULT_TENANT,
    contextId: ids.next<ContextId>(),
    name: 'w',
    title: null,
    role: null,
    config: {},
    user: null,
    parentWorkerId: null,
    depth: 0,
    detached: false,
    ...over,
  };
}

/** `create`: `createFreshDatabase` where plans are looked at, since the pages that an earlier test has left decide them. */
export async function given(create: () => Promise<TestDatabase> = createTestDatabase): Promise<Given> {
  const own = await create();
  const opened: Database[] = [];
  const open = (options: DatabaseOptions = {}): Database => {
    const made = openDatabase(own.url, options);
    opened.push(made);
    return made;
  };
  const database = open({ max: 8, name: 'given' });
  const { db } = database;
  // A server that has only just started does not count heartbeats as missed yet.
  await db.execute(sql`
    select pg_sleep(greatest(0, ${TIMES.heartbeatTimeoutMs / 1_000 + 0.2}::float8
      - extract(epoch from clock_timestamp() - pg_postmaster_start_time())))`);
  const rows = async (text: string): Promise<Row[]> => [...(await db.execute(sql.raw(text)))];

  const the: Given = {
    url: own.url,
    database,
    open,
    dying(place) {
      let count = 0;
      const hook = (): void => {
        count += 1;
        if (count === place) throw new Error('died');
      };
      return open({ max: 1, hook });
    },
    rows,
    async context(over = {}) {
      const worker = newWorker(over);
      await createWorker(db, worker);
      return { contextId: worker.contextId, workerId: worker.id, tenantId: worker.tenantId };
    },
    async process({ silentMs = null, lock = false, sessionName } = {}) {
      const id = ids.next<ProcessId>();
      const lockKey = randomInt(1, 2 ** 47);
      if (lock) await takeLock(open({ max: 1 }).db, lockKey);
      const serves = { tools: [], roles: [], models: [], mcpServers: [] };
      const named = sessionName === undefined ? {} : { sessionName };
      await register(db, { id, lockKey, host: 'h', pid: 1, ...named, version: '0', ...serves });
      await db.execute(sql`
        update processes set heartbeat_at = date_trunc('milliseconds', clock_timestamp()) - ${silentMs ?? AHEAD_MS}::float8 * interval '1 millisecond'
        where id = ${id}`);
      return id;
    },
    async submit(contextId, over = {}) {
      const submission = submissionTo(contextId, over);
      if ((await submit(db, submission)) === null) throw new Error('the input was refused');
      return submission.jobId;
    },
    async claimed(contextId) {
      const row = await claim(db, contextId, await the.process());
      if (row === null) throw new Error('there was nothing to claim');
      return row;
    },
    async row(contextId) {
      const [row] = await rows(`select * from contexts where id = '${contextId}'`);
      if (row === undefined) throw new Error('no such context');
      return row;
    },
    ports(of = database) {
      const wakeUps: WakeUp[] = [];
      return {
        database: of,
        wakeQueue: {
          notify: (notify) => {
            wakeUps.push(notify);
          },
          isReachable: async () => true,
          close: async () => undefined,
        },
        bus: localBus(),
        ids,
        times: TIMES,
        stopGraceMs: 1_000,
        boundResult: (content) => content,
        wakeUps,
      };
    },
    async close() {
      await Promise.all(opened.map((made) => made.close()));
      await own.drop();
    },
  };
  return the;
}

/** An append without changes. */
export function nothing(lease: Lease, over: Partial<Append> = {}): Append {
  return { ...blank(snapshot({ lease })), ...over };
}
