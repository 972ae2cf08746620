/**
 * A delayed input: it becomes a job at once, and joins the queue of its context when it is due.
 *
 * - Checked: the context's row is locked; then the start, the branch, if one is named, and that the context is not
 *   stopped and has fewer delayed and queued inputs than its queue may hold.
 * - Written: the message and its job, both delayed. The context's row changes only in its size.
 * - After the commit: nothing. Worker processes find the job when it is due (see release-due.ts).
 * - Receipt: the new job, which is delayed. An input whose start has passed is queued at once (see queue-input.ts).
 */
import type { InputBlock } from '../../core/conversation/blocks.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import { LONGEST_DELAY_DAYS, LONGEST_DELAY_S, type Delay } from '../../core/run/delay.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../../db/connection/client.ts';
import { findBranch } from '../../db/write/contexts/branches.ts';
import { admission } from '../../db/write/inputs/admission.ts';
import { insertDelayed, lockToDelay, type DelayTimes } from '../../db/write/inputs/delayed-inputs.ts';
import { done, performWithin, type Command } from '../perform.ts';
import { jobOfInput } from './enqueue.ts';
import type { Accepted, SubmitInput, SubmitPorts } from './posted-input.ts';
import { queueInput } from './queue-input.ts';
import { noBranch, noContext } from './refusals.ts';

type DelayedInput = SubmitInput & { content: InputBlock[] };

/**
 * `within`: before the names of parameters in refusals. Refused: `not_found` (also for the branch), `invalid_request`,
 * `worker_stopped`, `quota_exceeded`, `queue_full`.
 */
export function delayInput(ports: SubmitPorts, input: DelayedInput, delay: Delay, within = ''): Command<Accepted> {
  return async (tx) => {
    const { contextId, branch, deadline } = input;
    if (input.delivery !== 'queue') return onlyQueued(within);
    const times = await lockToDelay(tx, input, delay);
    if (times === null) return noContext(input);
    const { startsAt, now } = times;
    if (startsAt <= now) return performWithin(tx, queueInput(ports, input));
    const refusal = refusalOf(times, deadline, within);
    if (refusal !== null) return refusal;
    if (input.full !== null) return input.full;
    if (branch !== null && (await findBranch(tx, input, branch)) === null) return noBranch(branch);
    const job = jobOfInput(ports.ids, input);
    const inserted = await insertDelayed(tx, { ...input, ...job, startsAt });
    if (inserted === null) return whyNotDelayed(tx, input);
    const { messageId } = job.input;
    return done({ jobId: job.jobId, messageId, contextId, status: 'delayed', after: inserted.headSeq });
  };
}

function onlyQueued(within: string): Refusal {
  const message = 'A delayed input is queued when it is due. Leave delivery out, or set it to queue.';
  return refuse('invalid_request', message, `${within}delivery`);
}

function refusalOf({ startsAt, now }: DelayTimes, deadline: Millis | null, within: string): Refusal | null {
  if (startsAt > now + LONGEST_DELAY_S * 1_000)
    return refuse('invalid_request', `at must be at most ${LONGEST_DELAY_DAYS} days from now.`, `${within}at`);
  if (deadline !== null && deadline <= startsAt)
    return refuse('invalid_request', 'The deadline must be after the start of the job.', `${within}deadline`);
  return null;
}

async function whyNotDelayed(tx: Executor, input: DelayedInput): Promise<Refusal> {
  const state = await admission(tx, input.tenantId, input.contextId);
  if (state === null) return noContext(input);
  if (state.stopped) return refuse('worker_stopped', 'The worker is stopped. Start it first.');
  return refuse(
    'queue_full',
    `The context already has ${input.queueLimit} delayed and queued inputs. Wait until it has processed some, or cancel some.`,
  );
}
