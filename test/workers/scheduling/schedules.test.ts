// Worker processes run schedules that are due: at their time, with Redis and without, and however many processes look.
import { afterEach, expect, test } from 'vitest';
import { createSchedule, type GivenSettings } from '../../../src/commands/schedules/create-schedule.ts';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import type { Schedule } from '../../../src/core/schedules/schedule.ts';
import { says, startFleet, type Fleet } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

function schedule(of: Fleet, contextId: ContextId, inMs: number, over: Partial<GivenSettings> = {}): Promise<Schedule> {
  return of.perform(
    createSchedule(of.ports, {
      tenantId: DEFAULT_TENANT,
      user: null,
      actor: { kind: 'operator', id: null, user: null, onBehalfOf: null },
      name: 's',
      timing: { kind: 'at', at: Date.now() + inMs },
      timezone: 'UTC',
      target: { kind: 'context', contextId },
      content: 'go',
      overlap: 'queue',
      catchUp: 'one',
      jitterS: 0,
      paused: false,
      ...over,
    }),
  );
}

const runs = (of: Fleet) =>
  of.query(`select r.status, r.error, j.status as job, extract(epoch from r.at - r.occurrence)::float8 as late,
    extract(epoch from j.finished_at - r.occurrence)::float8 as done_after
    from schedule_runs r left join jobs j on j.id = r.job_id`);

test.each(['redis', 'deaf'] as const)('an input is posted in time, and answered: %s', async (queue) => {
  // With Redis no sweep comes in time, so the job begins by its wake-up; without, by a sweep.
  const times = queue === 'redis' ? { sweepMs: 600_000 } : {};
  const of = (fleet = await startFleet({ model: () => says('done'), processes: 2, queue, times }));
  const { contextId } = await of.createContext();
  await schedule(of, contextId, 1_500);
  await of.until(async () => (await runs(of)).some(({ job }) => job === 'completed'));
  const [run, ...others] = await runs(of);
  expect(others).toEqual([]);
  expect(run).toMatchObject({ status: 'started' });
  // It waits for the moment itself, not for the next look.
  expect(run?.['late']).toBeGreaterThanOrEqual(0);
  expect(run?.['late']).toBeLessThan(1);
  if (queue === 'deaf') expect(run?.['done_after']).toBeLessThan(4);
});

test('many that are due at once run once each, in three processes', async () => {
  const of = (fleet = await startFleet({ model: () => says('done'), processes: 3 }));
  const { contextId } = await of.createContext();
  const worker = { name: 'w', role: null, config: {} };
  for (let count = 0; count < 60; count += 1)
    await schedule(of, contextId, 3_000, count % 2 === 0 ? {} : { target: { kind: 'worker', worker } });
  await of.until(async () => (await runs(of)).filter(({ job }) => job === 'completed').length === 60);
  expect(await of.query('select count(*)::int as n from jobs')).toEqual([{ n: 60 }]);
});

test('one that cannot be run does not hold up the others', async () => {
  const of = (fleet = await startFleet({ model: () => says('done') }));
  const { contextId } = await of.createContext();
  const broken = await schedule(of, contextId, 400);
  await of.query(
    `update schedules set timezone = 'Mars/Olympus', once_at = null, cron = '* * * * *' where id = '${broken.id}'`,
  );
  const other = await schedule(of, contextId, 400);
  await of.until(async () => (await runs(of)).some(({ job }) => job === 'completed'));
  expect(await of.query('select schedule_id from schedule_runs')).toEqual([{ schedule_id: other.id }]);
  // It is tried again later.
  const [row] = await of.query(`select next_run_at > now() + interval '5 seconds' as later from schedules
    where id = '${broken.id}'`);
  expect(row).toEqual({ later: true });
});
