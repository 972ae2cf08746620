// Two tenants beside the one whose contexts are checked in detail, with a few users. One is suspended for a while and
// resumed; the other is deleted while its jobs run. At the end the first one is deleted, too.
import { setTimeout as sleep } from 'node:timers/promises';
import { tablesWithRowsOf } from '../../services/tenant-rows.ts';
import type { Random } from '../random.ts';
import { rows } from '../world/database.ts';
import { pages } from '../world/read-world.ts';
import type { OtherTenants, TenantInput, TenantJob } from '../world/world.ts';
import type { Asker } from './requests.ts';

const USERS = ['ann', 'ben', null] as const;
/** Inputs of each tenant. */
const EACH = 6;
/** Long enough that some jobs run when their tenant is suspended or deleted. */
const SCRIPT = 'tokens: 40 over 1s\n---\nsay: done';
/** After this time no process begins a job of a suspended tenant, in milliseconds. */
const NOTICED_MS = 1_000;
const SUSPENDED_MS = 4_000;
/** So long a deletion waits for what it has to stop. */
const DELETED_ANYWAY_MS = 120_000;
/** How long a deletion may take once there are no more faults. */
const DELETED_WITHIN_MS = 180_000;

export type Tenants = {
  /** After the faults: resolves once the jobs of the resumed tenant have ended. */
  settled(): Promise<void>;
  /** Deletes that tenant, too, and waits for both deletions. */
  finish(): Promise<OtherTenants>;
};

/** `mayBeDeleted`: when there is all that a deletion has to stop. */
export function startTenants(
  ask: Asker,
  databaseUrl: string,
  random: Random,
  ms: number,
  mayBeDeleted: Promise<void>,
): Tenants {
  const inputs: TenantInput[] = [];
  let suspended: OtherTenants['suspended'] = null;
  const ids = new Map<string, number>();
  const accepted = Promise.withResolvers<void>();
  const ready = Promise.all([mayBeDeleted, accepted.promise]);

  async function post(tenant: 'paused' | 'deleted', at: number): Promise<void> {
    // Both have work from the beginning.
    if (at > 0) await sleep(random.between(0, ms));
    const user = random.pick(USERS);
    const tag = `${tenant}-${at}`;
    const body = { name: tag, input: { content: SCRIPT }, ...(user !== null && { user }) };
    const more = { by: tenant, fine: [401, 403] };
    for (;;) {
      const answer = await ask.insist('POST', '/api/workers', body, tag, more);
      if (answer?.status === 201) inputs.push({ tenant, tag, user, jobId: String(answer.body['job_id']) });
      if (tenant === 'deleted' && answer?.status === 201) accepted.resolve();
      // A suspended tenant posts again when it is resumed; a deleted one never.
      if (answer?.status !== 403 || tenant === 'deleted') return;
      await sleep(500);
    }
  }

  async function suspendAndResume(): Promise<void> {
    await sleep(ms * 0.3);
    const change = (status: string) =>
      ask.insist('PATCH', '/api/tenants/paused', { status }, undefined, { by: 'operator' });
    if ((await change('suspended'))?.status !== 200) return;
    const from = Date.now() + NOTICED_MS;
    await sleep(SUSPENDED_MS);
    suspended = { from, to: Date.now() };
    await change('active');
  }

  async function remove(tenant: 'paused' | 'deleted'): Promise<void> {
    const [id] = await rows<{ id: number }>(
      databaseUrl,
      `select id::float8 as id from tenants where name = '${tenant}'`,
    );
    if (id !== undefined) ids.set(tenant, id.id);
    await ask.insist('DELETE', `/api/tenants/${tenant}`, undefined, undefined, { by: 'operator' });
  }

  const posted = (['paused', 'deleted'] as const).flatMap((tenant) =>
    Array.from({ length: EACH }, (_, at) => post(tenant, at)),
  );
  const deleted = sleep(ms * 0.6)
    .then(async () => Promise.race([ready, sleep(DELETED_ANYWAY_MS, undefined, { ref: false })]))
    .then(async () => remove('deleted'));
  const all = Promise.all([...posted, suspendAndResume(), deleted]);

  let jobs: TenantJob[] = [];

  return {
    async settled() {
      await all;
      jobs = await jobsOf(ask, inputs.filter(({ tenant }) => tenant === 'paused').length);
    },
    async finish() {
      await remove('paused');
      const left: string[] = [];
      const gone: string[] = [];
      for (const [tenant, id] of ids) {
        if (await isDeleted(ask, tenant)) gone.push(tenant);
        left.push(...(await tablesOf(databaseUrl, tenant, id)));
      }
      return { inputs, jobs, suspended, deleted: gone, left };
    },
  };
}

/** Once all have ended; after a minute as they are then. */
async function jobsOf(ask: Asker, count: number): Promise<TenantJob[]> {
  for (let tries = 0; ; tries += 1) {
    const jobs = (await pages(ask, '/api/jobs?limit=200', { by: 'paused' })) as {
      id: string;
      status: string;
      user: string | null;
      started_at: string | null;
    }[];
    const hasEnded = jobs.length >= count && jobs.every(({ status }) => !['queued', 'running'].includes(status));
    if (hasEnded || tries === 120 || ask.givenUp.aborted)
      return jobs.map(({ id, status, user, started_at: at }) => ({
        id,
        status,
        user,
        startedAt: at === null ? null : Date.parse(at),
      }));
    await sleep(500);
  }
}

/** Once it is. False: not in time. */
export async function isDeleted(ask: Asker, tenant: string): Promise<boolean> {
  const deadline = performance.now() + DELETED_WITHIN_MS;
  while (performance.now() < deadline && !ask.givenUp.aborted) {
    const answer = await ask.insist('GET', `/api/tenants/${tenant}`, undefined, undefined, {
      by: 'operator',
      fine: [404],
    });
    if (answer?.status === 404) return true;
    await sleep(500);
  }
  return false;
}

/** The tables that have rows of a tenant. */
async function tablesOf(databaseUrl: string, tenant: string, id: number): Promise<string[]> {
  const query = (text: string) => rows(databaseUrl, text);
  const left = await tablesWithRowsOf(query, id);
  const known = await query(`select 1 from tenants where id = ${id}`);
  return [...left, ...(known.length === 0 ? [] : ['tenants'])].map((name) => `${name} of ${tenant}`);
}
