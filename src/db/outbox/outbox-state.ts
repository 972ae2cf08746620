/** What waits in an outbox, and what was refused: for operators and metrics. */
import { sql } from 'drizzle-orm';
import type { Executor } from '../connection/client.ts';
import { waitingRows } from './outbox-rows.ts';

/** Of a large backlog, so many rows are counted. */
export const MOST_COUNTED = 100_000;

/** `oldestMs`: the age of the oldest row that waits, those of `held` left out; null: none does. */
export type OutboxBacklog = { waiting: number; oldestMs: number | null; refused: number };

/** `held`: tenants whose rows must wait. */
export async function readBacklog(executor: Executor, held: readonly string[] = []): Promise<OutboxBacklog> {
  const [row] = await executor.execute<Omit<OutboxBacklog, 'oldestMs'>>(sql`
    select (select count(*) from (select 1 from outbox o where o.refused_at is null limit ${MOST_COUNTED}) w)::int
        as waiting,
      (select count(*) from (select 1 from outbox o where o.refused_at is not null limit ${MOST_COUNTED}) r)::int
        as refused`);
  if (row === undefined) throw new Error('PostgreSQL did not count the rows of the outbox.');
  const [oldest] = row.waiting === 0 ? [] : await waitingRows(executor, held, 1);
  return { ...row, oldestMs: oldest?.ageMs ?? null };
}

/** As it is in the table, which belongs to the service. */
export type RefusedRow = { jobId: string; tenant: string; code: string; message: string };

/** The last ones first. */
export async function lastRefused(executor: Executor, most: number): Promise<RefusedRow[]> {
  return executor.execute<RefusedRow>(sql`
    select o.job_id::text as "jobId", o.tenant::text as tenant, coalesce(o.error ->> 'code', '') as code,
      coalesce(o.error ->> 'message', '') as message from outbox o
    where o.refused_at is not null order by o.refused_at desc limit ${most}`);
}
