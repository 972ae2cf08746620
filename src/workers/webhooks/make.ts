/**
 * Makes deliveries from the outbox. If a pass fails, each row is tried alone: one that fails again waits for a minute, with
 * the later ones of its context, so that it does not keep the others from their receivers.
 */
import type { Logger } from 'pino';
import { perform } from '../../commands/perform.ts';
import { makeDeliveries } from '../../commands/webhooks/make-deliveries.ts';
import { isAway } from '../../db/batches/database-timeout.ts';
import { postponeRow, readyRows, type OutboxRequest } from '../../db/webhooks/outbox.ts';
import type { WorkerPorts } from '../process/ports.ts';

/** Rows of the outbox in one pass. */
const MOST = 100;

type Ports = Pick<WorkerPorts, 'database' | 'wakeQueue' | 'bus' | 'ids'> & { log: Pick<Logger, 'warn' | 'error'> };

/** Returns whether there may be more rows. Rejects if the database is unavailable. */
export async function makeSome(ports: Ports, isStopped: () => boolean): Promise<boolean> {
  try {
    return await make(ports, { most: MOST });
  } catch (error) {
    if (isAway(error)) throw error;
    ports.log.warn({ err: error }, 'could not make webhook deliveries: each row is tried alone');
    return makeOneByOne(ports, isStopped);
  }
}

async function makeOneByOne(ports: Ports, isStopped: () => boolean): Promise<boolean> {
  const { database, log } = ports;
  let isMore = false;
  for (const id of await readyRows(database.db, MOST)) {
    if (isStopped()) return false;
    try {
      isMore = (await make(ports, { id })) || isMore;
    } catch (error) {
      if (isAway(error)) throw error;
      log.error({ err: error, outbox_id: id }, 'could not make the webhook deliveries of a row of webhook_outbox');
      await postponeRow(database.db, id);
    }
  }
  return isMore;
}

async function make(ports: Ports, request: OutboxRequest): Promise<boolean> {
  const outcome = await perform(ports, makeDeliveries(ports.ids, request));
  if (outcome.kind === 'refused') return false;
  const { isMore, full } = outcome.value;
  for (const webhook_id of full) ports.log.warn({ webhook_id, reason: 'backlog' }, 'a webhook was disabled');
  return isMore;
}
