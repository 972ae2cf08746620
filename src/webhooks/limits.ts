/** The operator's settings of webhooks; tools/config/limits.ts documents them. */
export type WebhookLimits = {
  allow: readonly string[];
  http: boolean;
};

export const WEBHOOK_DEFAULTS: WebhookLimits = { allow: [], http: false };
