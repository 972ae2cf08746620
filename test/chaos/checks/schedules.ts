// Each due occurrence of a schedule ran once or was missed once, and each manual run was one; each of these runs is one
// job. Nothing ran before its time, during a pause, or while its tenant was suspended.
import { groupBy, type Check, type Violation, type World } from '../world/world.ts';
import type { MadeSchedule, RunJob, Schedules, StoredRun, StoredSchedule } from '../world/schedules.ts';
import { reporter } from './violation.ts';

const violation = reporter('schedules');

/** Milliseconds: times are cut off and rounded. */
const ROUNDING = 5;

export const schedules: Check = {
  name: 'schedules',
  find({ schedules: all, others: { suspended } }) {
    const { made, stored, runs, jobs, quietAt } = all;
    const byId = new Map(stored.map((one) => [one.id, one]));
    const ofSchedule = groupBy(runs, ({ schedule_id: id }) => id);
    const jobOf = new Map(jobs.map((job) => [job.id, job]));
    return [
      ...(quietAt === null ? [violation('schedules are still due when the time is up', null)] : []),
      ...nothingHappened(all),
      ...sharedJobs(runs),
      ...made.flatMap((schedule) => {
        const row = byId.get(schedule.id);
        if (row === undefined) return [violation('a schedule is lost', null, schedule.id)];
        const own = ofSchedule.get(schedule.id) ?? [];
        return [
          ...occurrenceFaults(schedule, row, own, quietAt),
          ...manualFaults(schedule, own),
          ...own.flatMap((run) => runFaults(schedule, run, jobOf, suspended)),
        ];
      }),
    ];
  },
};

/** A run without these tests nothing. */
function nothingHappened({ made, runs }: Schedules): Violation[] {
  const started = runs.filter(({ status, occurrence }) => status === 'started' && occurrence !== null);
  const once = new Set(made.filter(({ input }) => input !== null).map(({ id }) => id));
  const faults: Violation[] = [];
  if (!started.some(({ schedule_id: id }) => once.has(id))) faults.push(violation('no schedule ran once', null));
  if (!started.some(({ schedule_id: id }) => !once.has(id))) faults.push(violation('no schedule recurred', null));
  if (!made.some(({ pauses }) => pauses.length > 0)) faults.push(violation('no schedule was paused', null));
  if (!made.some(({ manual }) => manual.length > 0)) faults.push(violation('no client ran a schedule', null));
  return faults;
}

function sharedJobs(runs: readonly StoredRun[]): Violation[] {
  return [...groupBy(runs, ({ job_id: id }) => id)]
    .filter(([, own]) => own.length > 1)
    .map(([id, own]) => violation(`${own.length} runs are one job`, null, id));
}

/** All up to its next occurrence, which was not due yet: each of them once. */
function occurrenceFaults(
  { id, catchUp }: MadeSchedule,
  stored: StoredSchedule,
  runs: readonly StoredRun[],
  quietAt: number | null,
): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, null, id));
  const { next_occurrence: next, jitter_s: jitter, every_s: every } = stored;
  if (quietAt !== null && next !== null && next + jitter * 1_000 < quietAt) note('an occurrence is still due');
  const done = runs.flatMap((run) => occurrencesIn(run, every));
  const counts = groupBy(done.map(String), (one) => one);
  for (const [occurrence, times] of counts)
    if (times.length > 1) note(`${timeOf(Number(occurrence))} is in the run log ${times.length} times`);
  const wanted = occurrencesOf(stored);
  for (const occurrence of wanted)
    if (!counts.has(String(occurrence))) note(`${timeOf(occurrence)} neither ran nor was missed`);
  for (const occurrence of new Set(done))
    if (!wanted.includes(occurrence)) note(`${timeOf(occurrence)} is no occurrence that was due`);
  if (catchUp === 'all' && runs.some(({ status }) => status === 'missed')) note('an occurrence was missed');
  return faults;
}

function occurrencesIn({ occurrence, missed_until: until }: StoredRun, every: number | null): number[] {
  if (occurrence === null) return [];
  if (until === null || every === null) return [occurrence];
  const step = every * 1_000;
  return Array.from({ length: Math.round((until - occurrence) / step) + 1 }, (_, at) => occurrence + at * step);
}

/** Before the next one. */
function occurrencesOf({
  every_s: every,
  anchor_at: anchor,
  once_at: once,
  next_occurrence: next,
}: StoredSchedule): number[] {
  if (once !== null) return next === null ? [once] : [];
  if (every === null || anchor === null || next === null) return [];
  const step = every * 1_000;
  return Array.from(
    { length: Math.max(0, Math.round((next - anchor) / step) - 1) },
    (_, at) => anchor + (at + 1) * step,
  );
}

function timeOf(occurrence: number): string {
  return new Date(occurrence).toISOString();
}

function manualFaults({ id, manual }: MadeSchedule, runs: readonly StoredRun[]): Violation[] {
  const logged = runs.flatMap(({ occurrence, job_id: job }) => (occurrence === null && job !== null ? [job] : []));
  return logged.toSorted().join() === manual.toSorted().join()
    ? []
    : [violation(`${manual.length} manual runs were accepted, ${logged.length} are in the run log`, null, id)];
}

function runFaults(
  { id, input, overlap, pauses }: MadeSchedule,
  { occurrence, at, status, job_id: jobId, code }: StoredRun,
  jobs: ReadonlyMap<string, RunJob>,
  suspended: World['others']['suspended'],
): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, null, id, jobId));
  const isWithin = (from: number, to: number): boolean => at > from + ROUNDING && at < to - ROUNDING;
  if (occurrence !== null) {
    if (at < occurrence - ROUNDING) note(`it ran ${occurrence - at} ms before its time`);
    if (pauses.some(({ from, to }) => isWithin(from, to))) note('it ran while it was paused');
  }
  if (input === null && suspended !== null && isWithin(suspended.from, suspended.to))
    note('it ran while its tenant was suspended');
  // A stopped worker of the default tenant takes no input.
  if (status === 'failed' && (input === null || code !== 'worker_stopped')) note(`its input was refused: ${code}`);
  if (status === 'skipped' && overlap !== 'skip') note('a run was skipped');
  if (status !== 'started') return faults;
  const job = jobs.get(jobId ?? '');
  if (job === undefined) note('a run has no job');
  else if (occurrence !== null && job.created_at < occurrence - ROUNDING) note('its job is older than its occurrence');
  const ends = overlap === 'interrupt' ? ['completed', 'cancelled'] : ['completed'];
  // The checks of jobs know how those of the default tenant may end.
  if (input === null && job !== undefined && !ends.includes(job.status)) note(`its job is ${job.status}`);
  return faults;
}
