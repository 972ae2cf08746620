/**
 * Durable steps of calls. They are read and stored for the process that owns the context of the call, while the call is open,
 * and its job is active and was not told to end. A result is stored once: a later one for the same name changes nothing.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, JobId, ProcessId, TenantId, ToolCallId } from '../../core/ids.ts';
import type { User } from '../../core/access/user.ts';
import type { Json } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { NewStep, StoredStep } from '../../core/tools/steps.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { millis } from '../connection/instant.ts';
import { insertInto } from '../rows/written-columns.ts';
import { toolSteps } from '../schema/tool-calls.ts';

/**
 * The call, and the lease under which it runs. `epoch`: that of the claim. The run may have raised it since; another owner
 * may not have.
 */
export type RunningCall = {
  tenantId: TenantId;
  contextId: ContextId;
  jobId: JobId;
  toolCallId: ToolCallId;
  owner: ProcessId;
  epoch: number;
};

/** Whether the call may go on. Of the context `c` and the job `j`. */
const mayGoOn = ({ tenantId, contextId, jobId, toolCallId, owner, epoch }: RunningCall): SQL => sql`
  c.id = ${contextId} and c.tenant_id = ${tenantId} and c.lease_owner = ${owner} and c.lease_epoch >= ${epoch}
    and j.id = ${jobId} and j.context_id = c.id and j.status in ('running', 'waiting') and j.stop_kind is null
    and exists (select 1 from tool_calls t where t.id = ${toolCallId} and t.context_id = c.id and t.finished_at is null)`;

/** By name. Null: the call must not go on. */
export async function loadSteps(executor: Executor, call: RunningCall): Promise<Map<string, StoredStep> | null> {
  type Row = { name: string; result: { value: Json }; bytes: number } | { name: null };
  const rows = await executor.execute<Row>(sql`/* tool_steps.load */
    select s.name, s.result, s.bytes from contexts c join jobs j on ${mayGoOn(call)}
    left join tool_steps s on s.tool_call_id = ${call.toolCallId} and s.tenant_id = c.tenant_id`);
  if (rows.length === 0) return null;
  return new Map(
    rows.flatMap((row): [string, StoredStep][] =>
      row.name === null ? [] : [[row.name, { value: row.result.value, bytes: row.bytes }]],
    ),
  );
}

/** Failed claims that a step leaves: the context is still claimed apart from others, and far from a crash loop. */
const SUSPECT = 2;

/**
 * Returns what is stored. Null: the call must not go on, and nothing was stored. A stored step is progress: a call that
 * gets further with each execution is no crash loop. It stays suspect, since it may be what ended its process.
 */
export async function storeStep(executor: Executor, call: RunningCall, step: NewStep): Promise<{ value: Json } | null> {
  const [stored] = await executor.execute<{ result: { value: Json } }>(sql`/* tool_steps.store */
    with held as materialized (
      select c.id, c.tenant_id from contexts c join jobs j on ${mayGoOn(call)} for no key update of c, j
    ), gone_on as (
      update contexts c set failed_claims = ${SUSPECT} from held where c.id = held.id and c.failed_claims > ${SUSPECT}
    )
    ${stepRow(call, step)} from held
    on conflict (tool_call_id, name) do update set name = excluded.name
    returning result`);
  return stored?.result ?? null;
}

/** Of the context `held`. */
function stepRow({ toolCallId }: RunningCall, { name, value, bytes }: NewStep): SQL {
  return insertInto(toolSteps, {
    toolCallId: sql`${toolCallId}::uuid`,
    name: sql`${name}`,
    tenantId: sql`held.tenant_id`,
    contextId: sql`held.id`,
    result: sql`${encodeJson({ value })}::json`,
    bytes: sql`${bytes}::int`,
    endedAt: sql`statement_timestamp()`,
  });
}

/** The job of a call that starts work. */
export type StartingJob = { hops: number; priority: number; user: User | null; deadline: Millis | null };

/**
 * Locks the job of a call until the transaction ends, so that it does not end, is not told to end, and starts nothing else.
 * Lock order: after the row of any other context, and last, or first of all. The job comes before its context, as in no
 * other statement: a deletion deletes the job first, so who waits for the job must hold nothing of the context. The row of
 * the context is not waited for: a deletion that has it has deleted the job. Null: the call must not go on.
 */
export async function lockJobOf(tx: Executor, call: RunningCall): Promise<StartingJob | null> {
  const [row] = await tx.execute<StartingJob>(sql`/* jobs.lock_starting */
    select j.hops, j.priority, j.user_name as "user", ${millis(sql`j.deadline`)} as deadline
    from contexts c join jobs j on ${mayGoOn(call)} for no key update of j for key share of c skip locked`);
  return row ?? null;
}

/** Null: there is none. */
export async function findStep(executor: Executor, call: RunningCall, name: string): Promise<{ value: Json } | null> {
  const [row] = await executor.execute<{ result: { value: Json } }>(sql`/* tool_steps.find */
    select result from tool_steps where tool_call_id = ${call.toolCallId} and name = ${name}
      and tenant_id = ${call.tenantId}`);
  return row?.result ?? null;
}

/**
 * In the transaction that started what it names. Throws a unique violation if there is such a step. It is progress, as with
 * `storeStep`; but the job is locked, so a locked row of its context is not waited for.
 */
export async function addStep(tx: Executor, call: RunningCall, step: NewStep): Promise<void> {
  await tx.execute(sql`/* tool_steps.add */
    with suspect as materialized (
      select c.id from contexts c
      where c.id = ${call.contextId} and c.tenant_id = ${call.tenantId} and c.failed_claims > ${SUSPECT}
      for no key update skip locked
    ), gone_on as (
      update contexts c set failed_claims = ${SUSPECT} from suspect where c.id = suspect.id
    )
    ${stepRow(call, step)} from contexts held where held.id = ${call.contextId} and held.tenant_id = ${call.tenantId}`);
}

/** A stored step, without its result: no client reads it. */
export type ToolStepView = { name: string; endedAt: Millis; bytes: number };

/** Steps of a call that are shown. */
const SHOWN = 100;

/** JSON of the `ToolStepView`s of a call, oldest first: the last 100. */
export function toolStepsOf(callId: SQL, tenantId: SQL): SQL {
  return sql`(select coalesce(json_agg(json_build_object('name', p.name, 'endedAt', ${millis(sql`p.ended_at`)},
      'bytes', p.bytes) order by p.ended_at, p.name), '[]')
    from (select * from tool_steps s where s.tool_call_id = ${callId} and s.tenant_id = ${tenantId}
      order by s.ended_at desc, s.name desc limit ${sql.raw(String(SHOWN))}) p)`;
}
