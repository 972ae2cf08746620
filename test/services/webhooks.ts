// What a process needs to make webhooks and to send to them: receivers of this machine are allowed, by http.
import { createReceivers } from '../../src/webhooks/receivers.ts';
import { openSecretBox } from '../../src/webhooks/secret-box.ts';

/** For API processes and worker processes. Without secrets, none can be made or sent to. */
export function webhooksWith(secrets: readonly string[], allow = ['127.0.0.1', 'localhost']) {
  const receivers = createReceivers({ allow, http: true });
  return { receivers, whyNot: (url: string) => receivers.whyNot(url), secretBox: openSecretBox(secrets) };
}

export const NO_WEBHOOKS = webhooksWith([]);
