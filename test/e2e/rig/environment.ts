// A database, a queue and a bus of one's own, and the commands on them: for a test that starts worker processes beside
// itself and acts as their client.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql, type SQL } from 'drizzle-orm';
import { inject } from 'vitest';
import type { Actor } from '../../../src/core/access/actor.ts';
import { localBus } from '../../../src/bus/local.ts';
import { redisBus } from '../../../src/bus/redis.ts';
import { ids } from '../../../src/platform/ids.ts';
import { approveCalls } from '../../../src/commands/calls/approve-calls.ts';
import { cancelJob } from '../../../src/commands/jobs/cancel-job.ts';
import { interruptContext } from '../../../src/commands/contexts/interrupt-context.ts';
import type { InterruptMode } from '../../../src/core/run/job.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { perform } from '../../../src/commands/perform.ts';
import type { CommandPorts } from '../../../src/commands/ports.ts';
import { delayInput } from '../../../src/commands/inputs/delay-input.ts';
import { submitInput } from '../../../src/commands/inputs/submit-input.ts';
import { DEFAULT_TENANT, type ContextId, type JobId, type ToolCallId } from '../../../src/core/ids.ts';
import type { WorkerConfig } from '../../../src/core/workers/settings.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../../../src/db/connection/client.ts';
import { migrate } from '../../../src/db/setup/migrate.ts';
import { redisQueue } from '../../../src/queue/redis.ts';
import { postedInput } from '../../db/inputs.ts';
import { createTestDatabase } from '../../services/database.ts';
import type { PooledDatabase } from '../../services/database-pool.ts';
import { testPrefix } from '../../services/prefix.ts';
import { deaf } from '../../workers/worker-ports.ts';
import { CRASH_TIMES } from '../crash/crash-times.ts';
import { query, type Row } from './stored.ts';
import { until } from './until.ts';

const ACTOR: Actor = { kind: 'operator', id: null, user: null, onBehalfOf: null };

export type TestEnvironment = {
  ports: CommandPorts;
  /** The settings that a process needs to take part. */
  env: Record<string, string>;
  /** As `openDatabase`, on its database. On that of the run, through connections that an earlier test has used. */
  open(options: DatabaseOptions): Database;
  /** A file of this environment's own. */
  file(name: string): string;
  createContext(config: WorkerConfig): Promise<ContextId>;
  post(contextId: ContextId, text: string): Promise<JobId>;
  /** Starts so many seconds later. */
  delay(contextId: ContextId, text: string, seconds: number): Promise<JobId>;
  cancel(jobId: JobId): Promise<void>;
  interrupt(contextId: ContextId, mode: InterruptMode): Promise<void>;
  /** A decision on one call: `reason` of a denial, null of an approval. */
  judge(contextId: ContextId, toolCallId: ToolCallId, reason: string | null): Promise<void>;
  query(text: string | SQL): Promise<Row[]>;
  /** No job is unfinished, no follow-up, schedule or delivery is due, and no context has an owner. */
  isSettled(): Promise<boolean>;
  /** Resolves once it is so, or once `orElse` ends the wait. */
  settled(orElse?: () => boolean): Promise<void>;
  close(): Promise<void>;
};

/** Services of its own, in place of those that the run shares. */
export type Own = { databaseUrl?: string; redisUrl?: string };

export async function openEnvironment(own: Own = {}): Promise<TestEnvironment> {
  const made = own.databaseUrl === undefined ? await createTestDatabase() : await migrated(own.databaseUrl);
  const folder = await mkdtemp(path.join(tmpdir(), 'nightshift-stage-'));
  const redisUrl = own.redisUrl ?? inject('redisUrl');
  const prefix = testPrefix().replaceAll(/[{}]/g, '');
  const quiet = (): void => undefined;
  const database = made.open({ max: 2, name: 'stage' });
  const wakeQueue = (redisUrl === null ? deaf : redisQueue(redisUrl, prefix, quiet)).openWakeQueue();
  const bus = redisUrl === null ? localBus() : redisBus(redisUrl, prefix, quiet);
  const ports: CommandPorts = {
    database,
    wakeQueue,
    bus,
    ids,
    times: CRASH_TIMES,
    stopGraceMs: CRASH_TIMES.stopGraceMs,
    boundResult: (content) => content,
  };
  const environment: TestEnvironment = {
    ports,
    env: {
      DATABASE_URL: made.url,
      ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
      NIGHTSHIFT_PREFIX: prefix,
    },
    open: (options) => made.open(options),
    file: (name) => path.join(folder, name),
    createContext: async (config) => (await value(perform(ports, create(ports, config)))).contextId,
    async post(contextId, text) {
      const input = { ...postedInput({ content: [{ type: 'text', text }] }), contextId };
      return (await value(perform(ports, submitInput(ports, input)))).jobId;
    },
    async delay(contextId, text, seconds) {
      const input = { ...postedInput(), content: [{ type: 'text' as const, text }], contextId };
      return (await value(perform(ports, delayInput(ports, input, { kind: 'after', seconds })))).jobId;
    },
    cancel: async (jobId) => {
      await value(perform(ports, cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId, reason: null, by: null })));
    },
    interrupt: async (contextId, mode) => {
      await value(perform(ports, interruptContext(ports, { tenantId: DEFAULT_TENANT, contextId, mode, by: null })));
    },
    judge: async (contextId, toolCallId, reason) => {
      const decision = reason === null ? 'approve' : 'deny';
      const judgement = { toolCallId, decision, reason, input: null, remember: null, actor: ACTOR } as const;
      await value(perform(ports, approveCalls({ tenantId: DEFAULT_TENANT, contextId }, judgement)));
    },
    query: (text) => query(database.db, text),
    async isSettled() {
      // With a parameter: planning it costs PostgreSQL ten times as much as running it.
      const open = await environment.query(sql`
        select 1 from jobs where finished_at is null or parent_notice = 'due' or cascade is not null
        union all select 1 from contexts where scheduling_status <> ${'idle'}
        union all select 1 from schedules where next_run_at is not null
        union all select 1 from submissions where status = 'queued'
        union all select 1 from webhook_outbox where retry_at is null
        union all select 1 from webhooks where due_at <= now()`);
      return open.length === 0;
    },
    settled: (orElse = () => false) =>
      until('every job to end', async () => orElse() || (await environment.isSettled())),
    async close() {
      await wakeQueue.close();
      await bus.close();
      await database.close();
      await made.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return environment;
}

async function migrated(databaseUrl: string): Promise<PooledDatabase> {
  await migrate(databaseUrl);
  return {
    url: databaseUrl,
    open: (options) => openDatabase(databaseUrl, options),
    drop: async () => undefined,
  };
}

/** `work` on an environment that is closed afterwards. */
export async function withEnvironment<T>(work: (environment: TestEnvironment) => Promise<T>): Promise<T> {
  const environment = await openEnvironment();
  try {
    return await work(environment);
  } finally {
    await environment.close();
  }
}

function create(ports: CommandPorts, config: WorkerConfig) {
  const worker = { user: null, name: 'test', title: null, role: null, parentWorkerId: null };
  return createWorker(ports, { tenantId: DEFAULT_TENANT, ...worker, config });
}

async function value<T>(outcome: ReturnType<typeof perform<T>>): Promise<T> {
  const ended = await outcome;
  if (ended.kind === 'refused') throw new Error(`${ended.code}: ${ended.message}`);
  return ended.value;
}
