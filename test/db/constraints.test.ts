// Every CHECK and every unique index is violated by a statement: a constraint that no test violates may be missing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { given, ids, type Given } from './database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

/** Valid rows; a case breaks one of them. `$id` and similar stand for fresh ids, `$c` and the rest for these. */
type Ids = Record<'c' | 'w' | 'j' | 'm' | 't' | 'p' | 'k' | 's' | 'r' | 'done', string>;

async function soundRows(): Promise<Ids> {
  const { contextId: c, workerId: w } = await the.context();
  const [j, m, t, p, k, s, r, done] = Array.from({ length: 8 }, () => String(ids.next()));
  const first = { c, w, j: j ?? '', m: m ?? '', t: t ?? '' };
  const named = { ...first, p: p ?? '', k: k ?? '', s: s ?? '', r: r ?? '', done: done ?? '' };
  const fill = filler(named);
  await the.rows(
    fill(`insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, message_id, metadata,
      started_at, parent_tool_call_id)
      values ('$j', 1, '$c', '$w', 'input', 'main', 'running', 1, '$m', '{}', now(), '$t')`),
  );
  await the.rows(
    fill(`insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content)
      values ('$m', 1, '$c', 'main', 1, 'user', 'text', 'u1', 'completed', '[]')`),
  );
  await the.rows(
    fill(`insert into tool_calls (id, tenant_id, context_id, job_id, message_id, ordinal, name, effect, on_unknown)
      values ('$t', 1, '$c', '$j', '$m', 0, 'n', 'none', 'tell')`),
  );
  await the.rows(
    fill(`insert into compactions (id, tenant_id, context_id, branch, seq, upto_seq, type, tokens_before, tokens_after, job_id)
      values ('$k', 1, '$c', 'main', 3, 1, 'threshold', 2, 1, '$j')`),
  );
  await the.rows(
    fill(`insert into processes (id, lock_key, host, pid, version, tools, roles, models)
      values ('$p', ${Math.floor(Math.random() * 2 ** 40)}, 'h', 1, '0', '{}', '{}', '{}')`),
  );
  await the.rows(
    fill(`insert into schedules (id, tenant_id, actor, name, cron, timezone, target_context_id, content, overlap, catch_up,
      jitter_s, paused, next_occurrence, next_run_at)
      values ('$s', 1, '{}', 'n', '@daily', 'UTC', '$c', '"x"', 'queue', 'one', 0, false, now(), now())`),
  );
  await the.rows(
    fill(`insert into schedule_runs (id, tenant_id, schedule_id, occurrence, status, job_id)
      values ('$r', 1, '$s', now(), 'started', '$j')`),
  );
  await the.rows(
    fill(`insert into submissions (id, tenant_id, target_context_id, worker_id, creates_worker, body, bytes)
      values ('$j', 1, '$c', '$w', false, '{}', 2)`),
  );
  await the.rows(`insert into submission_grants (role_name, tenant_id) values ('shop', 1) on conflict do nothing`);
  await the.rows(fill(batch('2, 2')));
  await the.rows(fill(`insert into idempotency_keys (tenant_id, key, request) values (1, '$c', 'r')`));
  return named;
}

function filler(named: Ids): (text: string) => string {
  return (text) =>
    text.replaceAll(/\$(done|id|[cwjmtpksr])\b/g, (_, name: string) =>
      name === 'id' ? String(ids.next()) : (Object.entries(named).find(([key]) => key === name)?.[1] ?? ''),
    );
}

/** A copy of a row with some of its columns changed. */
function copy(table: string, key: string, changes: Record<string, string>): string {
  const changed = Object.entries(changes)
    .map(([column, value]) => `'${column}', ${value}`)
    .join(', ');
  return `insert into ${table} select (jsonb_populate_record(r, jsonb_build_object(${changed}))).*
    from ${table} r where ${key}`;
}

/** Its bytes are computed, not copied. */
function copyMessage(id: string, seq: string): string {
  const same = 'tenant_id, context_id, branch, role, type, turn, status, content';
  return `insert into messages (id, seq, ${same}) select ${id}, ${seq}, ${same} from messages where id = '$m'`;
}

const context = (set: string) => `update contexts set ${set} where id = '$c'`;
const job = (set: string) => `update jobs set ${set} where id = '$j'`;
const message = (set: string) => `update messages set ${set} where id = '$m'`;
const call = (set: string) => `update tool_calls set ${set} where id = '$t'`;
const compaction = (set: string) => `update compactions set ${set} where id = '$k'`;
const schedule = (set: string) => `update schedules set ${set} where id = '$s'`;
const run = (set: string) => `update schedule_runs set ${set} where id = '$r'`;
const submission = (set: string) => `update submissions set ${set} where id = '$j'`;
const batch = (numbers: string) => `insert into event_batches (context_id, tenant_id, first_seq, seq, epoch, events)
  values ('$c', 1, ${numbers}, 0, '[[0, "n", {}]]')`;
const logEntry = (number: string, level: string, times = 1) => `insert into tool_logs
  (context_id, tenant_id, job_id, epoch, number, tool_call_id, attempt, level, message, at)
  select '$c', 1, '$j', 1, ${number}, '$t', 1, '${level}', 'x', now() from generate_series(1, ${times})`;
const report = (ordinal: string, entries: string, times = 1) => `insert into tool_reports
  (context_id, tenant_id, tool_call_id, epoch, ordinal, version, entries, dropped)
  select '$c', 1, '$t', 1, ${ordinal}, 1, ${entries}, 0 from generate_series(1, ${times})`;
const toolStep = (bytes: string, times = 1) => `insert into tool_steps
  (tool_call_id, name, tenant_id, context_id, result, bytes, ended_at)
  select '$t', 'n', 1, '$c', '{}', ${bytes}, now() from generate_series(1, ${times})`;
const execution = (number: string, end: string, times = 1) => `insert into tool_executions
  (tool_call_id, number, tenant_id, context_id, epoch, idempotency_key, began_at, ended_at, outcome)
  select '$t', ${number}, 1, '$c', 1, '$t', now(), ${end} from generate_series(1, ${times})`;
const apiKey = ({ hash = "repeat('h', 43)", scopes = "'read'", limits = "'{}'", times = 1 }) =>
  `insert into api_keys (id, tenant_id, name, hash, scopes, limits)
    select '$id'::uuid, 1, 'n', ${hash}, ${scopes}, ${limits}::jsonb from generate_series(1, ${times})`;
const auditEntry = ({ action = 'key.created', target = 't', times = 1 }) =>
  `insert into audit_entries (id, actor_kind, action, target, detail, request_id)
    select '$id'::uuid, 'operator', '${action}', '${target}', '{}', 'r' from generate_series(1, ${times})`;
const grant = (contextId: string, times = 1) => `insert into approval_grants
  (context_id, tenant_id, tool, actor, created_at, expires_at)
  select '${contextId}'::uuid, 1, 'n', '{}', now(), now() from generate_series(1, ${times})`;
const webhook = ({ set = '', values = '', times = 1 }) => `insert into webhooks
  (id, tenant_id, url, events, secret${set}) select '$id'::uuid, 1, 'u', '[]', 's'${values} from generate_series(1, ${times})`;
const delivery = ({ id = "'$id'::uuid", hook = "'$id'::uuid", set = '', values = '', next = 'now()', times = 1 }) =>
  `insert into webhook_deliveries (id, tenant_id, webhook_id, type, body, give_up_at, next_attempt_at${set})
    select ${id}, 1, ${hook}, 't', 'b', now(), ${next}${values} from generate_series(1, ${times})`;
const fresh = "'$id'::text";

const CASES: Readonly<Record<string, string>> = {
  awaited_jobs_tool_call_id_job_id_pk: `insert into awaited_jobs (tool_call_id, job_id, tenant_id, context_id, worker_id, ordinal)
    select '$t', '$j', 1, '$c', '$w', 0 from generate_series(1, 2)`,
  approval_grants_context_id_tool_pk: grant('$c', 2),
  approval_grants_context_id_contexts_id_fk: grant('$id'),
  memories_worker_id_key_pk: `insert into memories (worker_id, tenant_id, key, value)
    select '$w', 1, 'k', 'v' from generate_series(1, 2)`,
  memories_worker_id_workers_id_fk: `insert into memories (worker_id, tenant_id, key, value) values ('$id', 1, 'k', 'v')`,
  tool_executions_tool_call_id_number_pk: execution(`1`, `null, null`, 2),
  tool_executions_number: execution(`0`, `null, null`),
  tool_executions_outcome: execution(`1`, `now(), 'lovely'`),
  tool_executions_ended: execution(`1`, `now(), null`),
  tool_steps_tool_call_id_name_pk: toolStep(`1`, 2),
  tool_steps_bytes: toolStep(`0`),
  tool_logs_context_id_job_id_epoch_number_pk: logEntry(`1`, 'info', 2),
  tool_logs_number: logEntry(`0`, 'info'),
  tool_logs_level: logEntry(`1`, 'loud'),
  tool_reports_tool_call_id_epoch_ordinal_pk: report(`1`, `0`, 2),
  tool_reports_ordinal: report(`0`, `0`),
  tool_reports_counts: report(`1`, `-1`),
  tool_use_tenant_id_hour_tool_pk: `insert into tool_use (tenant_id, hour, tool, completed, failed, denied, expired, unknown, codes, times, last_at, failures)
    select 1, now(), 't', 1, 0, 0, 0, 0, '{}', '{}', now(), '[]' from generate_series(1, 2)`,
  tool_lists_tenant_id_hash_pk: `insert into tool_lists (tenant_id, hash, tools) select 1, 'h', '[]' from generate_series(1, 2)`,
  jobs_notice_once: `update jobs set notice_of_job_id = '$k' where id in (select id from jobs limit 2)`,
  jobs_hops: job(`hops = -1`),
  jobs_parent_notice: job(`parent_notice = 'soon'`),
  jobs_cascade: job(`cascade = 'softly'`),
  tool_calls_waits_for: call(`waits_for = 'godot'`),
  tool_calls_approval: call(`approval = '{}'`),
  tool_calls_needs: call(`needs = 1`),
  branches_fork: `update branches set parent_name = 'other' where context_id = '$c'`,
  branches_context_id_name_pk: `insert into branches (context_id, tenant_id, name) values ('$c', 1, 'main')`,
  schedules_pkey: copy('schedules', "id = '$s'", {}),
  schedules_timing: schedule(`once_at = now()`),
  schedules_interval: schedule(`cron = null, every_s = 60`),
  schedules_target: schedule(`worker = '{}'`),
  schedules_overlap: schedule(`overlap = 'both'`),
  schedules_catch_up: schedule(`catch_up = 'some'`),
  schedules_jitter: schedule(`jitter_s = -1`),
  schedules_due_has_occurrence: schedule(`next_occurrence = null`),
  schedules_paused_says_why: schedule(`paused_reason = 'x'`),
  schedules_paused_is_not_due: schedule(`paused = true`),
  schedule_runs_pkey: copy('schedule_runs', "id = '$r'", { occurrence: `now() - interval '1 hour'` }),
  schedule_runs_schedule_id_schedules_id_fk: run(`schedule_id = '$id'`),
  schedule_runs_once: copy('schedule_runs', "id = '$r'", { id: fresh }),
  schedule_runs_status: run(`status = 'lost', job_id = null`),
  schedule_runs_started: run(`job_id = null`),
  schedule_runs_failed_says_why: run(`status = 'failed', job_id = null`),
  schedule_runs_missed: run(`status = 'missed', job_id = null`),
  schedule_runs_manual: run(`occurrence = null, status = 'skipped', job_id = null`),
  submissions_pkey: `insert into submissions (id, tenant_id, target_context_id, worker_id, creates_worker, body, bytes)
    values ('$j', 1, '$c', '$w', false, '{}', 2)`,
  submissions_status: submission(`status = 'lost', finished_at = now()`),
  submissions_failed_says_why: submission(`status = 'failed', finished_at = now()`),
  submissions_finished: submission(`finished_at = now()`),
  submissions_bytes: submission('bytes = 0'),
  submission_grants_role_name_tenant_id_pk: `insert into submission_grants (role_name, tenant_id) values ('shop', 1)`,
  compactions_pkey: copy('compactions', "id = '$k'", { seq: '9' }),
  compactions_place: copy('compactions', "id = '$k'", { id: fresh }),
  compactions_type: compaction(`type = 'magic'`),
  compactions_summary: compaction(`summary = 'All of it.'`),
  compactions_upto: compaction(`upto_seq = 3`),
  contexts_pkey: copy('contexts', "id = '$c'", { tenant_id: '2' }),
  contexts_tenant: 'never: the primary key is narrower',
  contexts_scheduling_status: context(`scheduling_status = 'asleep'`),
  contexts_running_is_owned: context(`scheduling_status = 'running', next_check_at = null`),
  contexts_idle_has_no_check: context(`next_check_at = now()`),
  contexts_unowned_has_check: context(`scheduling_status = 'runnable', next_check_at = null`),
  contexts_queued: context(`queued = -1`),
  event_batches_context_id_seq_pk: batch('1, 2'),
  event_batches_numbers: batch('4, 3'),
  messages_call: message(`call = '{}'`),
  messages_retracted: message(`retracted_seq = 1`),
  messages_retraction: message(`retraction = '{}'`),
  messages_partial: message(`type = 'partial'`),
  idempotency_keys_tenant_id_key_pk: `insert into idempotency_keys (tenant_id, key, request) values (1, '$c', 'x')`,
  jobs_pkey: copy('jobs', "id = '$j'", {
    status: "'queued'",
    tenant_id: '2',
    parent_tool_call_id: 'null',
  }),
  jobs_tenant: 'never: the primary key is narrower',
  jobs_one_active: copy('jobs', "id = '$j'", { id: fresh, status: "'waiting'", parent_tool_call_id: 'null' }),
  jobs_spawned_once: copy('jobs', "id = '$j'", { id: fresh, context_id: fresh }),
  jobs_kind: job(`kind = 'dream', message_id = null`),
  jobs_status: job(`status = 'lost', finished_at = null`),
  jobs_input_has_message: job(`message_id = null`),
  jobs_data_is_output: job(`has_data = true`),
  jobs_delayed_has_start: job(`status = 'delayed'`),
  jobs_started: job(`started_at = null`),
  jobs_finished: job(`finished_at = now()`),
  jobs_failed_says_why: job(`status = 'failed', finished_at = now()`),
  jobs_stop_kind: job(`stop_kind = 'please', stop_requested_at = now()`),
  jobs_stop_mode: job(`stop_kind = 'interrupt', stop_mode = 'maybe', stop_requested_at = now()`),
  jobs_interrupt_has_mode: job(`stop_kind = 'interrupt', stop_requested_at = now()`),
  jobs_priority: job(`priority = 11`),
  jobs_trace_parent: job(`trace_parent = '00-0-0-01'`),
  failed_calls_job_id_attempt_pk: `insert into failed_calls (job_id, attempt, context_id, tenant_id, model, error, called_at)
    select '$j', 1, '$c', 1, 'm', '{}', now() from generate_series(1, 2)`,
  provider_throttles_id_tenant_id_pk: `insert into provider_throttles (id, tenant_id, provider, key_id, model, reason, since, refused_at, until)
    select '$id', 1, 'p', 'k', 'm', 'r', now(), now(), now() from generate_series(1, 2)`,
  roles_tenant_id_name_version_pk: `insert into roles (tenant_id, name, version)
    select 1, '$id', 1 from generate_series(1, 2)`,
  sessions_pkey: `insert into sessions (token_hash, tenant_id, key_id, expires_at)
    select '$id', 1, 'k', now() from generate_series(1, 2)`,
  sessions_key: `insert into sessions (token_hash, tenant_id, expires_at) values ('$id', 1, now())`,
  sessions_groups: `insert into sessions (token_hash, tenant_id, user_name, expires_at) values ('$id', 1, 'u', now())`,
  sessions_operator: `insert into sessions (token_hash, api_key_id, expires_at) values ('$id', '$id', now())`,
  sessions_api_key_id_api_keys_id_fk: `insert into sessions (token_hash, tenant_id, api_key_id, expires_at)
    values ('$id', 1, '$id', now())`,
  token_revocations_tenant_id_user_name_pk: `insert into token_revocations (tenant_id, user_name, revoked_at)
    select 1, 'u', now() from generate_series(1, 2)`,
  audit_entries_pkey: auditEntry({ times: 2 }),
  audit_entries_action: auditEntry({ action: '' }),
  audit_entries_target: auditEntry({ target: '' }),
  api_keys_pkey: apiKey({ times: 2 }),
  api_keys_hash: apiKey({ hash: "'short'" }),
  api_keys_limits: apiKey({ scopes: "'read+keys'", limits: `'{"requests_per_s": 1}'` }),
  api_keys_scopes: apiKey({ scopes: "'read,run'" }),
  webhooks_pkey: webhook({ times: 2 }),
  webhooks_status: webhook({ set: ', status', values: `, 'asleep'` }),
  webhooks_disabled_reason: webhook({ set: ', status, disabled_reason', values: `, 'disabled', 'mood'` }),
  webhooks_disabled_says_why: webhook({ set: ', status', values: `, 'disabled'` }),
  webhooks_disabled_sends_nothing: webhook({
    set: ', status, disabled_reason, due_at',
    values: `, 'disabled', 'gone', now()`,
  }),
  webhooks_old_secret: webhook({ set: ', old_secret', values: `, 's'` }),
  webhooks_lease: webhook({ set: ', lease_until', values: `, now()` }),
  webhook_outbox_pkey: `insert into webhook_outbox (id, context_id, tenant_id, seq) overriding system value
    select 1, '$c', 1, 1 from generate_series(1, 2)`,
  job_webhooks_job_id_webhook_id_pk: `insert into job_webhooks (job_id, webhook_id, tenant_id, context_id)
    select '$j', '$k', 1, '$c' from generate_series(1, 2)`,
  webhook_deliveries_pkey: delivery({ id: `'$k'`, times: 2 }),
  webhook_deliveries_order: delivery({
    id: 'gen_random_uuid()',
    hook: `'$k'`,
    set: ', context_id, job_id, seq',
    values: `, '$c', '$j', 1`,
    times: 2,
  }),
  webhook_deliveries_status: delivery({ set: ', status', values: `, 'lost'`, next: 'null' }),
  webhook_deliveries_pending: delivery({ next: 'null' }),
  webhook_deliveries_delivered: delivery({ set: ', status', values: `, 'delivered'`, next: 'null' }),
  webhook_deliveries_at_once_is_pending: delivery({
    set: ', at_once, status',
    values: `, true, 'failed'`,
    next: 'null',
  }),
  webhook_deliveries_of_job: delivery({ set: ', job_id', values: `, '$j'` }),
  roles_version: `insert into roles (tenant_id, name, version) values (1, '$id', 0)`,
  jobs_stop_request: job(`stop_kind = 'cancel'`),
  jobs_stop_actor: job(`stop_actor = '{}'`),
  messages_pkey: copyMessage('id', '99'),
  messages_seq: copyMessage("'$id'::uuid", 'seq'),
  messages_role: message(`role = 'ghost'`),
  messages_type: message(`type = 'song'`),
  messages_status: message(`status = 'torn', seq = null, turn = null`),
  messages_numbered: message(`seq = null`),
  messages_turn: message(`turn = null`),
  messages_only_inputs_queue: message(`role = 'assistant', status = 'queued', seq = null, turn = null`),
  outbox_receipts_outbox_id_position_job_id_pk: `insert into outbox_receipts (outbox_id, position, job_id)
    select '$id', 1, '$j' from generate_series(1, 2)`,
  processes_pkey: copy('processes', "id = '$p'", { lock_key: '1' }),
  processes_lock: copy('processes', "id = '$p'", { id: fresh }),
  processes_requested_status: `update processes set requested_status = 'asleep' where id = '$p'`,
  processes_status: `update processes set status = 'asleep' where id = '$p'`,
  processes_drain: `update processes set requested_status = 'draining' where id = '$p'`,
  processes_end_reason: `update processes set dead_at = now(), end_reason = 'tired' where id = '$p'`,
  processes_end: `update processes set end_reason = 'lost' where id = '$p'`,
  search_backlog_pkey: `insert into search_backlog (id, context_id, tenant_id, upto_seq) overriding system value
    select 1, '$c', 1, 1 from generate_series(1, 2)`,
  search_entries_context_id_seq_pk: `insert into search_entries (context_id, seq, tenant_id, message_id, role, created_at, document)
    select '$c', 1, 1, '$id', 'user', now(), '' from generate_series(1, 2)`,
  tool_calls_pkey: copy('tool_calls', "id = '$t'", { ordinal: '5' }),
  tool_calls_place: copy('tool_calls', "id = '$t'", { id: fresh }),
  tool_calls_effect: call(`effect = 'twice'`),
  tool_calls_on_unknown: call(`on_unknown = 'pray'`),
  tool_calls_status: call(`status = 'lost', finished_at = now()`),
  tool_calls_finished: call(`status = 'completed'`),
  tool_calls_started: call(`status = 'started', started_epoch = 1`),
  tool_calls_waiting: call(`status = 'waiting'`),
  tenants_pkey: `insert into tenants (id, name) values (1, 'second')`,
  tenants_name: `insert into tenants (id, name) values (7, 'default')`,
  tenants_status: `update tenants set status = 'gone'`,
  tenants_weight: `update tenants set weight = 0`,
  tenants_deletion: `update tenants set status = 'deleting'`,
  tenants_name_length: `insert into tenants (id, name) values (7, '')`,
  workers_pkey: copy('workers', "id = '$w'", { context_id: fresh, tenant_id: '2' }),
  workers_tenant: 'never: the primary key is narrower',
  workers_context: copy('workers', "id = '$w'", { id: fresh }),
  workers_context_id_contexts_id_fk: `update workers set context_id = '$id' where id = '$w'`,
  branches_context_id_contexts_id_fk: `update branches set context_id = '$id' where context_id = '$c'`,
};

const tripped = Object.entries(CASES).filter(([, statement]) => !statement.startsWith('never'));

test.each(tripped)('%s', async (name, statement) => {
  const named = await soundRows();
  const error = await the.rows(filler(named)(statement)).then(
    () => null,
    (cause: unknown) => cause,
  );
  expect(constraintOf(error)).toBe(name);
});

test('every constraint of the schema is covered here', async () => {
  const laws = await the.rows(`
    select conname as name from pg_constraint where connamespace = 'nightshift'::regnamespace and contype in ('c', 'p', 'u', 'f')
      and conrelid <> 'migrations'::regclass
    union select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indisunique and c.relnamespace = 'nightshift'::regnamespace and i.indrelid <> 'migrations'::regclass order by name`);
  expect(laws.map(({ name }) => name)).toEqual(Object.keys(CASES).sort());
});

function constraintOf(error: unknown): unknown {
  if (!(error instanceof Error)) return null;
  return 'constraint_name' in error ? error.constraint_name : constraintOf(error.cause);
}
