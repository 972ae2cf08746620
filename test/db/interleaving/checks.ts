// The laws, asked of everything that was ever written about a context. Each fault is a line of words.
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { sql } from 'drizzle-orm';
import type { Executor } from '../../../src/db/client.ts';
import { isToolResult, isToolUse } from '../../../src/core/blocks.ts';
import { readHistory } from '../../../src/db/mailbox.ts';
import { mayFollow } from '../../../src/core/state.ts';
import type { State } from '../../../src/core/state.ts';
import { changesOf } from './audit.ts';
import type { Change } from './audit.ts';
import type { Database } from '../../../src/db/client.ts';
import type { World } from './world.ts';

/** What is wrong with a context that has come to rest, and with the way it came there. */
export async function faultsOf(admin: Database, world: World): Promise<string[]> {
  const { db } = admin;
  const changes = await changesOf(admin, world.contextId);
  return [
    ...world.errors.map((line) => `a worker process failed: ${line.slice(0, 2_000)}`),
    ...leaseFaults(changes, world),
    ...mailboxFaults(changes),
    ...(await restFaults(db, world)),
    ...(await numberFaults(db, world)),
    ...(await jobFaults(db, world, changes)),
    ...(await callFaults(db, world)),
    ...(await eventFaults(db, world)),
  ];
}

/** Who writes holds the lease; the lease of one who lives is taken only where a wish went unanswered. */
function leaseFaults(changes: readonly Change[], world: World): string[] {
  const processOf = new Map(world.processes.map(({ lane, id }) => [lane.name, id]));
  return changes.flatMap((change) => {
    const { actor, owner, previousOwner, ownerLived, epoch, previousEpoch, head, previousHead, summoned } =
      change;
    const faults: string[] = [];
    const self = processOf.get(actor);
    if (owner !== null && owner !== previousOwner && epoch <= previousEpoch) {
      faults.push(`${actor} claimed without raising the epoch`);
    }
    if (epoch < previousEpoch) faults.push(`${actor} lowered the epoch`);
    const settlesForOthers = previousOwner === null && change.previousStatus !== 'idle';
    if (self !== undefined && head > previousHead && previousOwner !== self && !settlesForOthers) {
      faults.push(`${actor} wrote history while ${previousOwner} held the lease`);
    }
    if (self !== undefined && head > previousHead && previousOwner === null && !actor.startsWith('sweep')) {
      faults.push(`${actor} wrote history without a lease`);
    }
    if (
      previousOwner !== null &&
      ownerLived &&
      owner !== previousOwner &&
      previousOwner !== self &&
      !summoned
    ) {
      faults.push(`${actor} took the lease of one who lives`);
    }
    return faults;
  });
}

/** Nothing queued lies in an idle context, unless its worker is stopped: a wake-up would be lost. */
function mailboxFaults(changes: readonly Change[]): string[] {
  return changes
    .filter(({ status, queued, stopped }) => status === 'idle' && queued > 0 && !stopped)
    .map(({ actor }) => `${actor} left a queued input in an idle context`);
}

async function restFaults(db: Executor, { contextId }: World): Promise<string[]> {
  const rows = await db.execute<{ fault: string }>(sql`
    select fault from contexts c, lateral (values
      (case when c.status <> 'idle' or c.lease_owner is not null then 'the context is stuck: ' || c.status end),
      (case when c.queued <> (select count(*) from jobs j where j.context_id = c.id and j.status = 'queued')
        then 'the counter of queued inputs is wrong: ' || c.queued end),
      (case when c.queued <> 0 or c.steers <> 0 then 'an input was never taken up' end),
      (case when c.turn_count <> (select coalesce(max(substr(m.turn, 2)::int), 0) from messages m
          where m.context_id = c.id and m.status = 'completed' and m.role <> 'system')
        then 'the counter of turns is wrong: ' || c.turn_count end),
      (case when c.state not in ('Idle', 'PermanentFailure', 'Stopped') then 'at rest in ' || c.state end),
      (case when not exists (
        select 1 from messages m where m.context_id = c.id and m.status in ('completed', 'retracted')
        having count(*) filter (where status = 'completed') = c.message_count and count(*) filter (where role = 'assistant') = c.request_count
          and coalesce(sum(input_tokens), 0) = c.input_tokens)
        then 'the counters of messages, requests or tokens are wrong' end),
      (case when exists (select 1 from jobs j where j.context_id = c.id and j.steps <> (
        select count(*) from messages m where m.job_id = j.id and m.role = 'assistant'))
        then 'the steps of a job are not its answers' end)
    ) as faults(fault)
    where c.id = ${contextId} and fault is not null`);
  return rows.map(({ fault }) => fault);
}

/** Messages and events share one line of numbers without gaps, as far as the head. */
async function numberFaults(db: Executor, { contextId }: World): Promise<string[]> {
  const rows = await db.execute<{ seq: number; head: number }>(sql`
    select seq, head_seq as head from contexts c join (
      select context_id, seq from messages where seq is not null
      union all select context_id, seq from events
    ) numbered on numbered.context_id = c.id where c.id = ${contextId} order by seq`);
  const head = rows[0]?.head ?? 0;
  const gap = rows.findIndex(({ seq }, index) => seq !== index + 1);
  return [
    ...(gap === -1 ? [] : [`the numbers break at ${gap + 1}`]),
    ...(rows.length === head ? [] : [`the head is ${head}, but ${rows.length} are numbered`]),
  ];
}

type JobRow = {
  id: string;
  priority: number;
  position: number;
  wished_end: string | null;
  status: string;
  wished: boolean;
  stopped: boolean;
  finished: boolean;
  started: number[] | null;
  ended: number[] | null;
  admitted: number | null;
  output_is_there: boolean;
};

/** Every accepted input is admitted once at most, in its place, and ends once. */
async function jobFaults(db: Executor, world: World, changes: readonly Change[]): Promise<string[]> {
  const rows = await db.execute<JobRow>(sql`
    select j.id, j.priority, j.position, j.status, j.stop_kind is not null as wished,
      case j.stop_kind when 'interrupt' then 'interrupted' else 'cancelled' end as wished_end, j.stopped_at is not null as stopped,
      j.finished_at is not null as finished, m.seq as admitted,
      (select json_agg(e.seq order by e.seq) from events e where e.context_id = j.context_id
        and e.name = 'JobStarted' and e.data->>'job_id' = j.id::text) as started,
      (select json_agg(e.seq order by e.seq) from events e where e.context_id = j.context_id
        and e.name = 'JobFinished' and e.data->>'job_id' = j.id::text and e.data->>'status' = j.status) as ended,
      (j.output_message_id is not null) = (j.status = 'completed') and (j.output_message_id is null or exists (
        select 1 from messages o where o.id = j.output_message_id and o.job_id = j.id and o.seq is not null))
        as output_is_there
    from jobs j left join messages m on m.id = j.message_id where j.context_id = ${world.contextId} order by j.position`);
  const faults = rows.flatMap((row) => {
    const started = row.started?.length ?? 0;
    return [
      ...(row.finished ? [] : [`a job never ended: ${row.status}`]),
      ...(started > 1 ? ['a job began twice'] : []),
      ...((row.admitted !== null) === (started === 1)
        ? []
        : ['an input was admitted without its job, or the reverse']),
      ...(row.ended?.length === 1 ? [] : [`the end of a job was told ${row.ended?.length ?? 0} times`]),
      ...(started === 0 && row.status !== 'cancelled' ? ['a job ended that never began'] : []),
      ...(row.wished && row.status !== row.wished_end ? [`a wish was lost: the job is ${row.status}`] : []),
      ...(row.wished && !row.stopped ? ['a receipt has no end'] : []),
      ...(row.output_is_there ? [] : ['the output of a job is not there, or not its own']),
    ];
  });
  for (const priority of new Set(rows.map((row) => row.priority))) {
    const begun = rows.filter((row) => row.priority === priority).flatMap(({ started }) => started ?? []);
    if (begun.some((seq, index) => seq < (begun[index - 1] ?? 0)))
      faults.push('inputs were admitted out of order');
  }
  return [...faults, ...placeFaults(rows, world, changes), ...(await steerFaults(db, world))];
}

/** An input that joined a job is history, or was taken back. */
async function steerFaults(db: Executor, { accepted, contextId }: World): Promise<string[]> {
  const rows = await db.execute<{ id: string; status: string }>(sql`
    select m.id, m.status from messages m where m.context_id = ${contextId} and m.role = 'user'`);
  const statuses = new Map(rows.map(({ id, status }) => [id, status]));
  return accepted.flatMap(({ job: { messageId } }) => {
    const status = messageId === null ? null : statuses.get(messageId);
    if (status === undefined) return ['an accepted input is not there'];
    return status === 'queued' ? ['an accepted input waits for ever'] : [];
  });
}

/** The place of an input is where its submit came in the order of commits. */
function placeFaults(
  rows: readonly JobRow[],
  { accepted, moved }: World,
  changes: readonly Change[],
): string[] {
  const places = new Map(rows.map(({ id, position }) => [id, position]));
  const submits = changes.filter(({ queued, previousQueued }) => queued === previousQueued + 1);
  const jobs = accepted.filter(
    ({ job }, index) => accepted.findIndex((one) => one.job.jobId === job.jobId) === index,
  );
  const faults =
    rows.length === jobs.length ? [] : [`${jobs.length} were accepted, ${rows.length} are there`];
  // Who moves an input changes places.
  if (moved) return faults;
  for (const client of new Set(jobs.map((one) => one.client))) {
    const own = jobs.filter((one) => one.client === client).map(({ job }) => places.get(job.jobId));
    const wakes = submits.filter(({ actor }) => actor === client).map(({ wake }) => wake);
    if (own.join() !== wakes.join())
      faults.push(`${client} was given the places ${own.join()} for ${wakes.join()}`);
  }
  return faults;
}

/** Every call has one result, behind it and before the next answer; what may happen once happened once at most. */
async function callFaults(db: Executor, { contextId, ran }: World): Promise<string[]> {
  const history = await readHistory(db, { contextId, tenantId: DEFAULT_TENANT }, 'main');
  const faults: string[] = [];
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const { role, content } of history) {
    if (role === 'assistant' && open.size > 0) faults.push('the model answered while calls were open');
    for (const block of content) {
      if (isToolUse(block)) open.add(block.id);
      if (isToolResult(block) && !open.delete(block.tool_use_id))
        faults.push('a result without an open call');
      if (isToolResult(block) && seen.has(block.tool_use_id)) faults.push('a call was answered twice');
      if (isToolResult(block)) seen.add(block.tool_use_id);
    }
  }
  if (open.size > 0) faults.push('a call was never answered');
  for (const times of ran.values())
    if (times > 1) faults.push(`a call that may happen once ran ${times} times`);
  const calls = await db.execute<{ id: string; status: string }>(
    sql`select t.id, t.status from tool_calls t join messages m on m.id = t.message_id
      where t.context_id = ${contextId} and m.status = 'completed'`,
  );
  const closed = await db.execute<{ id: string; status: string }>(
    sql`select id, status from tool_calls where context_id = ${contextId}`,
  );
  for (const { id, status } of calls) {
    if (!seen.has(id)) faults.push(`a call is ${status} and has no result`);
  }
  for (const { status } of closed) {
    if (status === 'pending' || status === 'started') faults.push(`a call is still ${status}`);
  }
  for (const id of ran.keys()) {
    const status = closed.find((call) => call.id === id)?.status;
    if (status === 'cancelled') faults.push('a call that ran is said not to have run');
  }
  return faults;
}

/** The states that were told follow each other by the table, and end where the context is. */
async function eventFaults(db: Executor, { contextId }: World): Promise<string[]> {
  const told = await db.execute<{ state: State }>(sql`
    select data->>'new_state' as state from events where context_id = ${contextId} and name = 'StateChanged' order by seq`);
  const [context] = await db.execute<{ state: State }>(
    sql`select state from contexts where id = ${contextId}`,
  );
  const states: State[] = ['Idle', ...told.map(({ state }) => state)];
  const faults = states.flatMap((state, index) => {
    const before = states[index - 1];
    return before === undefined || (before !== state && mayFollow(before, state))
      ? []
      : [`${before} was followed by ${state}`];
  });
  return states.at(-1) === context?.state
    ? faults
    : [...faults, `told ${states.at(-1)}, stored ${context?.state}`];
}
