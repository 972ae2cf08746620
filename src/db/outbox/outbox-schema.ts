/**
 * The SQL of an outbox, in the database of a service: a table, and the function of the same name as that of an
 * installation, so that `enqueue` works in both. It may run again, and refuses a schema with other tables of these names. Needs
 * PostgreSQL 13.
 */
import { SUBMISSION_BYTES } from '../../core/submissions/submission.ts';
import { quoted } from '../setup/row-security.ts';

/** Of the tables and the function. A later one upgrades those that it finds. */
export const OUTBOX_VERSION = 1;

/** `submitters`: roles that may submit jobs. `relays`: roles of worker processes, which read and delete the rows. */
export type OutboxPlace = { schema: string; submitters: readonly string[]; relays: readonly string[] };

/** SQLSTATE: the schema has tables of Nightshift itself, or another table `outbox`. */
export const IS_OCCUPIED = 'NS020';
/** SQLSTATE: a newer version has made the outbox. */
export const IS_NEWER = 'NS021';

/** Statements of one transaction. */
export function outboxSql({ schema, submitters, relays }: OutboxPlace): string[] {
  const name = quoted(schema);
  const submit = `${name}.nightshift_submit_v1(text, text, boolean)`;
  return [
    refusal(schema),
    `create schema if not exists ${name}`,
    ...tables(name),
    submitFunction(name),
    `revoke all on function ${submit} from public`,
    ...submitters.flatMap((role) => [
      `grant usage on schema ${name} to ${quoted(role)}`,
      `grant execute on function ${submit} to ${quoted(role)}`,
    ]),
    ...relays.flatMap((role) => [
      `grant usage on schema ${name} to ${quoted(role)}`,
      `grant select, update, delete on ${name}.outbox to ${quoted(role)}`,
      `grant select, update on ${name}.outbox_about to ${quoted(role)}`,
    ]),
  ];
}

function refusal(schema: string): string {
  const there = (table: string): string => `to_regclass(${literal(`${quoted(schema)}.${table}`)}) is not null`;
  return `do $do$ declare made integer; begin
  if ${there('outbox_about')} then
    execute ${literal(`select version from ${quoted(schema)}.outbox_about`)} into made;
    if made > ${OUTBOX_VERSION} then
      raise exception 'The outbox has version %, of a newer Nightshift.', made using errcode = '${IS_NEWER}';
    end if;
  elsif ${there('outbox')} or ${there('contexts')} then
    raise exception 'The schema % has other tables named outbox or contexts.', ${literal(schema)}
      using errcode = '${IS_OCCUPIED}';
  end if;
end $do$`;
}

function tables(name: string): string[] {
  return [
    `create table if not exists ${name}.outbox_about (
  only_row boolean primary key default true check (only_row),
  id uuid not null default gen_random_uuid(),
  version integer not null
)`,
    `insert into ${name}.outbox_about (version) values (${OUTBOX_VERSION}) on conflict do nothing`,
    `create table if not exists ${name}.outbox (
  position bigint generated always as identity primary key,
  job_id uuid not null unique,
  context_id uuid not null,
  tenant text not null,
  submission text not null check (octet_length(submission) <= ${SUBMISSION_BYTES}),
  created_at timestamptz not null default statement_timestamp(),
  refused_at timestamptz,
  error jsonb,
  check ((refused_at is null) = (error is null))
)`,
    `create index if not exists outbox_waiting on ${name}.outbox (position) where refused_at is null`,
    // So that rows of suspended tenants are not read. A tenant that is longer is refused, whatever it is.
    `create index if not exists outbox_waiting_of_tenant on ${name}.outbox (left(tenant, 65), position)
  where refused_at is null`,
    `create index if not exists outbox_refused on ${name}.outbox (refused_at) where refused_at is not null`,
  ];
}

/** Beside its checks, those of the installation follow when the row is relayed. */
function submitFunction(name: string): string {
  return `create or replace function ${name}.nightshift_submit_v1(
  tenant_name text, submission text, needs_transaction boolean default false
) returns text language plpgsql security definer set search_path = ${name}, pg_temp as $body$
#variable_conflict use_variable
declare
  given jsonb;
  job uuid;
  context uuid;
  worker uuid;
begin
  -- A setting that ends with its transaction: if an earlier statement made it, both are in one.
  if needs_transaction and coalesce(current_setting('nightshift.enqueue', true), '') <> 'begun' then
    raise exception 'The submission is outside of a transaction.' using errcode = 'NS008';
  end if;
  if tenant_name !~ '^[A-Za-z0-9_.-]{1,64}$' then
    raise exception 'A tenant has 1 to 64 letters, digits, "_", "." or "-".' using errcode = 'NS004';
  end if;
  if octet_length(submission) > ${SUBMISSION_BYTES} then
    raise exception 'The submission has % bytes. At most ${SUBMISSION_BYTES} are allowed.', octet_length(submission)
      using errcode = 'NS003';
  end if;
  begin
    given := submission::jsonb;
    job := given ->> 'job_id';
    context := given ->> 'context_id';
    worker := given ->> 'worker_id';
  exception when data_exception then
    raise exception 'The submission is not valid: %', sqlerrm using errcode = 'NS004';
  end;
  if job is null or context is null then
    raise exception 'The submission needs job_id and context_id.' using errcode = 'NS004';
  end if;
  insert into outbox (job_id, context_id, tenant, submission) values (job, context, tenant_name, submission)
    on conflict (job_id) do nothing;
  if not found and exists (
    select 1 from outbox o where o.job_id = job and (o.tenant <> tenant_name or o.context_id <> context)
  ) then
    raise exception 'The job id % is already used for another job.', job using errcode = 'NS006';
  end if;
  -- Submitted again after it was refused: it waits again.
  update outbox o set refused_at = null, error = null where o.job_id = job and o.refused_at is not null;
  return job::text;
end
$body$`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
