/**
 * The one statement by which runs write: every append of a batch is fed by a guarded update of its context's row, which
 * takes the lock, checks the epoch and the guarded counters, and hands out the numbers. An append whose guard fails
 * writes nothing at all. Takes appends of many contexts, at most one of each.
 */
import { sql } from 'drizzle-orm';
import type { Append, AppendOutcome, CallChange, Entry, JobChange, Park } from '../core/append.ts';
import type { Lease } from '../core/snapshot.ts';
import type { ModelCall } from '../core/model-call.ts';
import { NO_USAGE, addUsage } from '../core/usage.ts';
import { parseTurn } from '../core/turn.ts';
import type { Executor } from './client.ts';
import { encodeJson, plainText } from './codec.ts';
import { toTimestamp } from './instant.ts';

/** Outcomes in the order of `appends`. */
export async function append(executor: Executor, appends: readonly Append[]): Promise<AppendOutcome[]> {
  const rows = await executor.execute<CommittedRow>(statement(appends));
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
        };
  });
}

type CommittedRow = { id: string; base: number; head_seq: number; wake_seq: number; control_seq: number };

/** One JSON array a table, so that the text of the statement never changes and is prepared once. */
function statement(appends: readonly Append[]) {
  const contexts = encodeJson(appends.map(contextRow));
  const messages = encodeJson(appends.flatMap(messageRows));
  const admitted = encodeJson(appends.flatMap(admittedRows));
  const retracted = encodeJson(
    appends.flatMap(({ lease, takenBack }) => idRows(lease, takenBack?.retracted)),
  );
  const withdrawn = encodeJson(
    appends.flatMap(({ lease, takenBack }) => idRows(lease, takenBack?.withdrawn)),
  );
  const events = encodeJson(appends.flatMap(eventRows));
  const requested = encodeJson(appends.flatMap(requestedRows));
  const changed = encodeJson(appends.flatMap(changedRows));
  const jobs = encodeJson(appends.flatMap(jobRows));
  const failed = encodeJson(appends.flatMap(failedCallRows));
  return sql`
    with wanted as (
      select * from jsonb_to_recordset(${contexts}::jsonb) as w(
        id uuid, tenant text, epoch bigint, control bigint, wake bigint, entries int, state text, park text, until timestamptz,
        progress text, settles boolean, messages int, taken int, joined int, turn int, last_turn int, requests int,
        input_tokens bigint, output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint,
        failure_kept boolean, failure jsonb)
    ), ctx as (
      update contexts c set
        head_seq = c.head_seq + w.entries,
        state = w.state,
        state_since = case when c.state = w.state then c.state_since else statement_timestamp() end,
        status = coalesce(w.park, c.status),
        lease_owner = case when w.park is null then c.lease_owner end,
        sweep_at = case w.park when 'idle' then null when 'waiting' then w.until
          when 'runnable' then statement_timestamp() else case when not w.settles then c.sweep_at end end,
        barren_claims = case w.progress when 'made' then 0 when 'returned' then greatest(c.barren_claims - 1, 0)
          else c.barren_claims end,
        queued = c.queued - w.taken,
        steers = c.steers - w.joined,
        message_count = c.message_count + w.messages,
        turn_count = coalesce(w.last_turn, greatest(c.turn_count, w.turn)),
        request_count = c.request_count + w.requests,
        input_tokens = c.input_tokens + w.input_tokens,
        output_tokens = c.output_tokens + w.output_tokens,
        cache_read_tokens = c.cache_read_tokens + w.cache_read_tokens,
        cache_write_tokens = c.cache_write_tokens + w.cache_write_tokens,
        last_failure = case when w.failure_kept then c.last_failure
          when w.failure is null then null
          else w.failure || jsonb_build_object('at', statement_timestamp()) end
      from wanted w
      where c.id = w.id and c.tenant_id = w.tenant and c.lease_epoch = w.epoch
        and (w.control is null or c.control_seq = w.control)
        and (w.wake is null or c.wake_seq = w.wake)
      returning c.id, c.tenant_id, c.active_branch, c.lease_epoch, c.head_seq - w.entries as base,
        c.head_seq, c.wake_seq, c.control_seq
    ), new_messages as (
      insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, job_id,
        model_id, provider_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, finish_reason,
        attempt, called_at, first_byte_at, completed_at)
      select m.id, ctx.tenant_id, ctx.id, ctx.active_branch, ctx.base + m.place, m.role, m.type, m.turn, 'completed',
        m.content, m.job_id, m.model_id, m.provider_id, m.input_tokens, m.output_tokens, m.cache_read_tokens,
        m.cache_write_tokens, m.finish_reason, m.attempt, m.called_at, m.first_byte_at, statement_timestamp()
      from jsonb_to_recordset(${messages}::jsonb) as m(
        context_id uuid, place int, id uuid, role text, type text, turn text, content jsonb, job_id uuid,
        model_id text, provider_id text, input_tokens int, output_tokens int, cache_read_tokens int,
        cache_write_tokens int, finish_reason text, attempt int, called_at timestamptz, first_byte_at timestamptz)
      join ctx on ctx.id = m.context_id
    ), admitted_messages as (
      update messages m set seq = ctx.base + a.place, turn = a.turn, status = 'completed',
        completed_at = statement_timestamp()
      from jsonb_to_recordset(${admitted}::jsonb) as a(context_id uuid, place int, id uuid, turn text)
      join ctx on ctx.id = a.context_id
      where m.id = a.id and m.context_id = ctx.id and m.status = 'queued'
    ), retracted as (
      update messages m set status = 'retracted'
      from jsonb_to_recordset(${retracted}::jsonb) as r(context_id uuid, id uuid) join ctx on ctx.id = r.context_id
      where m.id = r.id and m.context_id = ctx.id and m.status = 'completed'
    ), withdrawn as (
      update messages m set status = 'withdrawn'
      from jsonb_to_recordset(${withdrawn}::jsonb) as r(context_id uuid, id uuid) join ctx on ctx.id = r.context_id
      where m.id = r.id and m.context_id = ctx.id and m.status = 'queued'
    ), new_events as (
      insert into events (context_id, tenant_id, seq, name, data)
      select ctx.id, ctx.tenant_id, ctx.base + e.place, e.name, e.data
      from jsonb_to_recordset(${events}::jsonb) as e(context_id uuid, place int, name text, data jsonb)
      join ctx on ctx.id = e.context_id
    ), new_calls as (
      insert into tool_calls (id, tenant_id, context_id, job_id, message_id, ordinal, name, effect, on_unknown, created_at)
      select r.id, ctx.tenant_id, ctx.id, r.job_id, r.message_id, r.ordinal, r.name, r.effect, r.on_unknown,
        statement_timestamp()
      from jsonb_to_recordset(${requested}::jsonb) as r(
        context_id uuid, id uuid, job_id uuid, message_id uuid, ordinal int, name text, effect text, on_unknown text)
      join ctx on ctx.id = r.context_id
    ), changed_calls as (
      update tool_calls t set status = r.status,
        started_epoch = case when r.status = 'started' then ctx.lease_epoch else t.started_epoch end,
        started_at = case when r.status = 'started' then statement_timestamp() else t.started_at end,
        finished_at = case when r.status = 'started' then null else statement_timestamp() end
      from jsonb_to_recordset(${changed}::jsonb) as r(context_id uuid, id uuid, status text)
      join ctx on ctx.id = r.context_id
      where t.id = r.id and t.context_id = ctx.id and t.status in ('pending', 'started')
    ), changed_jobs as (
      update jobs j set status = r.status, turn = r.turn, attempt = r.attempt, failures = r.failures,
        retry_at = r.retry_at, steps = r.steps, input_tokens = r.input_tokens, output_tokens = r.output_tokens,
        cache_read_tokens = r.cache_read_tokens, cache_write_tokens = r.cache_write_tokens, error = r.error,
        output_message_id = r.output_id,
        first_seq = case when r.admitted then ctx.base else j.first_seq end,
        last_seq = case when r.finished then ctx.head_seq end,
        started_at = coalesce(j.started_at, statement_timestamp()),
        finished_at = case when r.finished then statement_timestamp() end,
        stop_delivered_at = case when r.finished and j.stop_kind is not null
          then coalesce(r.delivered_at, j.stop_delivered_at) else j.stop_delivered_at end,
        stopped_at = case when r.finished and j.stop_kind is not null then statement_timestamp() end
      from jsonb_to_recordset(${jobs}::jsonb) as r(
        context_id uuid, id uuid, status text, turn int, attempt int, failures int, retry_at timestamptz, steps int,
        input_tokens bigint, output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, error jsonb,
        output_id uuid, admitted boolean, finished boolean, delivered_at timestamptz)
      join ctx on ctx.id = r.context_id
      where j.id = r.id and j.context_id = ctx.id and j.finished_at is null
    ), failed as (
      insert into failed_calls (job_id, attempt, context_id, tenant_id, model, error, called_at, first_byte_at, failed_at,
        retry_at)
      select f.job_id, f.attempt, ctx.id, ctx.tenant_id, f.model, f.error, f.called_at, f.first_byte_at,
        statement_timestamp(), f.retry_at
      from jsonb_to_recordset(${failed}::jsonb) as f(
        context_id uuid, job_id uuid, attempt int, model text, error jsonb, called_at timestamptz,
        first_byte_at timestamptz, retry_at timestamptz)
      join ctx on ctx.id = f.context_id
      on conflict do nothing
    )
    select id, base, head_seq, wake_seq, control_seq from ctx`;
}

function contextRow({ lease, guard, entries, takenBack, state, park, progress, failure, job }: Append) {
  const messages = entries.flatMap((entry) => (entry.kind === 'message' ? [entry.message] : []));
  const answers = messages.flatMap((message) => (message.model === null ? [] : [message.model.usage]));
  const admitted = entries.filter((entry) => entry.kind === 'admit').length;
  const taken = job?.kind === 'admit' ? 1 : 0;
  // The input that a job begins with was queued; all others were steered.
  const begins = job?.kind === 'admit' && job.job.kind === 'input' ? 1 : 0;
  return {
    id: lease.contextId,
    tenant: lease.tenantId,
    epoch: lease.epoch,
    control: guard.controlSeq,
    wake: guard.wakeSeq,
    entries: entries.length,
    state,
    ...parkColumns(park),
    progress,
    settles: job?.kind === 'settle',
    messages: messages.length + admitted - (takenBack?.retracted.length ?? 0),
    taken,
    joined: admitted - begins + (takenBack?.withdrawn.length ?? 0),
    turn: Math.max(0, ...entries.map(turnNumber)),
    last_turn: takenBack?.lastTurn ?? null,
    requests: answers.length,
    ...answers.reduce(addUsage, NO_USAGE),
    failure_kept: failure === 'keep',
    failure:
      typeof failure === 'string'
        ? null
        : { code: failure.code, message: failure.message, job_id: failure.jobId },
  };
}

function parkColumns(park: Park | null) {
  switch (park?.status) {
    case undefined:
      return { park: null, until: null };
    case 'idle':
    case 'runnable':
      return { park: park.status, until: null };
    case 'waiting':
      return { park: park.status, until: toTimestamp(park.until) };
  }
}

function turnNumber(entry: Entry): number {
  switch (entry.kind) {
    case 'message':
      return parseTurn(entry.message.turn)?.number ?? 0;
    case 'admit':
      return parseTurn(entry.turn)?.number ?? 0;
    case 'event':
      return 0;
  }
}

/** `place` counts from 1: the first entry takes the number after the last one given out. */
function messageRows({ lease, entries, modelCall }: Append) {
  return entries.flatMap((entry, index) => {
    if (entry.kind !== 'message') return [];
    const { id, role, type, turn, content, jobId, model } = entry.message;
    const made =
      model === null
        ? {}
        : {
            model_id: plainText(model.modelId),
            provider_id: model.providerId,
            finish_reason: plainText(model.finishReason),
            ...model.usage,
          };
    return [
      {
        context_id: lease.contextId,
        place: index + 1,
        id,
        role,
        type,
        turn,
        content,
        job_id: jobId,
        ...made,
        ...(modelCall?.kind === 'answered' && modelCall.messageId === id ? callColumns(modelCall) : {}),
      },
    ];
  });
}

function callColumns({ attempt, calledAt, firstByteAt }: ModelCall) {
  return { attempt, called_at: toTimestamp(calledAt), first_byte_at: toTimestamp(firstByteAt) };
}

function failedCallRows({ lease, modelCall }: Append) {
  if (modelCall?.kind !== 'failed') return [];
  const { jobId, model, error, retryAt } = modelCall;
  return [
    {
      context_id: lease.contextId,
      job_id: jobId,
      model: plainText(model),
      error,
      retry_at: toTimestamp(retryAt),
      ...callColumns(modelCall),
    },
  ];
}

function admittedRows({ lease, entries }: Append) {
  return entries.flatMap((entry, index) =>
    entry.kind === 'admit'
      ? [{ context_id: lease.contextId, place: index + 1, id: entry.messageId, turn: entry.turn }]
      : [],
  );
}

function idRows({ contextId }: Lease, ids: readonly string[] = []) {
  return ids.map((id) => ({ context_id: contextId, id }));
}

function eventRows({ lease, entries }: Append) {
  return entries.flatMap((entry, index) =>
    entry.kind === 'event'
      ? [{ context_id: lease.contextId, place: index + 1, name: entry.event.name, data: entry.event.data }]
      : [],
  );
}

function requestedRows({ lease, calls }: Append) {
  return calls.flatMap((change) =>
    change.kind === 'request'
      ? [
          {
            context_id: lease.contextId,
            id: change.call.id,
            job_id: change.call.jobId,
            message_id: change.call.messageId,
            ordinal: change.call.ordinal,
            name: plainText(change.call.name),
            effect: change.call.effect,
            on_unknown: change.call.onUnknown,
          },
        ]
      : [],
  );
}

function changedRows({ lease, calls }: Append) {
  return calls.flatMap((change) =>
    change.kind === 'request'
      ? []
      : [{ context_id: lease.contextId, id: change.id, status: statusAfter(change) }],
  );
}

function statusAfter(change: Exclude<CallChange, { kind: 'request' }>) {
  switch (change.kind) {
    case 'start':
      return 'started';
    case 'close':
      return change.status;
  }
}

function jobRows({ lease, job: change }: Append) {
  if (change === null) return [];
  const { job } = change;
  return [
    {
      context_id: lease.contextId,
      id: job.id,
      turn: job.turn,
      attempt: job.attempt,
      failures: job.failures,
      steps: job.steps,
      admitted: change.kind === 'admit',
      ...job.usage,
      ...endColumns(change),
    },
  ];
}

function endColumns(change: JobChange) {
  const { job } = change;
  if (change.kind !== 'settle') {
    return {
      status: job.status,
      retry_at: toTimestamp(job.retryAt),
      error: job.lastFailure,
      output_id: null,
      finished: false,
      delivered_at: null,
    };
  }
  const { verdict } = change;
  return {
    status: verdict.status,
    retry_at: null,
    error: 'error' in verdict ? verdict.error : null,
    output_id: verdict.status === 'completed' ? verdict.outputId : null,
    finished: true,
    delivered_at: toTimestamp(job.wish?.deliveredAt ?? null),
  };
}
