/**
 * Makes deliveries from the outbox: for each event one for each webhook that wants it, numbered for each job.
 *
 * - Checked: no other process does it at the same time.
 * - Written: the deliveries, with their bodies; the rows of the outbox are removed in the same transaction, so each event
 *   has its deliveries exactly once.
 * - After the commit: nothing. The caller sends.
 */
import type { DeliveryId, Ids, JobId, MessageId, WebhookId } from '../../core/ids.ts';
import { bodyOf } from '../../core/webhooks/body.ts';
import type { Executor } from '../../db/connection/client.ts';
import {
  addDeliveries,
  disableWebhooks,
  forgetNames,
  sequences,
  type NewDelivery,
  type Sequence,
} from '../../db/webhooks/deliveries.ts';
import { lockReceiving, outputTexts } from '../../db/webhooks/facts.ts';
import { clearOutbox, holdContexts, lockOutbox, readOutbox, type OutboxRequest } from '../../db/webhooks/outbox.ts';
import { done, type Command } from '../perform.ts';
import { recordDisabled } from './record-disabled.ts';
import { matcherOf, noticedIn, taking, type Wanted } from './wanted.ts';

/** Deliveries of one statement. */
const AT_ONCE = 100;

type Made = { isMore: boolean; full: WebhookId[] };

/**
 * `isMore`: there may be more rows. `full`: webhooks that were disabled, because too many of their deliveries are
 * pending.
 */
export function makeDeliveries(ids: Ids, request: OutboxRequest): Command<Made> {
  return async (tx) => {
    if (!(await lockOutbox(tx))) return done({ isMore: false, full: [] });
    const rows = await readOutbox(tx, request);
    if (rows.length === 0) return done({ isMore: false, full: [] });
    const held = await holdContexts(tx, [...new Set(rows.map(({ contextId }) => contextId))]);
    const ready = rows.filter(({ contextId }) => held.has(contextId)).map((row) => ({ row, noticed: noticedIn(row) }));
    const left = rows.filter(({ contextId }) => !held.has(contextId));
    const taken = taking(
      ready,
      await matcherOf(
        tx,
        ready.flatMap(({ noticed }) => noticed),
      ),
    );
    const full = await deliverAll(
      tx,
      ids,
      taken.flatMap(({ wanted }) => wanted),
    );
    const ended = taken.flatMap(({ noticed }) => noticed).filter(({ notice }) => notice.type === 'job.finished');
    if (ended.length > 0)
      await forgetNames(
        tx,
        ended.map(({ notice }) => notice.jobId),
      );
    await clearOutbox(tx, { done: taken.map(({ row }) => row.id), left: left.map(({ id }) => id) });
    return done({ isMore: taken.length > 0, full });
  };
}

async function deliverAll(tx: Executor, ids: Ids, wanted: readonly Wanted[]): Promise<WebhookId[]> {
  if (wanted.length === 0) return [];
  const locked = await lockReceiving(tx, [...new Set(wanted.map(({ webhookId }) => webhookId))]);
  const receiving = new Set(locked.filter(({ isFull }) => !isFull).map(({ id }) => id));
  const sent = wanted.filter(({ webhookId }) => receiving.has(webhookId));
  if (sent.length > 0) {
    const numbered = numberedAfter(sent, await sequences(tx, pairsOf(sent)));
    const texts = await textsOf(tx, sent);
    for (const some of chunks(numbered))
      await addDeliveries(
        tx,
        some.map((one) => toDelivery(one, ids.next<DeliveryId>(), texts)),
      );
  }
  const full = locked.filter(({ isFull }) => isFull);
  const fullIds = full.map(({ id }) => id);
  if (fullIds.length > 0) await disableWebhooks(tx, fullIds, 'backlog');
  await recordDisabled(tx, ids, full, 'backlog');
  return fullIds;
}

type Texts = ReadonlyMap<MessageId, string>;

/** Of the outputs that the bodies show. */
async function textsOf(tx: Executor, wanted: readonly Wanted[]): Promise<Texts> {
  const shown = wanted.filter(({ notice }) => notice.type === 'job.finished' || notice.type === 'worker.failed');
  const messageIds = new Set(shown.flatMap(({ job }) => job.outputId ?? []));
  return messageIds.size === 0 ? new Map() : outputTexts(tx, [...messageIds]);
}

function pairsOf(wanted: readonly Wanted[]) {
  return [...new Map(wanted.map((one) => [keyOf(one), one])).values()];
}

/** `isHeld`: an earlier delivery of the job to the webhook is pending. */
type Numbered = Wanted & { seq: number; isHeld: boolean };

function numberedAfter(wanted: readonly Wanted[], known: readonly Sequence[]): Numbered[] {
  const places = new Map(known.map((sequence) => [keyOf(sequence), { last: sequence.last, isHeld: sequence.isHeld }]));
  return wanted.map((one) => {
    const { last, isHeld } = places.get(keyOf(one)) ?? { last: 0, isHeld: false };
    const seq = last + 1;
    // The next one waits for this one.
    places.set(keyOf(one), { last: seq, isHeld: true });
    return { ...one, seq, isHeld };
  });
}

function toDelivery(
  { notice, job: { outputId, hasData, ...job }, at, seq, isHeld, tenantId, webhookId, contextId, jobId }: Numbered,
  id: DeliveryId,
  texts: Texts,
): NewDelivery {
  const output = outputId === null ? null : { messageId: outputId, text: texts.get(outputId) ?? '', hasData };
  const body = bodyOf(notice, { ...job, output }, { seq, at });
  return { id, tenantId, webhookId, contextId, jobId, type: notice.type, seq, body, isHeld };
}

function keyOf({ webhookId, jobId }: { webhookId: WebhookId; jobId: JobId }): string {
  return `${webhookId} ${jobId}`;
}

function chunks<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / AT_ONCE) }, (_, at) =>
    items.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
  );
}
