/** Which webhooks want the events of the outbox, and how many rows of it one transaction takes. */
import type { ContextId, JobId, TenantId, WebhookId } from '../../core/ids.ts';
import type { Millis } from '../../core/time.ts';
import { isWanted } from '../../core/webhooks/matches.ts';
import { noticesOf, type Notice } from '../../core/webhooks/notices.ts';
import type { Executor } from '../../db/connection/client.ts';
import { activeWebhooks, jobFacts, namedWebhooks, type JobRow } from '../../db/webhooks/facts.ts';
import type { OutboxRow } from '../../db/webhooks/outbox.ts';

/** Deliveries of one transaction, unless a single row has more. */
const MOST_DELIVERIES = 300;

/** A notice and where it comes from. */
export type Noticed = { notice: Notice; tenantId: TenantId; contextId: ContextId; at: Millis };

export function noticedIn({ tenantId, contextId, events, at }: OutboxRow): Noticed[] {
  if (events === null || at === null) return [];
  const stored = events.map(([, name, data]) => ({ name, data }));
  return noticesOf(stored).map((notice) => ({ notice, tenantId, contextId, at }));
}

type Ready = { row: OutboxRow; noticed: readonly Noticed[] };
type Taken = Ready & { wanted: readonly Wanted[] };

/** The first rows, until their deliveries are enough for one transaction. */
export function taking(ready: readonly Ready[], match: Matcher): Taken[] {
  const taken: Taken[] = [];
  let count = 0;
  for (const one of ready) {
    const wanted = one.noticed.flatMap(match);
    if (count > 0 && count + wanted.length > MOST_DELIVERIES) break;
    count += wanted.length;
    taken.push({ ...one, wanted });
  }
  return taken;
}

/** A notice for one webhook, not numbered yet. */
export type Wanted = Noticed & { webhookId: WebhookId; jobId: JobId; job: JobRow };

type Matcher = (noticed: Noticed) => Wanted[];

export async function matcherOf(tx: Executor, noticed: readonly Noticed[]): Promise<Matcher> {
  if (noticed.length === 0) return () => [];
  const webhooks = await activeWebhooks(tx, [...new Set(noticed.map(({ tenantId }) => tenantId))]);
  if (webhooks.length === 0) return () => [];
  const jobIds = [...new Set(noticed.map(({ notice }) => notice.jobId))];
  const [facts, named] = await Promise.all([jobFacts(tx, jobIds), namedWebhooks(tx, jobIds)]);
  return (one) => {
    const { jobId } = one.notice;
    const job = facts.get(jobId);
    if (job === undefined) return [];
    return webhooks
      .filter((webhook) => webhook.tenantId === one.tenantId)
      .filter((webhook) => isWanted(one.notice, job, webhook, named.get(jobId)?.includes(webhook.id) === true))
      .map(({ id: webhookId }) => ({ ...one, webhookId, jobId, job }));
  };
}
