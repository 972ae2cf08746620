/**
 * The single statement with which runs write. For each append of a batch, a guarded update of the context's row takes
 * the lock, checks the epoch and the guarded counters, and assigns the sequence numbers. All other writes join that
 * update, so an append whose guard fails writes nothing. A batch holds appends of many contexts, at most one per
 * context.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { ContextId } from '../../../core/ids.ts';
import type { Append, AppendOutcome } from '../../../core/run/append.ts';
import {
  admittedRows,
  changedRows,
  contextRow,
  eventRows,
  failedCallRows,
  idRows,
  jobRows,
  messageRows,
  requestedRows,
} from './append-rows.ts';
import { LOCK_FIRST, countdown, metBy } from '../../calls/awaited.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { compactionRows } from '../compactions.ts';
import { cascadeOnceEnded, hasFollowUp, noticeOnceEnded } from '../ends.ts';
import { executedRows, executionEndRows } from '../executions.ts';
import { engagements, engages, ownCalls } from '../spawns.ts';
import { costSum } from '../../model-calls/usage.ts';

/**
 * Returns outcomes in the order of `appends`. `held` decides what happens when another transaction has locked a
 * context's row: `wait` waits for the lock, `pass` treats the append as stale so that the rest of the batch does not
 * wait.
 */
export async function append(
  executor: Executor,
  appends: readonly Append[],
  held: 'wait' | 'pass' = 'wait',
): Promise<AppendOutcome[]> {
  const rows = await executor.execute<CommittedRow>(statement(appends, held));
  const committed = new Map(rows.map((row) => [row.id, row]));
  return appends.map(({ lease }) => {
    const row = committed.get(lease.contextId);
    return row === undefined
      ? { kind: 'stale' }
      : {
          kind: 'committed',
          firstSeq: row.base + 1,
          headSeq: row.head_seq,
          wakeSeq: row.wake_seq,
          controlSeq: row.control_seq,
          followUp: row.follow_up,
          met: row.met ?? [],
        };
  });
}

const ALL = sql`free as (select * from wanted)`;
const FREE = sql`free as materialized (
      select w.* from wanted w join contexts c on c.id = w.id and c.tenant_id = w.tenant
      for no key update of c skip locked
    )`;

type CommittedRow = {
  id: string;
  base: number;
  head_seq: number;
  wake_seq: number;
  control_seq: number;
  follow_up: boolean;
  met: ContextId[] | null;
};

/**
 * Which parts of the statement a batch needs. PostgreSQL sets up every part on each execution, even one without rows to
 * write, so most statement texts leave out the parts that few appends use. There are few groups, because PostgreSQL
 * plans each text once per connection.
 */
type Needs = {
  /** Calls are requested or change. */
  calls: boolean;
  /** Jobs end, or messages are queued for the search index. */
  ends: boolean;
  /** Inputs enter the history. */
  inputs: boolean;
  /** Failed model calls, retracted or withdrawn messages, compactions, ends of executions. */
  rare: boolean;
  /** Workers start jobs of other workers. */
  engaged: boolean;
};

/** One JSON array per table: the statement text does not depend on the rows, so each text is prepared once. */
type Rows = ReturnType<typeof rowsOf>;

function rowsOf(appends: readonly Append[]) {
  return {
    contexts: appends.map(contextRow),
    messages: appends.flatMap(messageRows),
    events: appends.flatMap(eventRows),
    jobs: appends.flatMap(jobRows),
    admitted: appends.flatMap(admittedRows),
    requested: appends.flatMap(requestedRows),
    changed: appends.flatMap(changedRows),
    executed: appends.flatMap(executedRows),
    executionEnds: appends.flatMap(executionEndRows),
    retracted: appends.flatMap(({ lease, takenBack }) => idRows(lease, takenBack?.retracted)),
    withdrawn: appends.flatMap(({ lease, takenBack }) => idRows(lease, takenBack?.withdrawn)),
    failed: appends.flatMap(failedCallRows),
    compactions: appends.flatMap(compactionRows),
  };
}

function needsOf(appends: readonly Append[], rows: Rows): Needs {
  const { contexts, jobs, admitted, requested, changed, executed } = rows;
  const { executionEnds, retracted, withdrawn, failed, compactions } = rows;
  return {
    calls: [requested, changed, executed].some(({ length }) => length > 0),
    ends: jobs.some(({ finished }) => finished) || contexts.some(({ searchable }) => searchable),
    inputs: admitted.length > 0,
    rare: [executionEnds, retracted, withdrawn, failed, compactions].some(({ length }) => length > 0),
    engaged: appends.some(engages),
  };
}

const NOTHING: SQL = sql``;

function statement(appends: readonly Append[], held: 'wait' | 'pass'): SQL {
  const rows = rowsOf(appends);
  const { calls, ends, inputs, rare, engaged } = needsOf(appends, rows);
  const counts = ends || engaged;
  return sql`/* contexts.append */
    ${contextsPart(rows, held)}${counts ? countdownPart(appends, rows, engaged) : NOTHING}${addedPart(rows)}${
      inputs ? inputsPart(rows) : NOTHING
    }${calls ? callsPart(rows, counts ? LOCK_FIRST : sql`true`) : NOTHING}${ends ? endsPart(rows) : progressPart(rows)}${
      rare ? rarePart(rows) : NOTHING
    }${engaged ? engagements(appends) : NOTHING}
    select ctx.id, ctx.base, ctx.head_seq, ctx.wake_seq, ctx.control_seq, ${counts ? metBy(sql`ctx.id`) : sql`null::jsonb`} as met,
      ${ends ? sql`coalesce(j.follow_up, false) as follow_up from ctx left join changed_jobs j on j.context_id = ctx.id` : sql`false as follow_up from ctx`}`;
}

/** The guarded update that all other parts join. */
function contextsPart({ contexts }: Rows, held: 'wait' | 'pass'): SQL {
  return sql`with wanted as (
      select * from jsonb_to_recordset(${encodeJson(contexts)}::jsonb) as w(
        id uuid, tenant text, branch text, epoch bigint, control bigint, wake bigint, entries int, state text,
        state_told boolean, park text, until timestamptz, progress text, settles boolean, messages int, taken int,
        joined int, turn int, last_turn int, requests int,
        input_tokens bigint, output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, cost_nanos bigint,
        failure_kept boolean, failure jsonb, searchable boolean)
      -- Always true. It makes the planner expect few rows and find each context by its id.
      where w.epoch + 0 = w.epoch
    ), ${held === 'wait' ? ALL : FREE}, ctx as (
      update contexts c set
        head_seq = c.head_seq + w.entries,
        state = w.state,
        state_since = case when c.state = w.state and not w.state_told then c.state_since else statement_timestamp() end,
        scheduling_status = coalesce(w.park, c.scheduling_status),
        lease_owner = case when w.park is null then c.lease_owner end,
        next_check_at = case w.park when 'idle' then null when 'waiting' then w.until
          when 'runnable' then statement_timestamp() else case when not w.settles then c.next_check_at end end,
        failed_claims = case w.progress when 'made' then 0 when 'returned' then greatest(c.failed_claims - 1, 0)
          else c.failed_claims end,
        queued = c.queued - w.taken,
        steers = c.steers - w.joined,
        message_count = c.message_count + w.messages,
        turn_count = case when w.branch = c.active_branch
          then coalesce(w.last_turn, greatest(c.turn_count, w.turn)) else c.turn_count end,
        request_count = c.request_count + w.requests,
        input_tokens = c.input_tokens + w.input_tokens,
        output_tokens = c.output_tokens + w.output_tokens,
        cache_read_tokens = c.cache_read_tokens + w.cache_read_tokens,
        cache_write_tokens = c.cache_write_tokens + w.cache_write_tokens,
        cost_nanos = ${costSum('c.cost_nanos', 'w.cost_nanos')},
        last_failure = case when w.failure_kept then c.last_failure
          when w.failure is null then null
          else w.failure || jsonb_build_object('at', statement_timestamp()) end
      from free w
      where c.id = w.id and c.tenant_id = w.tenant and c.lease_epoch = w.epoch
        and (w.control is null or c.control_seq = w.control)
        and (w.wake is null or c.wake_seq = w.wake)
      returning c.id, c.tenant_id, w.branch, w.messages, c.lease_epoch, c.head_seq - w.entries as base,
        c.head_seq, c.wake_seq, c.control_seq, c.stopped
    )`;
}

/** Counts down calls of other contexts that wait for the jobs ending here. Runs before any part that changes a call. */
function countdownPart(appends: readonly Append[], { jobs }: Rows, engaged: boolean): SQL {
  const own = engaged ? ownCalls(appends) : sql`select null::uuid as id where false`;
  return sql`, ended as (
      select j.id, ctx.id as context_id, ctx.tenant_id
      from jsonb_to_recordset(${encodeJson(jobs)}::jsonb) as j(context_id uuid, id uuid, finished boolean)
      join ctx on ctx.id = j.context_id where j.finished
    ), own_calls as (${own}), ${countdown(sql`ended`, sql`own_calls`)}`;
}

/** The messages and events that nearly every append adds. */
function addedPart({ messages, events }: Rows): SQL {
  return sql`, new_messages as (
      insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, job_id,
        model_id, provider_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos,
        finish_reason, attempt, called_at, first_byte_at, prompt, created_at, completed_at)
      select m.id, ctx.tenant_id, ctx.id, ctx.branch, ctx.base + m.place, m.role, m.type, m.turn, 'completed',
        m.content, m.job_id, m.model_id, m.provider_id, m.input_tokens, m.output_tokens, m.cache_read_tokens,
        m.cache_write_tokens, m.cost_nanos, m.finish_reason, m.attempt, m.called_at, m.first_byte_at, m.prompt,
        least(m.completed_at, statement_timestamp()), least(m.completed_at, statement_timestamp())
      from json_to_recordset(${encodeJson(messages)}::json) as m(
        context_id uuid, place int, id uuid, role text, type text, turn text, content json, job_id uuid,
        model_id text, provider_id text, input_tokens int, output_tokens int, cache_read_tokens int,
        cache_write_tokens int, cost_nanos bigint, finish_reason text, attempt int, called_at timestamptz, first_byte_at timestamptz,
        prompt jsonb, completed_at timestamptz)
      join ctx on ctx.id = m.context_id
    ), new_events as (
      insert into events (context_id, tenant_id, seq, name, data)
      select ctx.id, ctx.tenant_id, ctx.base + e.place, e.name, e.data
      from jsonb_to_recordset(${encodeJson(events)}::jsonb) as e(context_id uuid, place int, name text, data jsonb)
      join ctx on ctx.id = e.context_id
    )`;
}

function inputsPart({ admitted }: Rows): SQL {
  return sql`, admitted_messages as (
      update messages m set seq = ctx.base + a.place, turn = a.turn, status = 'completed',
        completed_at = statement_timestamp()
      from jsonb_to_recordset(${encodeJson(admitted)}::jsonb) as a(context_id uuid, place int, id uuid, turn text)
      join ctx on ctx.id = a.context_id
      where m.id = a.id and (m.context_id = ctx.id) is true and m.status = 'queued'
    )`;
}

/** `held`: a condition that locks all calls of the countdown before the first call changes. */
function callsPart({ requested, changed, executed }: Rows, held: SQL): SQL {
  return sql`, new_calls as (
      insert into tool_calls (id, tenant_id, context_id, job_id, message_id, ordinal, name, effect, on_unknown, status,
        waits_for, expires_at, needs, asked_at, created_at, finished_at)
      select r.id, ctx.tenant_id, ctx.id, r.job_id, r.message_id, r.ordinal, r.name, r.effect, r.on_unknown,
        coalesce(r.ended, case when r.waits_for is null then 'pending' else 'waiting' end), r.waits_for, r.expires_at, r.needs,
        case when r.waits_for is not null then statement_timestamp() end,
        least(r.began_at, statement_timestamp()), case when r.ended is not null then statement_timestamp() end
      from jsonb_to_recordset(${encodeJson(requested)}::jsonb) as r(
        context_id uuid, id uuid, job_id uuid, message_id uuid, ordinal int, name text, effect text, on_unknown text,
        ended text, began_at timestamptz, waits_for text, expires_at timestamptz, needs int)
      join ctx on ctx.id = r.context_id
    ), changed_calls as (
      update tool_calls t set status = r.status,
        started_epoch = case when r.status = 'started' then ctx.lease_epoch else t.started_epoch end,
        started_at = case when r.status = 'started' then statement_timestamp() else t.started_at end,
        waits_for = coalesce(r.waits_for, t.waits_for),
        expires_at = case when r.waits_for is null then t.expires_at else r.expires_at end,
        needs = case when r.waits_for is null then t.needs else r.needs end,
        asked_at = case when r.waits_for is null then t.asked_at else statement_timestamp() end,
        approval = coalesce(r.approval, t.approval),
        approval_at = case when r.approval is null then t.approval_at else statement_timestamp() end,
        finished_at = case when r.status not in ('pending', 'started', 'waiting') then statement_timestamp() end
      from json_to_recordset(${encodeJson(changed)}::json) as r(
        context_id uuid, id uuid, status text, waits_for text, expires_at timestamptz, needs int, approval json)
      join ctx on ctx.id = r.context_id
      where t.id = r.id and (t.context_id = ctx.id) is true and t.status in ('pending', 'started', 'waiting') and ${held}
    ), new_executions as (
      insert into tool_executions (tool_call_id, number, tenant_id, context_id, epoch, idempotency_key, began_at, ended_at,
        outcome)
      select e.id, 1 + coalesce((select max(x.number) from tool_executions x where x.tool_call_id = e.id), 0),
        ctx.tenant_id, ctx.id, ctx.lease_epoch, e.id, least(e.began_at, statement_timestamp()),
        case when e.outcome is not null then statement_timestamp() end, e.outcome
      from jsonb_to_recordset(${encodeJson(executed)}::jsonb) as e(context_id uuid, id uuid, began_at timestamptz, outcome text)
      join ctx on ctx.id = e.context_id
    )`;
}

/** Updates jobs that start or continue. Used when no job of the batch ends; columns about the end stay unchanged. */
function progressPart({ jobs }: Rows): SQL {
  return sql`, changed_jobs as (
      update jobs j set status = r.status, turn = r.turn, attempt = r.attempt, failures = r.failures,
        retry_at = r.retry_at, steps = r.steps, input_tokens = r.input_tokens, output_tokens = r.output_tokens,
        cache_read_tokens = r.cache_read_tokens, cache_write_tokens = r.cache_write_tokens, cost_nanos = r.cost_nanos,
        error = r.error,
        first_seq = case when r.admitted then ctx.base else j.first_seq end,
        started_at = coalesce(j.started_at, statement_timestamp())
      from jsonb_to_recordset(${encodeJson(jobs)}::jsonb) as r(
        context_id uuid, id uuid, status text, turn int, attempt int, failures int, retry_at timestamptz, steps int,
        input_tokens bigint, output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, cost_nanos bigint,
        error jsonb, admitted boolean)
      join ctx on ctx.id = r.context_id
      where j.id = r.id and j.context_id = ctx.id and j.finished_at is null
    )`;
}

/** Updates jobs when some of them end: also sets the end columns, the branch counters and the search backlog. */
function endsPart({ jobs }: Rows): SQL {
  return sql`, changed_jobs as (
      update jobs j set status = r.status, turn = r.turn, attempt = r.attempt, failures = r.failures,
        retry_at = r.retry_at, steps = r.steps, input_tokens = r.input_tokens, output_tokens = r.output_tokens,
        cache_read_tokens = r.cache_read_tokens, cache_write_tokens = r.cache_write_tokens, cost_nanos = r.cost_nanos,
        error = r.error,
        output_message_id = r.output_id,
        first_seq = case when r.admitted then ctx.base else j.first_seq end,
        last_seq = case when r.finished then ctx.head_seq end,
        started_at = coalesce(j.started_at, statement_timestamp()),
        finished_at = case when r.finished then statement_timestamp() end,
        stop_delivered_at = case when r.finished and j.stop_kind is not null
          then coalesce(r.delivered_at, j.stop_delivered_at) else j.stop_delivered_at end,
        stopped_at = case when r.finished and j.stop_kind is not null then statement_timestamp() end,
        parent_notice = ${noticeOnceEnded(sql`r.finished`)},
        cascade = case when not r.finished then j.cascade else ${cascadeOnceEnded(sql`r.status`, sql`ctx.stopped`)} end
      from jsonb_to_recordset(${encodeJson(jobs)}::jsonb) as r(
        context_id uuid, id uuid, status text, turn int, attempt int, failures int, retry_at timestamptz, steps int,
        input_tokens bigint, output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, cost_nanos bigint,
        error jsonb, output_id uuid, admitted boolean, finished boolean, delivered_at timestamptz)
      join ctx on ctx.id = r.context_id
      where j.id = r.id and j.context_id = ctx.id and j.finished_at is null
      returning j.context_id, r.finished and ${hasFollowUp} as follow_up
    ), branch_counters as (
      -- The job's earlier rows are already stored; the rows of this append are counted in ctx.
      update branches b set
        message_count = b.message_count + ctx.messages + (
          select count(*) from messages m where m.context_id = ctx.id and m.branch = ctx.branch and m.seq > j.first_seq
            and m.job_id = j.id and m.status = 'completed'),
        request_count = b.request_count + r.steps + (
          select count(*) from compactions k where k.context_id = ctx.id and k.branch = ctx.branch and k.seq > j.first_seq
            and k.job_id = j.id and k.model is not null),
        input_tokens = b.input_tokens + r.input_tokens,
        output_tokens = b.output_tokens + r.output_tokens,
        cache_read_tokens = b.cache_read_tokens + r.cache_read_tokens,
        cache_write_tokens = b.cache_write_tokens + r.cache_write_tokens,
        cost_nanos = ${costSum('b.cost_nanos', 'r.cost_nanos')}
      from jsonb_to_recordset(${encodeJson(jobs)}::jsonb) as r(
        context_id uuid, id uuid, steps int, input_tokens bigint, output_tokens bigint, cache_read_tokens bigint,
        cache_write_tokens bigint, cost_nanos bigint, finished boolean)
      join ctx on ctx.id = r.context_id
      join jobs j on j.id = r.id and j.finished_at is null
      where r.finished and b.context_id = ctx.id and b.name = ctx.branch
    ), search as (
      insert into search_backlog (context_id, tenant_id, upto_seq)
      select ctx.id, ctx.tenant_id, ctx.head_seq from ctx join free w on w.id = ctx.id where w.searchable
    )`;
}

function rarePart({ retracted, withdrawn, executionEnds, failed, compactions }: Rows): SQL {
  return sql`, retracted as (
      update messages m set status = 'retracted'
      from jsonb_to_recordset(${encodeJson(retracted)}::jsonb) as r(context_id uuid, id uuid) join ctx on ctx.id = r.context_id
      where m.id = r.id and (m.context_id = ctx.id) is true and m.status = 'completed'
    ), withdrawn as (
      update messages m set status = 'withdrawn'
      from jsonb_to_recordset(${encodeJson(withdrawn)}::jsonb) as r(context_id uuid, id uuid) join ctx on ctx.id = r.context_id
      where m.id = r.id and (m.context_id = ctx.id) is true and m.status = 'queued'
    ), ended_executions as (
      update tool_executions x set ended_at = statement_timestamp(), outcome = e.outcome
      from jsonb_to_recordset(${encodeJson(executionEnds)}::jsonb) as e(context_id uuid, id uuid, outcome text)
      join ctx on ctx.id = e.context_id
      where x.tool_call_id = e.id and (x.context_id = ctx.id) is true and x.outcome is null
    ), failed as (
      insert into failed_calls (job_id, attempt, context_id, tenant_id, model, error, called_at, first_byte_at, failed_at,
        retry_at, prompt)
      select f.job_id, f.attempt, ctx.id, ctx.tenant_id, f.model, f.error, f.called_at, f.first_byte_at,
        statement_timestamp(), f.retry_at, f.prompt
      from jsonb_to_recordset(${encodeJson(failed)}::jsonb) as f(
        context_id uuid, job_id uuid, attempt int, model text, error jsonb, called_at timestamptz,
        first_byte_at timestamptz, retry_at timestamptz, prompt jsonb)
      join ctx on ctx.id = f.context_id
      on conflict do nothing
    ), new_compactions as (
      insert into compactions (id, tenant_id, context_id, branch, seq, upto_seq, type, summary, model, tokens_before,
        tokens_after, job_id)
      select k.id, ctx.tenant_id, ctx.id, k.branch, ctx.base + k.place, k.upto_seq, k.type, k.summary, k.model,
        k.tokens_before, k.tokens_after, k.job_id
      from jsonb_to_recordset(${encodeJson(compactions)}::jsonb) as k(
        context_id uuid, place int, id uuid, branch text, upto_seq bigint, type text, summary text, model text,
        tokens_before int, tokens_after int, job_id uuid)
      join ctx on ctx.id = k.context_id
    )`;
}
