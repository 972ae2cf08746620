// A stopped worker takes no input and begins no job until it is started; the stop ended its running job, and no other.
import { groupBy, type Check, type Posted, type Stop, type Violation, type World } from '../world/world.ts';
import type { StoredJob } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('stops');

/** Milliseconds: times are cut off and rounded. */
const ROUNDING = 5;

export const stops: Check = {
  name: 'stops',
  find(world) {
    const jobs = groupBy(world.jobs, ({ context_id: id }) => id);
    const inputs = groupBy(world.inputs, ({ contextId }) => contextId);
    const ofContext = groupBy(world.stops, ({ contextId }) => contextId);
    return [
      ...world.stops.flatMap((stop) => [
        ...answerFaults(stop),
        ...(inputs.get(stop.contextId) ?? []).flatMap((input) => inputFaults(stop, input)),
        ...(jobs.get(stop.contextId) ?? []).flatMap((job) => jobFaults(stop, job)),
      ]),
      ...[...jobs].flatMap(([contextId, own]) => stopRequestFaults(contextId, own, ofContext.get(contextId) ?? [])),
      ...refusedWithout(world, ofContext),
      ...stillStopped(world, ofContext),
    ];
  },
};

function answerFaults({ contextId, stopped, started }: Stop): Violation[] {
  if (stopped === null) return [violation('a stop never got through', contextId)];
  if (started === null) return [violation('a start never got through', contextId)];
  return [
    ...(stopped.reported === 'stopped'
      ? []
      : [violation(`a worker was stopped, and is shown as ${stopped.reported}`, contextId)]),
    ...(started.reported === 'stopped' ? [violation('a worker was started, and is shown as stopped', contextId)] : []),
  ];
}

/** Sent after the stop was answered, accepted before the start was sent. */
function inputFaults({ stopped, startRequested }: Stop, { tag, contextId, firstSentAt, outcome }: Posted): Violation[] {
  if (stopped === null || outcome.kind !== 'accepted') return [];
  const within = firstSentAt > stopped.at && outcome.at < (startRequested?.at ?? Infinity);
  return within ? [violation('an input was taken by a stopped worker', contextId, tag, outcome.jobId)] : [];
}

function jobFaults({ asked, stopped, startRequested }: Stop, job: StoredJob): Violation[] {
  const { started_at: from, finished_at: to } = job;
  if (stopped === null || from === null) return [];
  const until = startRequested?.wall ?? Infinity;
  if (from > stopped.wall + ROUNDING && from < until - ROUNDING)
    return [violation('a job was begun by a stopped worker', job.context_id, job.id)];
  const ran = from < asked.wall - ROUNDING && (to ?? Infinity) > stopped.wall + ROUNDING;
  return ran && job.stop_kind === null ? [violation('a job ran on through a stop', job.context_id, job.id)] : [];
}

/** A stop ends one job at most, and only while it is in progress. */
function stopRequestFaults(contextId: string, jobs: readonly StoredJob[], asked: readonly Stop[]): Violation[] {
  const ended = jobs.filter(({ stop_kind: kind }) => kind === 'stop');
  // Jobs that a worker asked for end with it, also queued ones.
  const ran = ended.filter(({ parent_job_id: parent, started_at: from }) => parent === null || from !== null);
  const strays = ended.filter(({ stop_requested_at: at }) => !asked.some((stop) => isWithin(stop, at ?? 0)));
  return [
    ...(ran.length > asked.length
      ? [violation(`${ran.length} jobs were ended by ${asked.length} stops`, contextId, ...ran.map(({ id }) => id))]
      : []),
    ...strays.map(({ id }) => violation('a job was ended by a stop that no client requested', contextId, id)),
  ];
}

function isWithin({ asked, stopped }: Stop, at: number): boolean {
  return at > asked.wall - ROUNDING && at < (stopped?.wall ?? Infinity) + ROUNDING;
}

function refusedWithout({ inputs }: World, ofContext: ReadonlyMap<string, Stop[]>): Violation[] {
  return inputs.flatMap(({ tag, contextId, firstSentAt, outcome }) => {
    if (outcome.kind !== 'refused' || outcome.code !== 'worker_stopped') return [];
    const met = (ofContext.get(contextId) ?? []).some(
      ({ asked, started }) => asked.at < outcome.at && (started?.at ?? Infinity) > firstSentAt,
    );
    return met ? [] : [violation('an input was refused by a worker that was not stopped', contextId, tag)];
  });
}

/** Every stop is followed by a start, and they alternate. */
function stillStopped({ contexts }: World, ofContext: ReadonlyMap<string, Stop[]>): Violation[] {
  return contexts
    .filter(({ id }) => (ofContext.get(id) ?? []).every(({ started }) => started !== null))
    .filter(({ stopped, state }) => stopped || state === 'Stopped')
    .map(({ id, state }) => violation(`a worker that was started is still stopped, in ${state}`, id));
}
