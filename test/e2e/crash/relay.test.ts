// A worker process dies by SIGKILL at each statement with which it relays the outbox of a service, in both databases, and
// at each commit: a row leaves the outbox once, becomes one job, and leaves no receipt.
import { afterAll, expect, test } from 'vitest';
import {
  DEFAULT_TENANT_NAME,
  type ContextId,
  type JobId,
  type MessageId,
  type WorkerId,
} from '../../../src/core/ids.ts';
import { ids } from '../../../src/platform/ids.ts';
import { depth } from '../../services/depth.ts';
import { createServiceDatabase, type ServiceDatabase } from '../../services/outbox.ts';
import { killChildren } from '../rig/children.ts';
import { withEnvironment, type TestEnvironment } from '../rig/environment.ts';
import { until } from '../rig/until.ts';
import {
  continueUntil,
  dieAtEachKind,
  dieEverywhere,
  startCrashWorker,
  type Cast,
  type Play,
} from './crash-scenarios.ts';

const services = new Map<TestEnvironment, ServiceDatabase>();

afterAll(async () => {
  await killChildren();
  for (const service of services.values()) await service.close();
});

function serviceOf({ environment }: Cast): ServiceDatabase {
  const service = services.get(environment);
  if (service === undefined) throw new Error('no service');
  return service;
}

/** A worker, a further input of it, and a row that the operator has not allowed: in one transaction of the service. */
async function enqueue(cast: Cast): Promise<void> {
  const contextId = ids.next<ContextId>();
  const worker = { worker_id: ids.next<WorkerId>(), name: 'w', config: { model: 'simulated/default' } };
  const bodies = [
    { ...worker, input: { content: 'say: one' } },
    { input: { content: 'say: two' } },
    { input: { content: 'say: never' } },
  ];
  const tenants = [DEFAULT_TENANT_NAME, DEFAULT_TENANT_NAME, 'other'];
  await serviceOf(cast).sql.begin(async (tx) => {
    for (const [at, body] of bodies.entries()) {
      const jobId = ids.next<JobId>();
      cast.jobIds.push(jobId);
      const made = { job_id: jobId, message_id: ids.next<MessageId>(), context_id: contextId, ...body };
      await tx`select nightshift.nightshift_submit_v1(${tenants[at] ?? ''}, ${JSON.stringify(made)})`;
    }
  });
}

/** Where the jobs were made before the death, and deleted after it. */
const deleted = new Set<TestEnvironment>();

const play: Play = {
  inputs: [],
  async begin(cast) {
    const service = await createServiceDatabase();
    services.set(cast.environment, service);
    await service.install();
    await enqueue(cast);
  },
  env: (cast) => ({ OUTBOX_URL: serviceOf(cast).url }),
  // What was relayed may have ended, and be deleted, before the next process meets the rows that are left.
  async afterDeath({ environment }) {
    if (!(await environment.isSettled())) await continueUntil(environment, {}, () => environment.isSettled());
    if ((await environment.query('delete from jobs returning 1')).length > 0) deleted.add(environment);
  },
  async hasMore(cast) {
    const rows = await serviceOf(cast).rows();
    const receipts = await cast.environment.query('select 1 from outbox_receipts');
    return rows.some(({ code }) => code === null) || receipts.length > 0;
  },
  async expect(cast) {
    const { environment, jobIds } = cast;
    const [one, two, refused] = jobIds;
    const service = serviceOf(cast);
    expect(await service.rows()).toEqual([{ job_id: refused, tenant: 'other', code: 'tenant_not_allowed' }]);
    expect(await environment.query('select 1 from outbox_receipts union all select 1 from submissions')).toEqual([]);
    const jobs = [
      { id: one, status: 'completed', position: 1 },
      { id: two, status: 'completed', position: 2 },
    ];
    const stored = await environment.query('select id, status, position::int as position from jobs order by position');
    expect(stored).toEqual(deleted.has(environment) ? [] : jobs);
    const inputs = `select content -> 0 ->> 'text' as text from messages where role = 'user' order by seq`;
    expect(await environment.query(inputs)).toEqual([{ text: 'say: one' }, { text: 'say: two' }]);
    expect(await environment.query('select 1 from workers')).toHaveLength(1);
    services.delete(environment);
    deleted.delete(environment);
    await service.close();
  },
};

/** The statements of a batch, its commits, the removal of the receipts; and some of what then happens to the jobs. */
const LEAST = 13;
const KINDS = 11;

test.each(depth(['after'] as const, ['after', 'before'] as const))(
  'dying right %s each statement of a relay leaves one job for each row',
  { timeout: 240_000 },
  async (when) => {
    const isEach = depth(false, true);
    const died = await (isEach ? dieEverywhere(play, when) : dieAtEachKind(play, when));
    process.stdout.write(`died right ${when} ${died} statements and effects of a relay\n`);
    expect(died).toBeGreaterThanOrEqual(isEach ? LEAST : KINDS);
  },
);

const SLEEPING = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;

type Query = (text: string) => PromiseLike<readonly unknown[]>;

/** Makes the commits that change the table take a while. Returns what ends that. */
async function slowDown(query: Query, event: 'insert' | 'delete', table: string): Promise<() => Promise<void>> {
  await query(`create function public.commit_slowly() returns trigger language plpgsql as $$
    begin perform pg_sleep(0.5); return null; end $$`);
  await query(`create constraint trigger slowly after ${event} on ${table} deferrable initially deferred
    for each row execute function public.commit_slowly()`);
  return async () => void (await query('drop function public.commit_slowly cascade'));
}

const COMMITS = [
  {
    what: 'the submissions are committed',
    event: 'insert',
    table: 'nightshift.outbox_receipts',
    queryOf:
      ({ environment }: Cast): Query =>
      (text) =>
        environment.query(text),
  },
  {
    what: 'the deletion of the rows is committed',
    event: 'delete',
    table: 'nightshift.outbox',
    queryOf:
      (cast: Cast): Query =>
      (text) =>
        serviceOf(cast).sql.unsafe(text),
  },
] as const;

test.each(COMMITS)(
  'dying while $what leaves one job for each row',
  { timeout: 120_000 },
  async ({ event, table, queryOf }) => {
    await withEnvironment(async (environment) => {
      const cast: Cast = { environment, contextIds: [], jobIds: [] };
      await play.begin?.(cast);
      const query = queryOf(cast);
      const end = await slowDown(query, event, table);
      const env = play.env?.(cast) ?? {};
      const first = startCrashWorker(environment, env);
      await until('the commit', async () => (await query(SLEEPING)).length > 0);
      first.signal('SIGKILL');
      await first.exited;
      await until('the end of the commit', async () => (await query(SLEEPING)).length === 0);
      await continueUntil(
        environment,
        env,
        async () => !(await play.hasMore?.(cast)) && (await environment.isSettled()),
      );
      await end();
      await play.expect(cast, new Set());
    });
  },
);
