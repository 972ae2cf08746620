import type { CreatedWebhook } from 'nightshift/client';
import { showSecret } from '../../../ui/layout/secret-dialog.tsx';
import { webhooksWords } from '../../../words.ts';

/** Shows a secret that was just made. */
export function showWebhookSecret({ url, secret }: CreatedWebhook): void {
  const { title, about } = webhooksWords.secret;
  showSecret({ title, what: 'secret', about: about(url), secret });
}
