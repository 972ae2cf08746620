/** Creates a worker and its context with a first input that is delayed: all of it in one transaction, or nothing. */
import type { Delay } from '../../core/run/delay.ts';
import { delayInput } from '../inputs/delay-input.ts';
import type { FirstInput, SubmitPorts } from '../inputs/posted-input.ts';
import { done, performWithin, type Command } from '../perform.ts';
import { createWorker, type CreateOptions, type Created, type CreateWorker } from './create-worker.ts';

type DelayedFirstInput = FirstInput & { delay: Delay; queueLimit: number };

/** Refused like `createWorker`, and `invalid_request` (the delay). */
export function createWithDelayedInput(
  ports: SubmitPorts,
  worker: CreateWorker,
  { delay, ...input }: DelayedFirstInput,
  options: CreateOptions,
): Command<Created> {
  return async (tx) => {
    const created = await performWithin(tx, createWorker(ports, worker, null, options));
    if (created.kind === 'refused') return created;
    const { contextId } = created.value;
    const { tenantId } = worker;
    const first = { ...input, tenantId, contextId, delivery: 'queue', branch: null, by: null, full: null } as const;
    const delayed = await delayInput(ports, first, delay, 'input.')(tx);
    if (delayed.kind === 'refused') return delayed;
    const { messageId } = delayed.value;
    if (messageId === null) throw new Error(`The job ${delayed.value.jobId} has no message.`);
    const accepted = { ...delayed.value, messageId };
    return done({ ...created.value, accepted }, ...created.afterCommit, ...delayed.afterCommit);
  };
}
