// The laws, checked against everything that was ever written about a context. Each violation is one line of text.
import { sql } from 'drizzle-orm';
import type { Database, Executor } from '../../../src/db/connection/client.ts';
import { mayFollow, type State } from '../../../src/core/run/state.ts';
import { branchFaults } from './branch-checks.ts';
import { compactionFaults } from './compaction-checks.ts';
import { changesOf, type Change } from './audit.ts';
import type { World } from './world.ts';

/** The violations of an idle context, and of its history of writes. */
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
    ...(await branchFaults(db, world)),
    ...(await compactionFaults(db, world)),
    ...(await answerFaults(db, world)),
    ...(await eventFaults(db, world)),
  ];
}

/**
 * A writer holds the lease; the lease of a live owner is taken only where a stop request went unanswered, or where no
 * work is left under it.
 */
function leaseFaults(changes: readonly Change[], world: World): string[] {
  const processOf = new Map(world.processes.map(({ lane, id }) => [lane.name, id]));
  return changes.flatMap((change) => {
    const { actor, owner, previousOwner, ownerLived, epoch, previousEpoch, head, previousHead, signalled } = change;
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
      !signalled &&
      (change.unfinished || change.status !== 'idle')
    ) {
      faults.push(`${actor} took the lease of a live owner`);
    }
    return faults;
  });
}

/** An idle context has no queued input, unless its worker is stopped: a wake-up would be lost. */
function mailboxFaults(changes: readonly Change[]): string[] {
  return changes
    .filter(({ status, queued, stopped }) => status === 'idle' && queued > 0 && !stopped)
    .map(({ actor }) => `${actor} left a queued input in an idle context`);
}

async function restFaults(db: Executor, { contextId }: World): Promise<string[]> {
  const rows = await db.execute<{ fault: string }>(sql`
    select fault from contexts c join lateral (
      select coalesce(max(e.seq), 0) as cleared from events e where e.context_id = c.id and e.name = 'ContextCleared') l on true
    join lateral (
      select count(*) as requests, coalesce(sum((e.data -> 'usage' ->> 'input_tokens')::int), 0) as tokens,
        sum((e.data -> 'usage' ->> 'cost')::numeric * 1e9) as cost from events e
      where e.context_id = c.id and e.seq > l.cleared and e.name = 'ContextCompacted'
        and e.data ->> 'model' is not null) s on true,
    lateral (values
      (case when c.scheduling_status <> 'idle' or c.lease_owner is not null then 'the context is stuck: ' || c.scheduling_status end),
      (case when c.queued <> (select count(*) from jobs j where j.context_id = c.id and j.status = 'queued')
        then 'the counter of queued inputs is wrong: ' || c.queued end),
      (case when c.queued <> 0 or c.steers <> 0 then 'an input was never run' end),
      (case when (select m.turn from messages m where m.context_id = c.id and m.seq > l.cleared and m.role = 'user'
          order by m.seq limit 1) <> 'u1' then 'the turns of a cleared context do not begin at 1' end),
      (case when c.state not in ('Idle', 'PermanentFailure', 'Stopped') then 'still in state ' || c.state end),
      (case when not exists (
        select 1 from messages m where m.context_id = c.id and m.seq > l.cleared and m.status in ('completed', 'retracted')
        having count(*) filter (where status = 'completed') = c.message_count
          and count(*) filter (where role = 'assistant') + s.requests = c.request_count
          and coalesce(sum(input_tokens), 0) + s.tokens = c.input_tokens)
        then 'the counters of messages, requests or tokens are wrong' end),
      (case when c.stored_bytes <> (select coalesce(sum(m.bytes), 0) from messages m where m.context_id = c.id)
        then 'the counter of stored bytes is wrong: ' || c.stored_bytes end),
      (case when c.cost_nanos is distinct from (
        select coalesce(sum(m.cost_nanos) + s.cost, sum(m.cost_nanos), s.cost) from messages m
        where m.context_id = c.id and m.seq > l.cleared and m.status in ('completed', 'retracted'))
        then 'the cost is not that of its calls' end),
      (case when exists (select 1 from jobs j where j.context_id = c.id and j.steps <> (
        select count(*) from messages m where m.job_id = j.id and m.role = 'assistant'))
        then 'the steps of a job are not its answers' end)
    ) as faults(fault)
    where c.id = ${contextId} and fault is not null`);
  return rows.map(({ fault }) => fault);
}

/** Messages and events share one sequence of numbers without gaps, up to the head. */
export async function numberFaults(db: Executor, { contextId }: Pick<World, 'contextId'>): Promise<string[]> {
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
  expected_end: string | null;
  status: string;
  is_stopped: boolean;
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
    select j.id, j.priority, j.position, j.status, j.stop_kind is not null as is_stopped,
      case j.stop_kind when 'interrupt' then 'interrupted' else 'cancelled' end as expected_end, j.stopped_at is not null as stopped,
      j.finished_at is not null as finished, case j.kind when 'input' then m.seq else j.first_seq end as admitted,
      (select json_agg(e.seq order by e.seq) from events e where e.context_id = j.context_id
        and e.name = 'JobStarted' and e.data->>'job_id' = j.id::text) as started,
      (select json_agg(e.seq order by e.seq) from events e where e.context_id = j.context_id
        and e.name = 'JobFinished' and e.data->>'job_id' = j.id::text and e.data->>'status' = j.status) as ended,
      (j.output_message_id is not null) = (j.status = 'completed' and j.kind <> 'compact') and (j.output_message_id is null or exists (
        select 1 from messages o where o.id = j.output_message_id and o.job_id = j.id and o.seq is not null))
        as output_is_there
    from jobs j left join messages m on m.id = j.message_id where j.context_id = ${world.contextId} order by j.position`);
  const faults = rows.flatMap((row) => {
    const started = row.started?.length ?? 0;
    return [
      ...(row.finished ? [] : [`a job never ended: ${row.status}`]),
      ...(started > 1 ? ['a job began twice'] : []),
      ...((row.admitted !== null) === (started === 1) ? [] : ['an input was admitted without its job, or the reverse']),
      ...(row.ended?.length === 1 ? [] : [`the end of a job was published ${row.ended?.length ?? 0} times`]),
      ...(started === 0 && row.status !== 'cancelled' ? ['a job that never began has ended'] : []),
      ...(row.is_stopped && row.status !== row.expected_end
        ? [`a stop request was lost: the job is ${row.status}`]
        : []),
      ...(row.is_stopped && !row.stopped ? ['a receipt has no end'] : []),
      ...(row.output_is_there ? [] : ['the output of a job is missing, or not its own']),
    ];
  });
  for (const priority of new Set(rows.map((row) => row.priority))) {
    const begun = rows.filter((row) => row.priority === priority).flatMap(({ started }) => started ?? []);
    if (begun.some((seq, index) => seq < (begun[index - 1] ?? 0))) faults.push('inputs were admitted out of order');
  }
  return [...faults, ...placeFaults(rows, world, changes), ...(await steerFaults(db, world))];
}

/** An input that joined a job is in history, or was retracted. */
async function steerFaults(db: Executor, { accepted, contextId }: World): Promise<string[]> {
  const rows = await db.execute<{ id: string; status: string }>(sql`
    select m.id, m.status from messages m where m.context_id = ${contextId} and m.role = 'user'`);
  const statuses = new Map(rows.map(({ id, status }) => [id, status]));
  const answers = await repliesOf(db, contextId);
  return accepted.flatMap(({ job: { messageId } }) => {
    if (messageId !== null && answers.has(messageId)) return [];
    const status = messageId === null ? null : statuses.get(messageId);
    if (status === undefined) return ['an accepted input is missing'];
    return status === 'queued' ? ['an accepted input waits forever'] : [];
  });
}

/** Answered calls, whose id the answer has in history: whether their job was interrupted. */
async function repliesOf(db: Executor, contextId: string): Promise<Map<string, boolean>> {
  const rows = await db.execute<{ id: string; interrupted: boolean }>(sql`
    select t.id, j.status = 'interrupted' as interrupted
    from tool_calls t join jobs j on j.id = t.job_id
    where t.context_id = ${contextId} and t.reply is not null`);
  return new Map(rows.map(({ id, interrupted }) => [id, interrupted]));
}

/** An answer that was accepted is in history, unless an interrupt retracted the question. */
async function answerFaults(db: Executor, { answers, accepted, contextId }: World): Promise<string[]> {
  const replies = await repliesOf(db, contextId);
  const given = [...answers, ...accepted.flatMap(({ job: { messageId } }) => messageId ?? [])];
  const history = await db.execute<{ id: string }>(sql`
    select id from messages where context_id = ${contextId} and role = 'tool' and seq is not null`);
  const there = new Set(history.map(({ id }) => id));
  return [
    ...answers.filter((id) => !replies.has(id)).map(() => 'an accepted answer is missing'),
    ...[...replies.keys()].filter((id) => !given.some((one) => one === id)).map(() => 'an answer that no client gave'),
    ...[...replies].flatMap(([id, interrupted]) =>
      there.has(id) || interrupted ? [] : ['an answer never entered history'],
    ),
  ];
}

/** The place of an input is that of its submit in the order of commits. */
function placeFaults(rows: readonly JobRow[], { accepted, moved }: World, changes: readonly Change[]): string[] {
  const places = new Map(rows.map(({ id, position }) => [id, position]));
  const submits = changes.filter(({ queued, previousQueued }) => queued === previousQueued + 1);
  const jobs = accepted.filter(({ job }, index) => accepted.findIndex((one) => one.job.jobId === job.jobId) === index);
  const faults = rows.length === jobs.length ? [] : [`${jobs.length} were accepted, ${rows.length} are stored`];
  // Moving an input changes places.
  if (moved) return faults;
  for (const client of new Set(jobs.map((one) => one.client))) {
    const own = jobs.filter((one) => one.client === client).map(({ job }) => places.get(job.jobId));
    const wakes = submits.filter(({ actor }) => actor === client).map(({ wake }) => wake);
    if (own.join() !== wakes.join()) faults.push(`${client} was given the places ${own.join()} for ${wakes.join()}`);
  }
  return faults;
}

/** Every call has its result, at any position; a `once` call ran once at most. */
async function callFaults(db: Executor, { contextId, ran }: World): Promise<string[]> {
  const faults: string[] = [];
  const answered = await db.execute<{ id: string }>(sql`
    select block ->> 'tool_use_id' as id from messages m cross join lateral json_array_elements(m.content) as block
    where m.context_id = ${contextId} and m.status = 'completed' and block ->> 'type' = 'tool_result'`);
  const seen = new Set(answered.map(({ id }) => id));
  for (const times of ran.values()) if (times > 1) faults.push(`a once-only call ran ${times} times`);
  const calls = await db.execute<{ id: string; status: string }>(
    sql`select t.id, t.status from tool_calls t join messages m on m.id = t.message_id
      where t.context_id = ${contextId} and m.status = 'completed' and m.seq > (
        select coalesce(max(e.seq), 0) from events e where e.context_id = t.context_id and e.name = 'ContextCleared')`,
  );
  const closed = await db.execute<{ id: string; status: string }>(
    sql`select id, status from tool_calls where context_id = ${contextId}`,
  );
  for (const { id, status } of calls) {
    if (!seen.has(id)) faults.push(`a call is ${status} and has no result`);
  }
  for (const { status } of closed) {
    if (['pending', 'started', 'waiting'].includes(status)) faults.push(`a call is still ${status}`);
  }
  for (const id of ran.keys()) {
    const status = closed.find((call) => call.id === id)?.status;
    if (status === 'cancelled') faults.push('a call that ran is reported as not run');
  }
  return faults;
}

/** The published states follow each other by the table, and the last one is the context's. */
export async function eventFaults(db: Executor, { contextId }: Pick<World, 'contextId'>): Promise<string[]> {
  const published = await db.execute<{ state: State }>(sql`
    select data->>'new_state' as state from events where context_id = ${contextId} and name = 'StateChanged' order by seq`);
  const [context] = await db.execute<{ state: State }>(sql`select state from contexts where id = ${contextId}`);
  const states: State[] = ['Idle', ...published.map(({ state }) => state)];
  const faults = states.flatMap((state, index) => {
    const before = states[index - 1];
    return before === undefined || (before !== state && mayFollow(before, state))
      ? []
      : [`${before} was followed by ${state}`];
  });
  return states.at(-1) === context?.state
    ? faults
    : [...faults, `published ${states.at(-1)}, stored ${context?.state}`];
}
