// Webhooks of a small world: each delivery arrived once, but the first one, which was refused before.
import type { Arrival, HookName, StoredDelivery, Webhooks } from './webhooks.ts';
import type { World } from './world.ts';

/** The webhook that inputs name. */
export const NAMED = 'named';

export function soundWebhooks({ events, inputs, others }: Pick<World, 'events' | 'inputs' | 'others'>): Webhooks {
  const stored: StoredDelivery[] = [];
  const add = (hook: HookName, type: string, jobId: string): void => {
    const seq = 1 + stored.filter((one) => one.hook === hook && one.job_id === jobId).length;
    stored.push({ id: `${hook}-${jobId}-${seq}`, hook, job_id: jobId, type, seq, status: 'delivered' });
  };
  for (const { name, data } of events) {
    if (name === 'JobStarted') add('every', 'job.started', String(data['job_id']));
    if (name === 'JobFinished') add('every', 'job.finished', String(data['job_id']));
  }
  for (const { webhook, outcome } of inputs)
    if (webhook === NAMED && outcome.kind === 'accepted') add('named', 'job.finished', outcome.jobId);
  for (const { id } of others.jobs) add('paused', 'job.finished', id);
  const arrivals = stored.map(({ id, hook, job_id: jobId, type, seq }, at) => ({
    id,
    hook,
    jobId,
    type,
    seq,
    at,
    isSigned: true,
    accepted: at + 1,
  }));
  const [first] = arrivals;
  const refused: Arrival[] = first === undefined ? [] : [{ ...first, accepted: null }];
  const waiting: Arrival = {
    id: 'of-deleted',
    hook: 'deleted',
    jobId: 'job-of-deleted',
    type: 'job.started',
    seq: 1,
    at: 5,
    isSigned: true,
    accepted: null,
  };
  return { arrivals: [...refused, ...arrivals, waiting], stored, isDrained: true, goneAt: 1_000 };
}
