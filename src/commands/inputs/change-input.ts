/**
 * Edits an input that is not history yet, moves it in the queue, or withdraws it. A run in progress reads its mailbox
 * again.
 */
import type { InputBlock } from '../../core/conversation/blocks.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import type { ContextId, MessageId, TenantId } from '../../core/ids.ts';
import type { User } from '../../core/access/user.ts';
import type { Executor } from '../../db/connection/client.ts';
import {
  findInput,
  moveJob,
  rewriteInput,
  withdrawSteered,
  type QueuedInput,
} from '../../db/write/inputs/queued-inputs.ts';
import { raiseControl } from '../../db/run/stop-requests.ts';
import { cancelJob } from '../jobs/cancel-job.ts';
import type { Reserve } from '../tenants/within-quota.ts';
import { done, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

type Target = { tenantId: TenantId; contextId: ContextId; messageId: MessageId };

/**
 * Null: unchanged. `place`: position in the context's queue, from 1. `by`: the user that the request proves; null:
 * a key, which may act for all. `reserve`: for what makes the content longer.
 */
type InputChange = {
  content: InputBlock[] | null;
  place: number | null;
  by: User | null;
  reserve: Reserve;
};

/**
 * Refused: `not_found`, `not_queued`, `forbidden` (a text for the job of another user), `invalid_request` (a position
 * for an input that is in no queue), `quota_exceeded` (a longer content).
 */
export function changeInput(target: Target, { content, place, by, reserve }: InputChange): Command<Target> {
  return async (tx) => {
    const input = await stillQueued(tx, target);
    if ('code' in input) return input;
    if (content !== null && by !== null && by !== input.user)
      return refuse('forbidden', 'This input is of another user. Withdraw it, and post another one.', 'content');
    if (place !== null && input.kind === 'steered') {
      const message = 'This input joins the running job, so it has no position in the queue.';
      return refuse('invalid_request', message, 'position');
    }
    if (place !== null && input.kind === 'delayed') {
      const message = 'This input is delayed, so it has no position in the queue yet.';
      return refuse('invalid_request', message, 'position');
    }
    if (content !== null) {
      const added = await rewriteInput(tx, target, target.messageId, content);
      const full = added > 0 ? reserve(added) : null;
      if (full !== null) return full;
    }
    if (place !== null) await moveJob(tx, target, input.jobId, place);
    return done(target);
  };
}

/** The job of a queued input is cancelled with it. Refused: `not_found`, `not_queued`. */
export function withdrawInput(
  ports: Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs'>,
  target: Target,
): Command<object> {
  return async (tx) => {
    const input = await stillQueued(tx, target);
    if ('code' in input) return input;
    if (input.kind === 'steered') {
      await withdrawSteered(tx, target, target.messageId);
      return done({});
    }
    const { tenantId } = target;
    return cancelJob(ports, { tenantId, jobId: input.jobId, reason: 'the input was withdrawn', by: null })(tx);
  };
}

/** Read under the lock of the context's row, so that no run admits the input meanwhile. */
async function stillQueued(tx: Executor, target: Target): Promise<QueuedInput | Refusal> {
  const { tenantId, contextId, messageId } = target;
  const isThere = await raiseControl(tx, tenantId, contextId);
  const input = isThere ? await findInput(tx, target, messageId) : null;
  if (input === null) {
    return refuse('not_found', `Context ${contextId} has no message with the id ${messageId}.`);
  }
  if (input.kind === 'gone') return refuse('not_queued', 'This message is no longer queued.');
  return input;
}
