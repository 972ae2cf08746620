// Every event that a webhook wants is one delivery, and every delivery arrives, signed, those of a job in order; of a
// deleted tenant nothing arrives any more.
import { groupBy, type Check, type Violation, type World } from '../world/world.ts';
import type { Arrival, HookName, StoredDelivery } from '../world/webhooks.ts';
import { reporter } from './violation.ts';

const violation = reporter('webhooks');

export const webhooks: Check = {
  name: 'webhooks',
  find(world) {
    const { arrivals, stored, isDrained, goneAt } = world.webhooks;
    const accepted = new Set(arrivals.flatMap(({ id, accepted: at }) => (at === null ? [] : [id])));
    const known = new Set(stored.map(({ id }) => id));
    return [
      ...(isDrained ? [] : [violation('deliveries are pending when the time is up', null)]),
      ...nothingHappened(arrivals),
      ...arrivals.flatMap(({ id, hook, jobId, isSigned, at }) => [
        ...(isSigned ? [] : [violation('a delivery has no valid signature', null, id, jobId)]),
        ...(hook === 'deleted' || known.has(id) ? [] : [violation('a delivery that is not stored', null, id, jobId)]),
        ...(isOfDeleted(hook) && at > goneAt
          ? [violation('a delivery of a deleted tenant arrived', null, id, jobId)]
          : []),
      ]),
      ...stored.flatMap(({ id, job_id: jobId, status }) => [
        ...(status === 'delivered' ? [] : [violation(`a delivery is ${status}`, null, id, jobId)]),
        ...(accepted.has(id) ? [] : [violation('a delivery never arrived', null, id, jobId)]),
      ]),
      ...eventFaults(world),
      ...orderFaults(arrivals),
    ];
  },
};

function isOfDeleted(hook: HookName): boolean {
  return hook === 'paused' || hook === 'deleted';
}

/** A run without these tests nothing. */
function nothingHappened(arrivals: readonly Arrival[]): Violation[] {
  const hooks: readonly HookName[] = ['every', 'named', 'paused'];
  return [
    ...hooks
      .filter((name) => !arrivals.some(({ hook, accepted }) => hook === name && accepted !== null))
      .map((name) => violation(`nothing was delivered to the webhook ${name}`, null)),
    ...(arrivals.some(({ hook, accepted }) => hook === 'every' && accepted === null)
      ? []
      : [violation('no delivery was refused', null)]),
    ...(arrivals.some(({ hook }) => hook === 'deleted')
      ? []
      : [violation('no delivery of the deleted tenant was tried', null)]),
  ];
}

/** Each begin and each end is one delivery to each webhook that wants it. */
function eventFaults({ events, inputs, others, webhooks: { stored } }: World): Violation[] {
  const jobsOf = (name: string): string[] =>
    events.flatMap((one) => (one.name === name ? [String(one.data['job_id'])] : []));
  const named = inputs.flatMap(({ webhook, outcome }) =>
    webhook !== null && outcome.kind === 'accepted' ? [outcome.jobId] : [],
  );
  return [
    ...differences(stored, 'every', 'job.started', jobsOf('JobStarted')),
    ...differences(stored, 'every', 'job.finished', jobsOf('JobFinished')),
    ...differences(stored, 'named', 'job.finished', named),
    ...differences(stored, 'named', 'job.started', []),
    ...differences(
      stored,
      'paused',
      'job.finished',
      others.jobs.map(({ id }) => id),
    ),
  ];
}

function differences(
  stored: readonly StoredDelivery[],
  hook: HookName,
  type: string,
  wanted: readonly string[],
): Violation[] {
  const made = groupBy(
    stored.filter((one) => one.hook === hook && one.type === type),
    ({ job_id: id }) => id,
  );
  const jobs = new Set(wanted);
  return [
    ...[...jobs]
      .filter((id) => !made.has(id))
      .map((id) => violation(`${type} was not sent to the webhook ${hook}`, null, id)),
    ...[...made].flatMap(([id, list]) => [
      ...(jobs.has(id) ? [] : [violation(`${type} was sent to the webhook ${hook}, which did not want it`, null, id)]),
      ...(list.length === 1 ? [] : [violation(`${type} is ${list.length} deliveries to ${hook}`, null, id)]),
    ]),
  ];
}

/** As they were accepted first. */
function orderFaults(arrivals: readonly Arrival[]): Violation[] {
  const accepted = arrivals
    .flatMap((one) => (one.accepted === null ? [] : [{ ...one, accepted: one.accepted }]))
    .sort((a, b) => a.accepted - b.accepted);
  const ofJob = groupBy(accepted, ({ hook, jobId }) => (jobId === null ? null : `${hook} ${jobId}`));
  return [...ofJob.values()].flatMap((list) => {
    const order = [...new Set(list.map(({ seq }) => seq))];
    return order.every((seq, at) => seq === at + 1)
      ? []
      : [violation(`deliveries arrived in the order ${order.join()}`, null, list[0]?.jobId ?? null)];
  });
}
