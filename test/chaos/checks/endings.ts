// Every job ended, once, with a valid status: its row, its events, and the answers to clients agree.
import { LIMITS } from '../../../src/core/limits.ts';
import { expectedOf, type ExpectedJob } from '../world/expected-jobs.ts';
import {
  groupBy,
  isEnded,
  type Check,
  type Interrupt,
  type Posted,
  type Struck,
  type Violation,
  type World,
} from '../world/world.ts';
import type { StoredEvent, StoredJob, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('endings');

export const endings: Check = {
  name: 'endings',
  find(world) {
    const { jobs, events, inputs, sightings, interrupts, stops, faults } = world;
    const made = groupBy(world.messages, ({ job_id: id }) => id);
    const published = groupBy(
      events.filter(({ name }) => name === 'JobStarted' || name === 'JobFinished'),
      ({ data }) => String(data['job_id']),
    );
    const asked = groupBy(expectedOf(world), ({ jobId }) => jobId);
    const seen = groupBy(sightings, ({ jobId }) => jobId);
    const interrupted = new Set(interrupts.map(({ contextId }) => contextId));
    const pushy = new Set(inputs.filter(({ delivery }) => delivery === 'interrupt').map(({ contextId }) => contextId));
    const halted = new Set(stops.map(({ contextId }) => contextId));
    return [
      ...interruptedTooOften(jobs, inputs, interrupts),
      ...jobs.flatMap((job) => [
        ...rowFaults(job),
        ...eventFaults(job, published.get(job.id) ?? []),
        ...reasonFaults(
          job,
          asked.get(job.id) ?? [],
          isOvertaken(world, job),
          interrupted.has(job.context_id) || pushy.has(job.context_id),
          halted.has(job.context_id) && isHalted(job),
          isCrashLoop(job, made.get(job.id) ?? [], faults),
        ),
        ...(seen.get(job.id) ?? []).flatMap((sighting) =>
          sighting.status === job.status && sighting.outputId === job.output_message_id
            ? []
            : [violation(`a client received ${sighting.status}, it is ${job.status}`, job.context_id, job.id)],
        ),
      ]),
    ];
  },
};

/** A key interrupts one job at most, however often the request is repeated. */
function interruptedTooOften(
  jobs: readonly StoredJob[],
  inputs: readonly Posted[],
  interrupts: readonly Interrupt[],
): Violation[] {
  const asked = groupBy(
    [...interrupts, ...inputs.filter(({ delivery }) => delivery === 'interrupt')],
    ({ contextId }) => contextId,
  );
  const ended = groupBy(
    jobs.filter(({ status }) => status === 'interrupted'),
    ({ context_id: id }) => id,
  );
  return [...ended].flatMap(([contextId, list]) => {
    const requests = asked.get(contextId)?.length ?? 0;
    if (list.length <= requests) return [];
    return [
      violation(
        `${list.length} jobs were interrupted for ${requests} requests`,
        contextId,
        ...list.map(({ id }) => id),
      ),
    ];
  });
}

function rowFaults(job: StoredJob): Violation[] {
  if (!isEnded(job.status)) return [violation(`the job never ended: ${job.status}`, job.context_id, job.id)];
  return job.finished_at === null ? [violation('the job ended without a time', job.context_id, job.id)] : [];
}

function eventFaults(job: StoredJob, published: readonly StoredEvent[]): Violation[] {
  const started = published.filter(({ name }) => name === 'JobStarted');
  const finished = published.filter(({ name }) => name === 'JobFinished');
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, job.context_id, job.id));
  if (started.length !== (job.started_at === null ? 0 : 1)) note(`its begin is published ${started.length} times`);
  if (isEnded(job.status) && finished.length !== 1) note(`its end is published ${finished.length} times`);
  for (const { data } of finished) {
    if (data['status'] !== job.status) note(`its end is published as ${String(data['status'])}, it is ${job.status}`);
  }
  return faults;
}

/** A retry: an input of a higher priority was answered on its branch first, and no work is left. */
function isOvertaken(
  { messages }: World,
  { kind, branch, context_id: contextId, created_at: from, started_at: to }: StoredJob,
): boolean {
  const between = messages.filter(
    (one) => one.context_id === contextId && one.branch === branch && (one.completed_at ?? 0) >= from,
  );
  return kind === 'retry' && between.some(({ completed_at: at }) => at !== null && to !== null && at <= to);
}

/** By a stop of its worker, or, while it was queued, of the worker above that had asked for it. */
function isHalted({
  stop_kind: kind,
  stop_reason: reason,
  started_at: from,
  parent_job_id: parent,
}: StoredJob): boolean {
  return kind === 'stop' || (from === null && parent !== null && reason === 'a worker above it was stopped');
}

/** It ended after failed claims in a row, and so many faults that end runs struck since its last message. */
function isCrashLoop(job: StoredJob, made: readonly StoredMessage[], faults: readonly Struck[]): boolean {
  const { error_code: code, started_at: started, finished_at: to, created_at: created } = job;
  if (code !== 'crash_loop' || to === null) return false;
  const since = Math.max(started ?? created, ...made.map(({ completed_at: at }) => at ?? 0));
  const struck = faults.filter(
    ({ endsRuns, missed, wall, ms }) => endsRuns && missed === null && wall < to && wall + ms > since,
  );
  return struck.length >= LIMITS.failedClaims;
}

/** A job ends as its script says, by a request, or by faults. */
function reasonFaults(
  job: StoredJob,
  asked: readonly ExpectedJob[],
  overtaken: boolean,
  mayBeInterrupted: boolean,
  wasHalted: boolean,
  wasCrashLoop: boolean,
): Violation[] {
  if (!isEnded(job.status) || asked.length === 0) return [];
  const asCancelled = asked.some(({ input }) => input.cancelled || input.withdrawn === 'taken');
  const ends = asked.flatMap(({ as, script }) => (as === 'reply' ? [] : script.ends));
  const may =
    job.status === 'cancelled'
      ? asCancelled || wasHalted
      : job.status === 'interrupted'
        ? mayBeInterrupted
        : ends.includes(job.status) || (overtaken && job.error_code === 'nothing_to_answer') || wasCrashLoop;
  if (may) return [];
  const given = job.error_code ?? job.stop_reason;
  const why = given === null ? '' : ` (${given})`;
  return [
    violation(
      `the job ended ${job.status}${why}, for no reason`,
      job.context_id,
      job.id,
      ...asked.map(({ tag }) => tag),
    ),
  ];
}
