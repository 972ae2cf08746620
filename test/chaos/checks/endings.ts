// Every job ended, once, as it may: its row, its events, and what clients were told say the same.
import { groupBy, isEnded } from '../world.ts';
import type { Check, Interrupt, Posted, StoredEvent, StoredJob, Violation } from '../world.ts';
import { sayer } from './violation.ts';

const says = sayer('endings');

export const endings: Check = {
  name: 'endings',
  find({ jobs, events, inputs, sightings, interrupts }) {
    const told = groupBy(
      events.filter(({ name }) => name === 'JobStarted' || name === 'JobFinished'),
      ({ data }) => String(data['job_id']),
    );
    const asked = groupBy(inputs, ({ outcome }) => (outcome.kind === 'accepted' ? outcome.jobId : null));
    const seen = groupBy(sightings, ({ jobId }) => jobId);
    const interrupted = new Set(interrupts.map(({ contextId }) => contextId));
    const pushy = new Set(
      inputs.filter(({ delivery }) => delivery === 'interrupt').map(({ contextId }) => contextId),
    );
    return [
      ...interruptedTooOften(jobs, inputs, interrupts),
      ...jobs.flatMap((job) => [
        ...rowFaults(job),
        ...eventFaults(job, told.get(job.id) ?? []),
        ...reasonFaults(
          job,
          asked.get(job.id) ?? [],
          interrupted.has(job.context_id) || pushy.has(job.context_id),
        ),
        ...(seen.get(job.id) ?? []).flatMap((sighting) =>
          sighting.status === job.status && sighting.outputId === job.output_message_id
            ? []
            : [says(`a client was told ${sighting.status}, it is ${job.status}`, job.context_id, job.id)],
        ),
      ]),
    ];
  },
};

/** A key interrupts one job at most, however often it is asked again. */
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
    const wishes = asked.get(contextId)?.length ?? 0;
    if (list.length <= wishes) return [];
    return [
      says(
        `${list.length} jobs were interrupted for ${wishes} wishes`,
        contextId,
        ...list.map(({ id }) => id),
      ),
    ];
  });
}

function rowFaults(job: StoredJob): Violation[] {
  if (!isEnded(job.status)) return [says(`the job never ended: ${job.status}`, job.context_id, job.id)];
  return job.finished_at === null ? [says('the job ended without a time', job.context_id, job.id)] : [];
}

function eventFaults(job: StoredJob, told: readonly StoredEvent[]): Violation[] {
  const started = told.filter(({ name }) => name === 'JobStarted');
  const finished = told.filter(({ name }) => name === 'JobFinished');
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(says(what, job.context_id, job.id));
  if (started.length !== (job.started_at === null ? 0 : 1)) note(`its begin is told ${started.length} times`);
  if (isEnded(job.status) && finished.length !== 1) note(`its end is told ${finished.length} times`);
  for (const { data } of finished) {
    if (data['status'] !== job.status)
      note(`its end is told as ${String(data['status'])}, it is ${job.status}`);
  }
  return faults;
}

/** A job ends as its script says, or as somebody asked. */
function reasonFaults(job: StoredJob, asked: readonly Posted[], mayBeInterrupted: boolean): Violation[] {
  if (!isEnded(job.status) || asked.length === 0) return [];
  const asCancelled = asked.some(({ cancelled, withdrawn }) => cancelled || withdrawn === 'taken');
  const ends = asked.flatMap(({ script }) => script.ends);
  const may =
    job.status === 'cancelled'
      ? asCancelled
      : job.status === 'interrupted'
        ? mayBeInterrupted
        : ends.includes(job.status);
  if (may) return [];
  const why = job.error_code === null ? '' : ` (${job.error_code})`;
  return [
    says(
      `the job ended ${job.status}${why}, for no reason`,
      job.context_id,
      job.id,
      ...asked.map(({ tag }) => tag),
    ),
  ];
}
