/** What is written in the form of a webhook, and the request that it becomes. Pure functions. */
import type { CreateWebhook, PatchWebhook, Webhook } from 'nightshift/client';

export type WebhookEvent = Webhook['events'][number];

export type WebhookDraft = {
  url: string;
  events: readonly WebhookEvent[];
  role: string | null;
  /** A JSON object; empty: any metadata. */
  metadata: string;
};

export function toDraft(webhook: Webhook | null): WebhookDraft {
  if (webhook === null) return { url: '', events: ['job.finished'], role: null, metadata: '' };
  const { url, events, filter } = webhook;
  const metadata = filter?.metadata === undefined ? '' : JSON.stringify(filter.metadata, null, 2);
  return { url, events, role: filter?.role ?? null, metadata };
}

type JsonObject = NonNullable<NonNullable<Webhook['filter']>['metadata']>;

/** Undefined: any metadata; null: it is no JSON object. */
export function metadataOf({ metadata }: WebhookDraft): JsonObject | undefined | null {
  if (metadata.trim() === '') return undefined;
  try {
    const parsed: unknown = JSON.parse(metadata);
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isObject ? (parsed as JsonObject) : null;
  } catch {
    return null;
  }
}

/** Null: something is missing or wrong. */
export function toBody(draft: WebhookDraft): CreateWebhook | null {
  const { url, events, role } = draft;
  const metadata = metadataOf(draft);
  if (url.trim() === '' || events.length === 0 || metadata === null) return null;
  const filter = { ...(role !== null && { role }), ...(metadata !== undefined && { metadata }) };
  return { url: url.trim(), events: [...events], filter: Object.keys(filter).length === 0 ? null : filter };
}

/** Only what is different; null: nothing is. */
export function toPatch({ url, events, filter }: Webhook, body: CreateWebhook): PatchWebhook | null {
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const patch = {
    ...(body.url !== url && { url: body.url }),
    ...(!isSame(body.events.toSorted(), events.toSorted()) && { events: body.events }),
    ...(body.filter !== undefined && !isSame(body.filter, filter) && { filter: body.filter }),
  };
  return Object.keys(patch).length === 0 ? null : patch;
}
