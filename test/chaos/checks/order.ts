// Inputs enter history in the order of their context's queue: by priority, then in the order in which they were accepted.
import { expectedOf } from '../world/expected-jobs.ts';
import { groupBy, type Check, type Posted, type Violation, type World } from '../world/world.ts';
import type { StoredJob } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('order');

type Place = { job: StoredJob; input: Posted; begun: number | null; accepted: { at: number; after: number } };

export const order: Check = {
  name: 'order',
  find(world) {
    const moved = new Set(world.inputs.filter(({ reordered }) => reordered).map(({ contextId }) => contextId));
    const places = placesOf(world).filter(({ job }) => !moved.has(job.context_id));
    return [
      ...[...groupBy(places, ({ job }) => job.context_id).values()].flatMap((own) => [
        ...overtaken(own),
        ...misplaced(own),
      ]),
      ...joinedLate(world),
    ];
  },
};

/** Jobs, with the input that each was made for. */
function placesOf(world: World): Place[] {
  const { jobs, events } = world;
  const begun = new Map(
    events.filter(({ name }) => name === 'JobStarted').map(({ data, seq }) => [String(data['job_id']), seq]),
  );
  const asked = new Map(
    expectedOf(world).flatMap(({ input, jobId, as }) =>
      input.outcome.kind === 'accepted' && as === 'leader'
        ? [[jobId, { input, accepted: input.outcome }] as const]
        : [],
    ),
  );
  return jobs.flatMap((job) => {
    const found = asked.get(job.id);
    return found === undefined ? [] : [{ job, ...found, begun: begun.get(job.id) ?? null }];
  });
}

/**
 * No input began before one that was ahead of it in the queue. One of another priority must have been accepted by then
 * (`after` is the context's number at that time): an input accepted during a choice counts for the next choice. When a
 * delayed one joined the queue is not known.
 */
function overtaken(places: readonly Place[]): Violation[] {
  const begun = places.flatMap((place) => (place.begun === null ? [] : [{ ...place, begun: place.begun }]));
  return begun.flatMap((place) =>
    begun
      .filter((other) => isAhead(other.job, place.job) && other.begun > place.begun)
      .filter(
        (other) =>
          other.job.priority === place.job.priority ||
          (other.input.delay === null && other.accepted.after < place.begun - CHOOSING),
      )
      .map((other) =>
        violation(
          `began at ${place.begun}, before one that stood ahead since ${other.accepted.after}`,
          place.job.context_id,
          place.job.id,
          other.job.id,
        ),
      ),
  );
}

/** Numbers: no other entry is between the choice and the start. */
const CHOOSING = 1;

function isAhead(one: StoredJob, other: StoredJob): boolean {
  return one.priority < other.priority || (one.priority === other.priority && one.position < other.position);
}

/** An input that was accepted before another one was sent is ahead of it. Delayed ones join the queue later. */
function misplaced(all: readonly Place[]): Violation[] {
  const places = all.filter(({ input }) => input.delay === null);
  return places.flatMap((place) =>
    places
      .filter((other) => other.accepted.at < place.input.firstSentAt && other.job.position > place.job.position)
      .map((other) =>
        violation(
          'stands ahead of one that was accepted before it was sent',
          place.job.context_id,
          place.job.id,
          other.job.id,
        ),
      ),
  );
}

/** Inputs that join a job do so in the order in which they were accepted. */
function joinedLate(world: World): Violation[] {
  const numbers = new Map(world.messages.map(({ id, seq }) => [id, seq]));
  const joined = expectedOf(world).flatMap(({ input: { tag, contextId, firstSentAt, outcome }, as }) => {
    if (as !== 'part' || outcome.kind !== 'accepted' || outcome.messageId === null) return [];
    const seq = numbers.get(outcome.messageId) ?? null;
    return seq === null
      ? []
      : [{ tag, contextId, jobId: outcome.jobId, sentAt: firstSentAt, acceptedAt: outcome.at, seq }];
  });
  return [...groupBy(joined, ({ jobId }) => jobId).values()].flatMap((list) =>
    list.flatMap((one) =>
      list
        .filter((other) => other.acceptedAt < one.sentAt && other.seq > one.seq)
        .map((other) =>
          violation(
            'joined before one that was accepted before it was sent',
            one.contextId,
            one.jobId,
            one.tag,
            other.tag,
          ),
        ),
    ),
  );
}
