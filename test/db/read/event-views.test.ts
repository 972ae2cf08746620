// The reads behind streams: pages in the order of numbers, and one query for all followed contexts.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ids as runIds } from '../../../src/platform/ids.ts';
import {
  DEFAULT_TENANT,
  isUuid,
  type ContextId,
  type JobId,
  type MessageId,
  type TenantId,
} from '../../../src/core/ids.ts';
import {
  eventsPage,
  keyOf,
  readEvents,
  readHead,
  readStreamProgress,
  readText,
} from '../../../src/db/read/messages/event-views.ts';
import { watchKeyOf, type Watched } from '../../../src/db/read/jobs/watched-jobs.ts';
import { given, ids, type Given } from '../database-fixture.ts';
import { createFreshDatabase } from '../../services/database.ts';

let the: Given;
beforeAll(async () => {
  the = await given(createFreshDatabase);
});
afterAll(() => the.close());

const db = () => the.database.db;
const other = 2 as TenantId;

/** Messages at odd numbers, events at even ones, two in each batch; every third message was retracted since; one input is queued. */
async function past(contextId: ContextId, count: number): Promise<void> {
  await the.rows(`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content)
    select gen_random_uuid(), 1, '${contextId}', 'main', n, 'assistant', 'text', 'a1',
      case when n % 3 = 0 then 'retracted' else 'completed' end, '[{"type":"text","text":"é"}]'
    from generate_series(1, ${count}, 2) as n`);
  await the.rows(`
    insert into event_batches (context_id, tenant_id, first_seq, seq, epoch, events)
    select '${contextId}', 1, min(n), max(n), 0,
      json_agg(json_build_array(n - first, 'StateChanged', '{"new_state":"Idle","job_id":null}'::json) order by n)
    from (select n, min(n) over (partition by n / 4) as first from generate_series(2, ${count}, 2) as n) n group by first`);
  await the.rows(`update contexts set head_seq = ${count} where id = '${contextId}'`);
  await the.submit(contextId);
}

test('pages follow each other in the order of numbers, whatever kinds of entries they contain', async () => {
  const { contextId } = await the.context();
  await past(contextId, 23);
  const seqs: number[] = [];
  for (let after = 0; ;) {
    const page = await readEvents(db(), DEFAULT_TENANT, contextId, { after, limit: 5 });
    seqs.push(...page.map(({ seq }) => seq));
    if (page.length < 5) break;
    after = page.at(-1)?.seq ?? 0;
  }
  expect(seqs).toEqual(Array.from({ length: 23 }, (_, at) => at + 1));
  const [message, event] = await readEvents(db(), DEFAULT_TENANT, contextId, { after: 2, limit: 2 });
  expect(message).toEqual({
    seq: 3,
    name: 'MessageCompleted',
    data: {
      context_id: contextId,
      message_id: expect.stringMatching(/-/),
      seq: 3,
      turn: 'a1',
      role: 'assistant',
      type: 'text',
      at: expect.stringMatching(/Z$/),
    },
  });
  expect(event).toEqual({
    seq: 4,
    name: 'StateChanged',
    data: { context_id: contextId, new_state: 'Idle', job_id: null, at: expect.stringMatching(/Z$/) },
  });
});

test('nothing of another tenant is read', async () => {
  const { contextId } = await the.context();
  await past(contextId, 3);
  const jobId = await the.submit(contextId);
  expect(await readEvents(db(), other, contextId, { after: 0, limit: 10 })).toEqual([]);
  expect(await readHead(db(), other, contextId)).toBeNull();
  const [first] = await readEvents(db(), DEFAULT_TENANT, contextId, { after: 0, limit: 1 });
  const message = first?.data['message_id'] as MessageId;
  expect(await readText(db(), other, message)).toBeNull();
  expect(await readText(db(), DEFAULT_TENANT, message)).toEqual({ text: 'é', attempt: null });
  const watched = (tenantId: TenantId): Watched => ({ tenantId, jobId, until: 'end' });
  const ask = (tenantId: TenantId) => readStreamProgress(db(), [{ tenantId, contextId }], [watched(tenantId)]);
  expect(await ask(other)).toEqual({ heads: new Map(), arrived: new Set([watchKeyOf(watched(other))]) });
  expect(await ask(DEFAULT_TENANT)).toEqual({
    heads: new Map([[keyOf(DEFAULT_TENANT, contextId), { headSeq: 3, owner: null, epoch: 0 }]]),
    arrived: new Set(),
  });
});

test('however many contexts are followed, it is one query; deleted contexts are not in it', async () => {
  const statements: string[] = [];
  const counted = the.open({ max: 1, hook: (text) => void statements.push(text) });
  const made = await Promise.all(Array.from({ length: 40 }, () => the.context()));
  const row = await the.claimed((made[0]?.contextId ?? '') as ContextId).catch(() => null);
  expect(row).toBeNull();
  const asked = [...made, { tenantId: DEFAULT_TENANT, contextId: ids.next<ContextId>() }];
  const progress = await readStreamProgress(counted.db, asked, [
    { tenantId: DEFAULT_TENANT, jobId: ids.next<JobId>(), until: 'end' },
  ]);
  expect(statements).toHaveLength(1);
  expect(progress.heads.size).toBe(40);
  expect(progress.arrived.size).toBe(1);
});

test('a page of a long past is two index scans, which end with the page', async () => {
  const { contextId } = await the.context();
  await past(contextId, 20_000);
  await the.rows('analyze messages, event_batches');
  const plan = (
    await db().execute<{ 'QUERY PLAN': string }>(
      sql`explain (analyze, timing off, costs off) ${eventsPage(DEFAULT_TENANT, contextId, { after: 10_001, limit: 500 })}`,
    )
  ).map((row) => row['QUERY PLAN']);
  expect(plan.filter((line) => line.includes('Seq Scan'))).toEqual([]);
  expect(plan.filter((line) => /Index.* Scan using (messages_seq|event_batches_)/.test(line))).toHaveLength(2);
});

test('the id of an answer is the same at every attempt, and different from all others', () => {
  const job = runIds.next<JobId>();
  const made = Array.from({ length: 50 }, (_, step) => runIds.answer(job, step));
  expect(made).toEqual(made.map((_, step) => runIds.answer(job, step)));
  const others = Array.from({ length: 50 }, (_, step) => runIds.answer(runIds.next<JobId>(), step));
  expect(new Set([...made, ...others]).size).toBe(100);
  for (const id of made) {
    expect(isUuid(id)).toBe(true);
    expect(id.slice(0, 13)).toBe(job.slice(0, 13));
    expect(id).toMatch(/^.{14}7.{4}[89ab]/);
  }
});
