/** Sends one batch of deliveries to one webhook, and stores how it went. */
import type { Logger } from 'pino';
import { perform } from '../../commands/perform.ts';
import { storeAttempts } from '../../commands/webhooks/store-attempts.ts';
import type { ProcessId } from '../../core/ids.ts';
import { holdOf, retryDelay } from '../../core/webhooks/backoff.ts';
import { TEST_EVENT } from '../../core/webhooks/webhook.ts';
import type { Attempt, Health } from '../../db/webhooks/attempts.ts';
import { dueDeliveries, type DueDelivery, type Leased } from '../../db/webhooks/sending.ts';
import type { Receivers, Response } from '../../webhooks/receivers.ts';
import type { SecretBox } from '../../webhooks/secret-box.ts';
import type { WorkerPorts } from '../process/ports.ts';

export type SendPorts = Pick<WorkerPorts, 'database' | 'wakeQueue' | 'bus' | 'ids' | 'random'> & {
  log: Pick<Logger, 'warn' | 'info'>;
  receivers: Receivers;
  secretBox: SecretBox;
};

type Sent = { delivery: DueDelivery; response: Response };

/** Rejects if `signal` aborts: then nothing is stored, and the deliveries are sent again. */
export async function sendBatch(ports: SendPorts, webhook: Leased, owner: ProcessId, signal: AbortSignal) {
  const deliveries = await dueDeliveries(ports.database.db, webhook);
  const sent = await Promise.all(
    deliveries.map(async (delivery) => ({ delivery, response: await post(ports, webhook, delivery, signal) })),
  );
  const outcome = await perform(
    ports,
    storeAttempts(ports.ids, {
      tenantId: webhook.tenantId,
      webhookId: webhook.id,
      attempts: sent.map((one) => toAttempt(one, ports.random())),
      health: healthOf(webhook, owner, sent),
      wasFailing: webhook.failures > 0,
    }),
  );
  const reason = outcome.kind === 'done' ? outcome.value.disabled : null;
  if (reason !== null) ports.log.warn({ webhook_id: webhook.id, reason }, 'a webhook was disabled');
}

async function post(
  { receivers, secretBox }: SendPorts,
  { id: webhookId, tenantId, url, secrets: sealed }: Leased,
  { id, body }: DueDelivery,
  signal: AbortSignal,
): Promise<Response> {
  const secrets = sealed.map((text) => secretBox.open({ tenantId, id: webhookId }, text)).filter((one) => one !== null);
  if (secrets.length > 0) return receivers.post({ id, tenantId, url, body, secrets }, signal);
  const error = 'The secret cannot be decrypted: NIGHTSHIFT_SECRET_KEY has changed. Rotate the secret of the webhook.';
  return { status: null, body: null, error, retryAfter: null, durationMs: 0 };
}

function toAttempt({ delivery, response }: Sent, random: number): Attempt {
  const { status, body, error, retryAfter, durationMs } = response;
  return {
    id: delivery.id,
    isDelivered: error === null,
    responseStatus: status,
    responseBody: body,
    error,
    durationMs,
    delayMs: retryDelay(delivery.attempts + 1, random, retryAfter),
  };
}

/** A test says nothing about how long the receiver has been failing. */
function healthOf({ failures }: Leased, owner: ProcessId, sent: readonly Sent[]): Health {
  const isWorking = sent.some(({ response }) => response.error === null);
  const failed = sent.filter(({ response }) => response.error !== null);
  const counted = failed.filter(({ delivery }) => delivery.type !== TEST_EVENT);
  const isDown = !isWorking && failed.some(({ response }) => isAway(response));
  const failuresNow = isWorking ? 0 : isDown ? failures + 1 : 0;
  const retryAfter = Math.max(0, ...failed.map(({ response }) => response.retryAfter ?? 0));
  return {
    owner,
    isWorking,
    error: counted.at(0)?.response.error ?? null,
    failures: failuresNow,
    holdMs: isWorking ? 0 : holdOf(failuresNow, retryAfter),
    isGone: failed.some(({ response }) => response.status === 410),
  };
}

/** The receiver does not work at all. Another refusal may concern one event alone. */
function isAway({ status }: Response): boolean {
  return status === null || status === 429 || status >= 500;
}
