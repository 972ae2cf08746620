/** Signs deliveries as Standard Webhooks has it (https://www.standardwebhooks.com). */
import { Webhook } from 'standardwebhooks';
import type { DeliveryId } from '../core/ids.ts';

/** The value of `webhook-signature`: one signature for each secret. */
export function signatures(
  { id, at, body }: { id: DeliveryId; at: Date; body: string },
  secrets: readonly string[],
): string {
  return secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' ');
}
