// Ways to break the schedules of the small sound world, by check.
import type { Sound } from './sound-world.ts';
import type { MadeSchedule, Schedules, StoredRun, StoredSchedule } from './schedules.ts';

export const BROKEN_SCHEDULES: Readonly<Record<string, readonly [string, (sound: Sound) => void, RegExp][]>> = {
  schedules: [
    ['some are still due', ({ world }) => void (world.schedules.quietAt = null), /still due when the time is up/],
    ['an occurrence is still due', (sound) => change(stored(sound), { next_occurrence: 30_000 }), /is still due/],
    ['a schedule is lost', ({ world }) => void world.schedules.stored.shift(), /a schedule is lost/],
    ['an occurrence is lost', (sound) => without(sound, 0), /00:00:10.000Z neither ran nor was missed/],
    ['one that was missed is lost', (sound) => without(sound, 1), /00:00:20.000Z neither ran nor was missed/],
    [
      'an occurrence ran twice',
      (sound) => void all(sound).runs.push({ ...run(sound, 0), job_id: 'run-9' }),
      /00:00:10.000Z is in the run log 2 times/,
    ],
    [
      'an occurrence ran, and was missed',
      (sound) => change(run(sound, 1), { missed_until: 30_000 }),
      /00:00:30.000Z is in the run log 2 times/,
    ],
    [
      'a run was of no occurrence',
      (sound) => change(run(sound, 2), { occurrence: 31_000, at: 31_100 }),
      /00:00:31.000Z is no occurrence/,
    ],
    ['one ran before its time', (sound) => change(run(sound, 0), { at: 9_000 }), /ran 1000 ms before its time/],
    [
      'all were to run, and one was missed',
      (sound) => change(made(sound), { catchUp: 'all' }),
      /an occurrence was missed/,
    ],
    ['one ran while it was paused', (sound) => change(run(sound, 0), { at: 20_000 }), /while it was paused/],
    [
      'one ran while its tenant was suspended',
      ({ world }) => void (world.others.suspended = { from: 10_050, to: 10_200 }),
      /while its tenant was suspended/,
    ],
    ['two runs are one job', (sound) => change(run(sound, 2), { job_id: 'run-1' }), /2 runs are one job/],
    ['a run has no job', (sound) => void all(sound).jobs.shift(), /a run has no job/],
    [
      'a job was there before its run',
      (sound) => change(all(sound).jobs[0], { created_at: 9_000 }),
      /older than its occurrence/,
    ],
    ['a job did not end', (sound) => change(all(sound).jobs[0], { status: 'running' }), /its job is running/],
    ['a run was skipped', (sound) => change(run(sound, 0), { status: 'skipped' }), /a run was skipped/],
    [
      'an input was refused',
      (sound) => change(run(sound, 0), { status: 'failed', code: 'worker_stopped' }),
      /refused: worker_stopped/,
    ],
    ['another refusal', (sound) => change(run(sound, 4), { code: 'not_found' }), /refused: not_found/],
    ['a manual run is lost', (sound) => without(sound, 3), /1 manual runs were accepted, 0 are in the run log/],
    [
      'a manual run ran twice',
      (sound) => void all(sound).runs.push({ ...run(sound, 3), job_id: 'run-9' }),
      /1 manual runs were accepted, 2 are in the run log/,
    ],
    ['none recurred', (sound) => void all(sound).runs.splice(0, 4), /no schedule recurred/],
    ['none ran once', (sound) => without(sound, 5), /no schedule ran once/],
    ['none was paused', (sound) => change(made(sound), { pauses: [] }), /no schedule was paused/],
    ['none was run by a client', (sound) => change(made(sound), { manual: [] }), /no client ran a schedule/],
  ],
};

const all = ({ world }: Sound): Schedules => world.schedules;
const made = (sound: Sound): MadeSchedule => first(all(sound).made);
const stored = (sound: Sound): StoredSchedule => first(all(sound).stored);
const run = (sound: Sound, at: number): StoredRun => first(all(sound).runs.slice(at));

function without(sound: Sound, at: number): void {
  all(sound).runs.splice(at, 1);
}

function change<T extends object>(one: T | undefined, more: Partial<NoInfer<T>>): void {
  Object.assign(first(one === undefined ? [] : [one]), more);
}

function first<T>([one]: readonly T[]): T {
  if (one === undefined) throw new Error('nothing to break');
  return one;
}
