/**
 * Delivery `steer`: the input joins the running job at its next step.
 *
 * - Checked: the context's row is locked and its `control_seq` raised, so that the run reads its mailbox before it goes
 *   on. If no job runs, or the running job is on another branch, of another user or has a stop request, the input is queued.
 * - Written: the queued input, `inputs.steer`.
 * - After the commit: nothing. The run finds the input at its next step.
 * - Receipt: the running job.
 */
import { isOfContent } from '../../core/access/quotas.ts';
import type { InputBlock } from '../../core/conversation/blocks.ts';
import type { MessageId } from '../../core/ids.ts';
import { steerableJob } from '../../db/read/jobs/job-views.ts';
import { raiseControl } from '../../db/run/stop-requests.ts';
import { steer } from '../../db/write/inputs/steer.ts';
import { done, performWithin, type Command } from '../perform.ts';
import type { Accepted, SubmitInput, SubmitPorts } from './posted-input.ts';
import { queueInput } from './queue-input.ts';
import { whyRefused } from './refusals.ts';

export function steerInput(ports: SubmitPorts, input: SubmitInput & { content: InputBlock[] }): Command<Accepted> {
  return async (tx) => {
    const { tenantId, contextId, content, queueLimit } = input;
    if (!(await raiseControl(tx, tenantId, contextId))) return whyRefused(tx, input);
    const job = await steerableJob(tx, tenantId, contextId, input);
    if (job === null) return performWithin(tx, queueInput(ports, input));
    // To join a job adds no job, but content.
    if (input.full !== null && isOfContent(input.full)) return whyRefused(tx, input);
    const messageId = ports.ids.next<MessageId>();
    const joined = await steer(tx, { tenantId, contextId, jobId: job.id, messageId, content, queueLimit });
    if (joined === null) return whyRefused(tx, { ...input, full: null });
    return done({ jobId: job.id, messageId, contextId, status: job.status, after: joined.headSeq });
  };
}
