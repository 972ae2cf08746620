// Inputs enter history in the order of their context's queue: by priority, then in the order in which they were accepted.
import { groupBy } from '../world.ts';
import type { Check, Posted, StoredJob, Violation, World } from '../world.ts';
import { sayer } from './violation.ts';

const says = sayer('order');

type Place = { job: StoredJob; input: Posted; begun: number | null; accepted: { at: number; after: number } };

export const order: Check = {
  name: 'order',
  find(world) {
    return [...groupBy(placesOf(world), ({ job }) => job.context_id).values()].flatMap((places) => [
      ...overtaken(places),
      ...misplaced(places),
    ]);
  },
};

/** Those that took their place by themselves. */
function placesOf({ jobs, inputs, events }: World): Place[] {
  const begun = new Map(
    events.filter(({ name }) => name === 'JobStarted').map(({ data, seq }) => [String(data['job_id']), seq]),
  );
  const asked = new Map(
    inputs.flatMap((input) =>
      input.outcome.kind === 'accepted' && input.delivery !== 'steer' && !input.reordered
        ? [[input.outcome.jobId, { input, accepted: input.outcome }] as const]
        : [],
    ),
  );
  return jobs.flatMap((job) => {
    const found = asked.get(job.id);
    return found === undefined ? [] : [{ job, ...found, begun: begun.get(job.id) ?? null }];
  });
}

/**
 * Nobody began before one who stood ahead of it. One of another priority must have been accepted by then (`after` is the
 * context's number at that moment): what is accepted while the next one is being chosen is for the choice after that.
 */
function overtaken(places: readonly Place[]): Violation[] {
  const begun = places.flatMap((place) => (place.begun === null ? [] : [{ ...place, begun: place.begun }]));
  return begun.flatMap((place) =>
    begun
      .filter((other) => isAhead(other.job, place.job) && other.begun > place.begun)
      .filter(
        (other) => other.job.priority === place.job.priority || other.accepted.after < place.begun - CHOOSING,
      )
      .map((other) =>
        says(
          `began at ${place.begun}, before one that stood ahead since ${other.accepted.after}`,
          place.job.context_id,
          place.job.id,
          other.job.id,
        ),
      ),
  );
}

/** Numbers that the end of the job before may take: its last answer, its end, the change of state. */
const CHOOSING = 4;

function isAhead(one: StoredJob, other: StoredJob): boolean {
  return one.priority < other.priority || (one.priority === other.priority && one.position < other.position);
}

/** Who was accepted before another one was even sent stands ahead of it. */
function misplaced(places: readonly Place[]): Violation[] {
  return places.flatMap((place) =>
    places
      .filter(
        (other) => other.accepted.at < place.input.firstSentAt && other.job.position > place.job.position,
      )
      .map((other) =>
        says(
          'stands ahead of one that was accepted before it was sent',
          place.job.context_id,
          place.job.id,
          other.job.id,
        ),
      ),
  );
}
