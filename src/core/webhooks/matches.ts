/** Which webhooks a notice goes to. */
import { isJsonObject, type Json } from '../json.ts';
import type { JobFacts } from './body.ts';
import type { Notice } from './notices.ts';
import { EVENTS_OF_NAMED, type WebhookEvent, type WebhookFilter } from './webhook.ts';

type Subscription = { events: readonly WebhookEvent[]; filter: WebhookFilter | null };

/** `isNamed`: the message of the job names the webhook. */
export function isWanted(
  { type }: Pick<Notice, 'type'>,
  job: Pick<JobFacts, 'role' | 'metadata'>,
  { events, filter }: Subscription,
  isNamed: boolean,
): boolean {
  if (isNamed && EVENTS_OF_NAMED.includes(type)) return true;
  return events.includes(type) && isMatch(job, filter);
}

function isMatch({ role, metadata }: Pick<JobFacts, 'role' | 'metadata'>, filter: WebhookFilter | null): boolean {
  if (filter === null) return true;
  const isOfRole = filter.role === undefined || filter.role === role;
  return isOfRole && (filter.metadata === undefined || contains(metadata, filter.metadata));
}

/** As PostgreSQL's `@>`: objects by their members, arrays by their elements in any order. */
export function contains(value: Json, part: Json): boolean {
  if (Array.isArray(part))
    return Array.isArray(value) && part.every((element) => value.some((one) => contains(one, element)));
  if (!isJsonObject(part)) return value === part;
  return (
    isJsonObject(value) &&
    Object.entries(part).every(([name, member]) => {
      const own = Object.hasOwn(value, name) ? value[name] : undefined;
      return own !== undefined && contains(own, member);
    })
  );
}
