// Schedules. Those of the default tenant run once, in the contexts of all other clients or in new ones. Those of the
// tenant that is suspended and resumed recur; meanwhile they are paused, resumed and run by clients. One belongs to the
// tenant that is deleted.
import { setTimeout as sleep } from 'node:timers/promises';
import { CONFIG } from './settings.ts';
import { write } from './inputs.ts';
import type { Asker, More } from './requests.ts';
import type { Random } from '../random.ts';
import { rows } from '../world/database.ts';
import type { MadeSchedule, Pause } from '../world/schedules.ts';

/** The shortest interval. */
const EVERY_S = 10;
/** Runs long enough that some of its jobs are unfinished when the next one is due. */
const CONTENT = 'tokens: 40 over 1s\n---\nsay: done';
/** Those that run once: one for so many inputs, and at least a few. */
const INPUTS_FOR_ONE = 12;
const LEAST = 3;
/** A request may take longer than its schedule is ahead of it. */
const MOST_TRIES = 5;
/** Manual runs, and pauses, of each that recurs. */
const TIMES = 2;
/** While the tenant is suspended; while another client changes the schedule. */
const MAY_BE_REFUSED: More = { by: 'paused', fine: [403, 412] };

type Recurring = Pick<MadeSchedule, 'catchUp' | 'overlap'> & { name: string; jitterS: number; makesWorkers: boolean };

const RECURRING: readonly Recurring[] = [
  { name: 'each', catchUp: 'all', overlap: 'queue', jitterS: 0, makesWorkers: false },
  { name: 'newest', catchUp: 'one', overlap: 'skip', jitterS: 3, makesWorkers: false },
  { name: 'replacing', catchUp: 'one', overlap: 'interrupt', jitterS: 0, makesWorkers: true },
  { name: 'punctual', catchUp: 'none', overlap: 'queue', jitterS: 0, makesWorkers: false },
];

export type Schedulers = {
  made: MadeSchedule[];
  /**
   * After the faults: waits until none is due, and pauses all. Returns as of when, by PostgreSQL's clock; null: some were
   * still due when the time was up.
   */
  finish(withinMs: number): Promise<number | null>;
};

export type SchedulePlan = { inputs: number; ms: number };

/** Resolves once those that recur are made. The others follow meanwhile. */
export async function startSchedules(
  ask: Asker,
  contexts: readonly string[],
  databaseUrl: string,
  random: Random,
  { inputs, ms }: SchedulePlan,
): Promise<Schedulers> {
  const made: MadeSchedule[] = [];
  const recurring = await Promise.all(
    RECURRING.map(async (one) => {
      const target = one.makesWorkers
        ? { worker: { name: one.name } }
        : { context_id: await contextOf(ask, 'paused', one.name) };
      const schedule = await make(ask, 'paused', one.name, { every_s: EVERY_S, content: CONTENT, target }, one);
      if (schedule === null) throw new Error(`the schedule ${one.name} was refused`);
      return schedule;
    }),
  );
  made.push(...recurring);
  await leftBehind(ask);
  const once = Array.from({ length: Math.max(LEAST, Math.round(inputs / INPUTS_FOR_ONE)) }, async (_, at) => {
    const own = random.of(`once ${at}`);
    await sleep(own.between(0, ms));
    const schedule = await makeOnce(ask, `s-${at + 1}`, contexts, own);
    if (schedule !== null) made.push(schedule);
  });
  const acting = recurring.map(async (schedule, at) => {
    const own = random.of(`recurring ${at}`);
    await Promise.all([runNow(ask, schedule, own, ms), pauseAndResume(ask, schedule, own, ms)]);
  });
  const all = Promise.all([...once, ...acting]);

  return {
    made,
    async finish(withinMs) {
      await all;
      const quietAt = await untilNoneIsDue(databaseUrl, withinMs);
      for (const { id } of recurring) await change(ask, id, true);
      return quietAt;
    },
  };
}

/** Null: refused, because its time had passed when the request got through. */
async function make(
  ask: Asker,
  tenant: MadeSchedule['tenant'],
  key: string,
  body: object,
  { catchUp, overlap, jitterS }: Pick<Recurring, 'catchUp' | 'overlap' | 'jitterS'>,
): Promise<MadeSchedule | null> {
  const settings = { name: key, catch_up: catchUp, overlap, jitter_s: jitterS, ...body };
  const answer = await ask.insist('POST', '/api/schedules', settings, `schedule-${key}`, { by: tenant, fine: [422] });
  if (answer?.status !== 201) return null;
  return { id: String(answer.body['id']), tenant, catchUp, overlap, input: null, pauses: [], manual: [] };
}

/** Null: its time had always passed when the request got through. */
async function makeOnce(
  ask: Asker,
  tag: string,
  contexts: readonly string[],
  random: Random,
): Promise<MadeSchedule | null> {
  const script = write(tag, random, true, false, false, false);
  const target = random.chance(0.3) ? { worker: { name: tag, config: CONFIG } } : { context_id: random.pick(contexts) };
  const lead = random.between(1_000, 5_000);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const body = { at: new Date(Date.now() + lead * 2 ** tries).toISOString(), content: script.text, target };
    const key = tries === 0 ? tag : `${tag}-${tries}`;
    const schedule = await make(ask, 'default', key, body, { catchUp: 'all', overlap: 'queue', jitterS: 0 });
    if (schedule !== null) return { ...schedule, input: { tag, script } };
  }
  return null;
}

async function contextOf(ask: Asker, tenant: MadeSchedule['tenant'] | 'deleted', name: string): Promise<string> {
  const answer = await ask.insist('POST', '/api/workers', { name }, `worker-${name}`, { by: tenant });
  return String(answer?.body['context_id']);
}

/** What waits for its time when its tenant is deleted. */
async function leftBehind(ask: Asker): Promise<void> {
  const contextId = await contextOf(ask, 'deleted', 'left-behind');
  const by: More = { by: 'deleted' };
  const schedule = { name: 'left-behind', every_s: EVERY_S, content: CONTENT, target: { context_id: contextId } };
  await ask.insist('POST', '/api/schedules', schedule, 'schedule-left-behind', by);
  const input = { content: CONTENT, after_s: 3_600 };
  await ask.insist('POST', `/api/contexts/${contextId}/messages`, input, 'input-left-behind', by);
}

async function runNow(ask: Asker, { id, manual }: MadeSchedule, random: Random, ms: number): Promise<void> {
  const moments = Array.from({ length: TIMES }, async (_, at) => {
    // The first run of each has no wait before it.
    if (at > 0) await sleep(random.between(0, ms));
    // Refused while its tenant is suspended, also if it ran before and that answer was lost: the key stays the same.
    const key = `run-${id}-${at}`;
    for (;;) {
      const answer = await ask.insist('POST', `/api/schedules/${id}/run`, undefined, key, MAY_BE_REFUSED);
      if (answer?.status === 202) manual.push(String(answer.body['job_id']));
      if (answer === null || answer.status === 202) return;
      await sleep(500);
    }
  });
  await Promise.all(moments);
}

async function pauseAndResume(ask: Asker, { id, pauses }: MadeSchedule, random: Random, ms: number): Promise<void> {
  for (let times = 0; times < TIMES; times += 1) {
    await sleep(times === 0 ? random.between(0, ms / 10) : random.between(0, ms / TIMES));
    while (!(await change(ask, id, true))) await sleep(500);
    const pause: Pause = { from: Date.now(), to: Infinity };
    pauses.push(pause);
    await sleep(random.between(500, 4_000));
    pause.to = Date.now();
    while (!(await change(ask, id, false))) await sleep(500);
  }
}

/** False: its tenant is suspended. */
async function change(ask: Asker, id: string, paused: boolean): Promise<boolean> {
  const answer = await ask.insist('PATCH', `/api/schedules/${id}`, { paused }, undefined, MAY_BE_REFUSED);
  return answer === null || answer.status === 200;
}

/** Of those that recur, each has run by then. */
async function untilNoneIsDue(databaseUrl: string, withinMs: number): Promise<number | null> {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    const [row] = await rows<{ now: number; open: number }>(
      databaseUrl,
      `select (extract(epoch from statement_timestamp()) * 1000)::float8 as now, count(*)::int as open
       from schedules s join tenants t on t.id = s.tenant_id and t.status = 'active'
       where s.next_run_at <= statement_timestamp() or s.once_at is not null and s.next_run_at is not null
         or s.every_s is not null and not exists (select 1 from schedule_runs r where r.schedule_id = s.id and r.occurrence is not null)`,
    );
    if (row?.open === 0) return row.now;
    await sleep(200);
  }
  return null;
}
