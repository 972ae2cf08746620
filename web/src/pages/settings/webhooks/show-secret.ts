import type { CreatedWebhook } from 'nightshift/client';
import { showSecret } from '../../../ui/layout/secret-dialog.tsx';

/** Shows a secret that was just made. */
export function showWebhookSecret({ url, secret }: CreatedWebhook): void {
  const about = `The receiver at ${url} verifies deliveries with it.`;
  showSecret({ title: 'Secret of the webhook', what: 'secret', about, secret });
}
