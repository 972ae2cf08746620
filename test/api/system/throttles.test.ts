// The operator ends a throttle: which jobs go on, and which do not.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { DEFAULT_TENANT, type ContextId, type JobId, type ProcessId, type TenantId } from '../../../src/core/ids.ts';
import { setThrottle } from '../../../src/db/processes/throttles.ts';
import { addProcess, take } from '../manual-worker.ts';
import { openApi, type Api } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api, {});
});
afterAll(() => api.close());

const MINUTE_MS = 60_000;
const MODEL = { provider: 'anthropic', model: 'm', keyId: 'k' } as const;

/** A throttle of `MODEL` for five minutes, which began some seconds ago. */
async function throttle(
  id: string,
  tenantId: TenantId = DEFAULT_TENANT,
  refusedAt = Date.now() - 5_000,
): Promise<void> {
  const times = { since: refusedAt, refusedAt, until: refusedAt + 5 * MINUTE_MS };
  await setThrottle(api.database.db, MODEL, { id, tenantId, reason: 'rate_limited', ...times });
}

const lift = async (id: string): Promise<number> =>
  (await api.call('DELETE', `/api/providers/anthropic/throttles/${id}`)).status;

/** A context whose job begins to wait for a minute as `wait` says. */
async function waiting(wait: (manual: Awaited<ReturnType<typeof take>>, at: number) => Promise<unknown>) {
  const worker = await api.worker();
  const contextId: ContextId = worker.context_id;
  const { body } = await api.post(`/api/contexts/${contextId}/messages`, { content: 'hello' });
  const manual = await take(api, contextId, owner);
  await manual.admit();
  await wait(manual, Date.now() + MINUTE_MS);
  return { contextId, jobId: body.job_id as JobId };
}

/** How long until it goes on, and until its job does: in milliseconds. */
async function left({ contextId, jobId }: { contextId: ContextId; jobId: JobId }) {
  const [row] = await api.database.db.execute<{ context: number; job: number | null }>(sql`
    select (extract(epoch from c.next_check_at - clock_timestamp()) * 1000)::float8 as context,
      (extract(epoch from j.retry_at - clock_timestamp()) * 1000)::float8 as job
    from contexts c join jobs j on j.context_id = c.id where c.id = ${contextId} and j.id = ${jobId}`);
  if (row === undefined) throw new Error('There is no such job.');
  return row;
}

/** As the process whose call failed records it. */
const failedCall = ({ contextId, jobId }: { contextId: ContextId; jobId: JobId }, model: string, code: string) =>
  api.database.db.execute(sql`
    insert into failed_calls (job_id, attempt, context_id, tenant_id, model, error, called_at, retry_at)
    values (${jobId}, 1, ${contextId}, ${DEFAULT_TENANT}, ${model}, jsonb_build_object('code', ${code}::text), now(), now() + interval '1 minute')`);

/** Its model call failed. */
async function delays(manual: Awaited<ReturnType<typeof take>>, at: number): Promise<void> {
  await manual.delay(at);
  await manual.sleep(at);
}

const SOON_MS = 5_000;

test('jobs go on that wait for the throttle, or to repeat a call that was refused; no others', async () => {
  await throttle('t');
  const delayed = await waiting((manual, at) => manual.throttledUntil(at, at));
  const refused = await waiting(delays);
  await failedCall(refused, 'anthropic/m', 'provider_overloaded');
  const elsewhere = await waiting(delays);
  await failedCall(elsewhere, 'anthropic/other', 'provider_overloaded');
  const sleeping = await waiting((manual, at) => manual.releaseUntil(at));
  expect(await lift('t')).toBe(204);
  for (const one of [delayed, refused]) {
    const { context, job } = await left(one);
    expect(context).toBeLessThan(SOON_MS);
    expect(job).toBeLessThanOrEqual(context + 5);
  }
  const other = await left(elsewhere);
  expect(Math.min(other.context, other.job ?? 0)).toBeGreaterThan(SOON_MS);
  const { context, job } = await left(sleeping);
  expect(context).toBeGreaterThan(SOON_MS);
  expect(job).toBeNull();
});

test('for a minute it may be repeated: a job that begins to wait meanwhile goes on, too', async () => {
  await throttle('t', DEFAULT_TENANT, Date.now());
  expect(await lift('t')).toBe(204);
  const late = await waiting((manual, at) => manual.throttledUntil(at, at));
  expect(await lift('t')).toBe(204);
  expect((await left(late)).context).toBeLessThan(SOON_MS);
  await api.database.db.execute(sql`update provider_throttles set lifted_at = lifted_at - interval '2 minutes'`);
  expect(await lift('t')).toBe(404);
  expect(await lift('a%00b')).toBe(404);
});

test('the throttles of all tenants end; a refusal from before does not begin them again, a later one does', async () => {
  const other = await ensureTenant(api.database.db, 'other');
  const before = Date.now() - 1_000;
  await throttle('u', DEFAULT_TENANT, before);
  await throttle('u', other, before);
  expect(await lift('u')).toBe(204);
  const active = async () => {
    const rows = await api.database.db.execute<{ tenant_id: number }>(
      sql`select tenant_id from provider_throttles where id = 'u' and until > clock_timestamp() order by 1`,
    );
    return rows.map(({ tenant_id: tenantId }) => tenantId);
  };
  expect(await active()).toEqual([]);
  await throttle('u', other, before + 1);
  expect(await active()).toEqual([]);
  await throttle('u', other, Date.now() + 1_000);
  expect(await active()).toEqual([other]);
});
