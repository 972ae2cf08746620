/**
 * Makes deliveries from the outbox: for each event one for each webhook that wants it, numbered for each job.
 *
 * - Checked: no other process does it at the same time.
 * - Written: the deliveries, with their bodies; the rows of the outbox are removed in the same transaction, so each event
 *   has its deliveries exactly once.
 * - After the commit: nothing. The caller sends.
 */
import type { ContextId, DeliveryId, Ids, JobId, TenantId, WebhookId } from '../../core/ids.ts';
import type { Millis } from '../../core/time.ts';
import { bodyOf } from '../../core/webhooks/body.ts';
import { isWanted } from '../../core/webhooks/matches.ts';
import { noticesOf, type Notice } from '../../core/webhooks/notices.ts';
import type { Executor } from '../../db/connection/client.ts';
import {
  addDeliveries,
  disableWebhooks,
  forgetNames,
  sequences,
  type NewDelivery,
  type Sequence,
} from '../../db/webhooks/deliveries.ts';
import { jobFacts, lockCandidates, namedWebhooks, type Candidate } from '../../db/webhooks/facts.ts';
import { clearOutbox, holdContexts, lockOutbox, readOutbox, type OutboxRow } from '../../db/webhooks/outbox.ts';
import { done, type Command } from '../perform.ts';
import { recordDisabled } from './record-disabled.ts';

/** Rows of the outbox in one transaction. */
const MOST = 100;

type Made = { isMore: boolean; full: WebhookId[] };

/** `full`: webhooks that were disabled, because too many of their deliveries are pending. */
export function makeDeliveries(ids: Ids): Command<Made> {
  return async (tx) => {
    if (!(await lockOutbox(tx))) return done({ isMore: false, full: [] });
    const rows = await readOutbox(tx, MOST);
    if (rows.length === 0) return done({ isMore: false, full: [] });
    const held = await holdContexts(tx, [...new Set(rows.map(({ contextId }) => contextId))]);
    const ready = rows.filter(({ contextId }) => held.has(contextId));
    const left = rows.filter(({ contextId }) => !held.has(contextId));
    const full = await deliverAll(tx, ids, ready.flatMap(noticedIn));
    await clearOutbox(tx, { done: ready.map(({ id }) => id), left: left.map(({ id }) => id) });
    return done({ isMore: ready.length > 0 && rows.length === MOST, full });
  };
}

/** A notice and where it comes from. */
type Noticed = { notice: Notice; tenantId: TenantId; contextId: ContextId; at: Millis };

function noticedIn({ tenantId, contextId, events, at }: OutboxRow): Noticed[] {
  if (events === null || at === null) return [];
  const stored = events.map(([, name, data]) => ({ name, data }));
  return noticesOf(stored).map((notice) => ({ notice, tenantId, contextId, at }));
}

async function deliverAll(tx: Executor, ids: Ids, noticed: readonly Noticed[]): Promise<WebhookId[]> {
  if (noticed.length === 0) return [];
  const candidates = await lockCandidates(tx, [...new Set(noticed.map(({ tenantId }) => tenantId))]);
  const jobIds = [...new Set(noticed.map(({ notice }) => notice.jobId))];
  const wanted = candidates.length === 0 ? [] : await wantedOf(tx, noticed, { candidates, jobIds });
  const full = candidates.filter(({ id, isFull }) => isFull && wanted.some(({ webhookId }) => webhookId === id));
  const fullIds = full.map(({ id }) => id);
  const sent = wanted.filter(({ webhookId }) => !fullIds.includes(webhookId));
  if (sent.length > 0) await addDeliveries(tx, numbered(ids, sent, await sequences(tx, pairsOf(sent))));
  if (fullIds.length > 0) await disableWebhooks(tx, fullIds, 'backlog');
  await recordDisabled(tx, ids, full, 'backlog');
  const ended = noticed.flatMap(({ notice }) => (notice.type === 'job.finished' ? [notice.jobId] : []));
  if (ended.length > 0) await forgetNames(tx, ended);
  return fullIds;
}

type Wanted = Pick<NewDelivery, 'webhookId' | 'jobId' | 'tenantId' | 'contextId' | 'type'> & {
  bodyWith: (seq: number) => string;
};

async function wantedOf(
  tx: Executor,
  noticed: readonly Noticed[],
  { candidates, jobIds }: { candidates: readonly Candidate[]; jobIds: readonly JobId[] },
): Promise<Wanted[]> {
  const [facts, named] = await Promise.all([jobFacts(tx, jobIds), namedWebhooks(tx, jobIds)]);
  return noticed.flatMap(({ notice, tenantId, contextId, at }) => {
    const { jobId, type } = notice;
    const job = facts.get(jobId);
    if (job === undefined) return [];
    return candidates
      .filter((webhook) => webhook.tenantId === tenantId)
      .filter((webhook) => isWanted(notice, job, webhook, named.get(jobId)?.includes(webhook.id) === true))
      .map((webhook): Wanted => ({
        webhookId: webhook.id,
        jobId,
        tenantId,
        contextId,
        type,
        bodyWith: (seq) => bodyOf(notice, job, { seq, at }),
      }));
  });
}

function pairsOf(wanted: readonly Wanted[]) {
  return [...new Map(wanted.map((one) => [keyOf(one), one])).values()];
}

function numbered(ids: Ids, wanted: readonly Wanted[], known: readonly Sequence[]): NewDelivery[] {
  const places = new Map(known.map((sequence) => [keyOf(sequence), { last: sequence.last, isHeld: sequence.isHeld }]));
  return wanted.map(({ bodyWith, ...one }) => {
    const { last, isHeld } = places.get(keyOf(one)) ?? { last: 0, isHeld: false };
    const seq = last + 1;
    // The next one waits for this one.
    places.set(keyOf(one), { last: seq, isHeld: true });
    return { ...one, id: ids.next<DeliveryId>(), seq, body: bodyWith(seq), isHeld };
  });
}

function keyOf({ webhookId, jobId }: { webhookId: WebhookId; jobId: JobId }): string {
  return `${webhookId} ${jobId}`;
}
