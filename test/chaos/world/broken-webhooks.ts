// Ways to break the webhooks of the small sound world, by check.
import type { Sound } from './sound-world.ts';
import type { Arrival, StoredDelivery } from './webhooks.ts';

export const BROKEN_WEBHOOKS: Readonly<Record<string, readonly [string, (sound: Sound) => void, RegExp][]>> = {
  webhooks: [
    [
      'deliveries are pending at the end',
      ({ world }) => void (world.webhooks.isDrained = false),
      /pending when the time is up/,
    ],
    ['a delivery is pending', (sound) => change(stored(sound), { status: 'pending' }), /a delivery is pending/],
    ['a delivery was never accepted', (sound) => change(arrival(sound), { accepted: null }), /never arrived/],
    ['a signature is wrong', (sound) => change(arrival(sound), { isSigned: false }), /no valid signature/],
    ['an event that is not stored', (sound) => change(arrival(sound), { id: 'other' }), /that is not stored/],
    [
      'an end is not sent',
      ({ world, end }) => void world.events.push({ ...end, data: { ...end.data, job_id: 'job-9' } }),
      /job.finished was not sent to the webhook every/,
    ],
    [
      'a begin is not sent',
      ({ world, begin }) => void world.events.push({ ...begin, data: { ...begin.data, job_id: 'job-9' } }),
      /job.started was not sent to the webhook every/,
    ],
    [
      'an end is two deliveries',
      (sound) =>
        void sound.world.webhooks.stored.push({ ...stored(sound, 'job.finished'), id: 'every-job-1-3', seq: 3 }),
      /job.finished is 2 deliveries to every/,
    ],
    [
      'a named webhook gets no end',
      ({ second }) => Object.assign(second, { webhook: 'named' }),
      /was not sent to the webhook named/,
    ],
    [
      'a named webhook gets the end of another job',
      ({ first }) => Object.assign(first, { webhook: null }),
      /to the webhook named, which did not want it/,
    ],
    [
      'the end of a job of a suspended tenant is not sent',
      ({ world }) => void world.others.jobs.push({ id: 'job-9', status: 'completed', user: null, startedAt: 60 }),
      /was not sent to the webhook paused/,
    ],
    ['the end comes before the begin', (sound) => change(arrival(sound), { accepted: 99 }), /arrived in the order 2,1/],
    [
      'a deleted tenant sends',
      ({ world }) => void (world.webhooks.goneAt = 2),
      /a delivery of a deleted tenant arrived/,
    ],
    [
      'nothing was delivered',
      ({ world }) => void (world.webhooks.arrivals = []),
      /nothing was delivered to the webhook every/,
    ],
    [
      'nothing was refused',
      ({ world: { webhooks } }) => void (webhooks.arrivals = webhooks.arrivals.filter((one) => one.accepted !== null)),
      /no delivery was refused/,
    ],
    [
      'the deleted tenant had none',
      ({ world: { webhooks } }) => void (webhooks.arrivals = webhooks.arrivals.filter((one) => one.hook !== 'deleted')),
      /no delivery of the deleted tenant was tried/,
    ],
  ],
};

function stored({ world }: Sound, type = 'job.started'): StoredDelivery {
  return found(world.webhooks.stored.filter((one) => one.hook === 'every' && one.type === type));
}

/** Of the first begin. */
function arrival({ world }: Sound): Arrival {
  return found(world.webhooks.arrivals.filter(({ hook, seq, accepted }) => hook === 'every' && seq === 1 && accepted));
}

function change<T extends object>(one: T, more: Partial<NoInfer<T>>): void {
  Object.assign(one, more);
}

function found<T>([one]: readonly T[]): T {
  if (one === undefined) throw new Error('nothing to break');
  return one;
}
