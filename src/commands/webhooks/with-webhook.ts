/** A message that names a webhook: it receives `job.waiting` and `job.finished` of the job, whatever its own events. */
import { refuse } from '../../core/errors.ts';
import type { ContextId, JobId } from '../../core/ids.ts';
import { findWebhook, nameWebhook } from '../../db/webhooks/webhooks.ts';
import { performWithin, type AnyCommand, type Command } from '../perform.ts';
import type { WebhookKey } from './change-webhook.ts';

/**
 * Performs `post` and names the webhook in one transaction. `jobOf`: the job of the message; one that it joined, too.
 * Refused: `invalid_request` if the tenant has no such webhook, or it is disabled; and what `post` refuses.
 */
export function withWebhook<Posted>(
  post: AnyCommand<Posted>,
  { tenantId, id }: WebhookKey,
  jobOf: (posted: Posted) => { contextId: ContextId; jobId: JobId } | null,
): Command<Posted> {
  return async (tx) => {
    const outcome = await performWithin(tx, post);
    const job = outcome.kind === 'refused' ? null : jobOf(outcome.value);
    if (job === null) return outcome;
    const webhook = await findWebhook(tx, { tenantId, id });
    if (webhook === null) return refuse('invalid_request', `No webhook has the id ${id}.`, 'webhook.id');
    if (webhook.status !== 'active') return refuse('invalid_request', `The webhook ${id} is disabled.`, 'webhook.id');
    await nameWebhook(tx, { tenantId, contextId: job.contextId, jobId: job.jobId, webhookId: id });
    return outcome;
  };
}
