// Deletion is permanent: of a context with rows in every table nothing is left.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { deleteWorker } from '../../../src/commands/workers/delete-worker.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { given, type Context, type Given } from '../database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

/** Tables whose rows belong to a context. */
async function tables(): Promise<string[]> {
  const rows = await the.rows(`
    select table_name from information_schema.columns join information_schema.tables t using (table_schema, table_name)
    where table_schema = 'nightshift' and column_name = 'context_id' and t.table_type = 'BASE TABLE' order by table_name`);
  return rows.map((row) => String(row['table_name']));
}

async function fill({ contextId, tenantId }: Context): Promise<void> {
  const jobId = await the.submit(contextId);
  const of = `'${contextId}', '${tenantId}'`;
  await the.rows(`insert into event_batches (context_id, tenant_id, first_seq, seq, epoch, events)
    values (${of}, 1, 1, 0, '[[0, "x", {}]]')`);
  await the.rows(`insert into tool_calls (context_id, tenant_id, id, job_id, message_id, ordinal, name, effect, on_unknown)
    values (${of}, '${v7()}', '${jobId}', '${v7()}', 0, 'x', 'none', 'tell')`);
  await the.rows(`insert into failed_calls (context_id, tenant_id, job_id, attempt, model, error, called_at)
    values (${of}, '${jobId}', 1, 'a/b', '{"code": "internal", "message": "x"}', now())`);
  await the.rows(`insert into compactions (context_id, tenant_id, id, branch, seq, upto_seq, type, summary, tokens_before,
    tokens_after, job_id) values (${of}, '${v7()}', 'main', 2, 1, 'llm', 'x', 2, 1, '${jobId}')`);
  await the.rows(`insert into tool_executions (context_id, tenant_id, tool_call_id, number, epoch, idempotency_key, began_at)
    values (${of}, '${v7()}', 1, 1, 'x', now())`);
  await the.rows(`insert into tool_logs (context_id, tenant_id, job_id, epoch, number, tool_call_id, attempt, level,
    message, at) values (${of}, '${jobId}', 1, 1, '${v7()}', 1, 'info', 'x', now())`);
  await the.rows(`insert into tool_reports (context_id, tenant_id, tool_call_id, epoch, ordinal, version, entries, dropped)
    values (${of}, '${v7()}', 1, 1, 1, 1, 0)`);
  await the.rows(`insert into tool_steps (context_id, tenant_id, tool_call_id, name, result, bytes, ended_at)
    values (${of}, '${v7()}', 'x', '{}', 2, now())`);
  await the.rows(`insert into awaited_jobs (context_id, tenant_id, tool_call_id, job_id, worker_id, ordinal)
    values (${of}, '${v7()}', '${jobId}', '${v7()}', 0)`);
  await the.rows(`insert into approval_grants (context_id, tenant_id, tool, actor, created_at, expires_at)
    values (${of}, 'x', '{"kind": "operator"}', now(), now() + interval '1 hour')`);
  await the.rows(`insert into webhook_outbox (context_id, tenant_id, seq) values (${of}, 1)`);
  await the.rows(`insert into job_webhooks (context_id, tenant_id, job_id, webhook_id)
    values (${of}, '${jobId}', '${v7()}')`);
  await the.rows(`insert into webhook_deliveries (context_id, tenant_id, id, webhook_id, job_id, type, seq, body,
    next_attempt_at, give_up_at) values (${of}, '${v7()}', '${v7()}', '${jobId}', 'job.started', 1, '{}', now(), now())`);
  await the.rows(`insert into search_backlog (context_id, tenant_id, upto_seq) values (${of}, 1)`);
  await the.rows(`insert into search_entries (context_id, tenant_id, seq, message_id, role, created_at, document)
    values (${of}, 1, '${v7()}', 'user', now(), to_tsvector('english', 'x'))`);
}

const counts = async ({ contextId }: Context): Promise<Record<string, number>> =>
  Object.fromEntries(
    await Promise.all(
      (await tables()).map(async (table): Promise<[string, number]> => {
        const [row] = await the.rows(`select count(*)::int as n from ${table} where context_id = '${contextId}'`);
        return [table, Number(row?.['n'])];
      }),
    ),
  );

test('a deleted context leaves no row in any table', async () => {
  const [gone, stays] = [await the.context(), await the.context()];
  for (const context of [gone, stays]) await fill(context);
  const before = await counts(stays);
  // A new table with rows of contexts is filled here.
  expect(Object.entries(before).filter(([, n]) => n === 0)).toEqual([]);
  expect(await deleteWorker(the.ports(), DEFAULT_TENANT, gone.workerId)).toEqual({
    kind: 'done',
    deleted: 1,
  });
  expect(Object.values(await counts(gone)).every((n) => n === 0)).toBe(true);
  expect(await the.rows(`select 1 from contexts where id = '${gone.contextId}'`)).toEqual([]);
  expect(await counts(stays)).toEqual(before);
});
