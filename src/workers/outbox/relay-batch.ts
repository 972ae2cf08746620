/**
 * Relays one batch of an outbox. Two databases have no common transaction, so the order of commits counts: first the
 * submissions with their receipts, in the installation; then the deletion of the rows, in the database of the service;
 * then the deletion of the receipts. A process that dies in between leaves rows with a receipt: they become no
 * submissions again, and are deleted. One process at a time relays an outbox; a receipt holds even if two believe so.
 *
 * The order of each context holds. What can never be submitted stays in the outbox, with the reason. Rows of tenants that
 * are not active wait.
 */
import type { OutboxId, TenantId } from '../../core/ids.ts';
import type { NamedOutbox, OutboxCode, OutboxError, SubmissionPlace } from '../../core/submissions/outbox.ts';
import { SUBMISSION_BYTES } from '../../core/submissions/submission.ts';
import type { Database, Executor } from '../../db/connection/client.ts';
import { errorCode, isOfData } from '../../db/connection/database-errors.ts';
import {
  checkOutboxLock,
  deleteRows,
  lockOutbox,
  refuseRow,
  takeRows,
  waitingRows,
  type OutboxRow,
} from '../../db/outbox/outbox-rows.ts';
import { addReceipts, removeReceipts } from '../../db/submissions/receipts.ts';
import { addRelayed, inactiveAmong } from '../../db/submissions/relayed.ts';
import { ensureUndeleted } from '../../db/write/tenants/tenants.ts';
import { readPlace } from './read-place.ts';
import { Unfit, checkVersion } from './unfit.ts';

/** Of one batch: rows, and bytes of their submissions. The first may have more. */
const MOST_ROWS = 100;
const MOST_BYTES = 4 * 1024 * 1024;

/** `database`: of the installation. */
export type RelayPorts = { database: Database; outbox: Database; settings: NamedOutbox; id: OutboxId };

export type RefusedRow = { jobId: string; tenant: string; code: OutboxCode };

/** `relayed`: rows that left the outbox. Both empty: nothing waits, or another process has it. */
export type Relayed = { relayed: readonly number[]; refused: readonly RefusedRow[] };

const NOTHING: Relayed = { relayed: [], refused: [] };

/** Throws Unfit. */
export async function relayBatch(ports: RelayPorts): Promise<Relayed> {
  const { database, outbox, settings, id } = ports;
  const waiting = await waitingRows(outbox.db, [], 1);
  if (waiting.length === 0) return NOTHING;
  const held = await inactiveAmong(database.db, settings.tenants);
  const batch = await outbox.transaction(async (tx) => {
    const about = await lockOutbox(tx);
    if (about === null) return NOTHING;
    // Since the process has looked, an operator may have installed another one, also of a newer version.
    checkVersion(about);
    if (about.id !== id) throw new Unfit('replaced');
    const rows = await takeFirst(tx, held);
    if (rows.length === 0) return NOTHING;
    const settled = await submit(ports, tx, rows);
    const relayed = settled.flatMap(({ row, error }) => (error === null ? [row.position] : []));
    const refused: RefusedRow[] = [];
    for (const { row, error } of settled) {
      if (error === null) continue;
      await refuseRow(tx, row.position, error);
      refused.push({ jobId: row.jobId, tenant: row.tenant, code: error.code });
    }
    if (relayed.length > 0) await deleteRows(tx, relayed);
    return { relayed, refused };
  });
  if (batch.relayed.length > 0) await removeReceipts(database.db, id, batch.relayed);
  return batch;
}

/** The first rows that fit into a batch. Those behind one that is locked do not overtake it. */
async function takeFirst(tx: Executor, held: readonly string[]): Promise<OutboxRow[]> {
  const waiting = await waitingRows(tx, held, MOST_ROWS);
  let bytes = 0;
  const fitting = waiting.filter((row, at) => (bytes += row.bytes) <= MOST_BYTES || at === 0);
  const taken = new Map(
    (
      await takeRows(
        tx,
        fitting.map(({ position }) => position),
      )
    ).map((row) => [row.position, row]),
  );
  const passed = new Set<string>();
  return fitting.flatMap(({ position, contextId }) => {
    const row = taken.get(position);
    if (row === undefined) passed.add(contextId);
    return row === undefined || passed.has(contextId) ? [] : [row];
  });
}

type Place = SubmissionPlace & { submission: string };
type Ready = { row: OutboxRow; tenantId: TenantId; place: Place };

/** `error` null: it is a submission now, or was one before. */
type Settled = { row: OutboxRow; error: OutboxError | null };

/** In the database of the installation: committed when it resolves. `outboxTx`: it has the rows. */
async function submit(
  { database, settings, id }: RelayPorts,
  outboxTx: Executor,
  rows: readonly OutboxRow[],
): Promise<Settled[]> {
  const refused: Settled[] = [];
  const ready: Ready[] = [];
  const tenantIds = new Map<string, TenantId | null>();
  for (const row of rows) {
    const place = placeOf(settings, row);
    if ('code' in place) {
      refused.push({ row, error: place });
      continue;
    }
    const known = tenantIds.get(row.tenant);
    const tenantId = known === undefined ? await ensureUndeleted(database.db, row.tenant) : known;
    tenantIds.set(row.tenant, tenantId);
    if (tenantId === null) refused.push({ row, error: isDeleted(row.tenant) });
    else ready.push({ row, tenantId, place });
  }
  return [...refused, ...(await submitReady({ database, outboxTx, id }, ready))];
}

function placeOf(settings: NamedOutbox, { tenant, submission }: OutboxRow): Place | OutboxError {
  if (!settings.tenants.includes(tenant)) return notAllowed(settings, tenant);
  if (submission === null) return tooLarge();
  const place = readPlace(submission);
  return 'code' in place ? place : { ...place, submission };
}

type Stores = { database: Database; outboxTx: Executor; id: OutboxId };

async function submitReady(stores: Stores, ready: readonly Ready[]): Promise<Settled[]> {
  try {
    return await stores.database.transaction((tx) => add(tx, stores, ready));
  } catch (error) {
    if (!isOfData(error)) throw error;
    const [only, ...others] = ready;
    if (only !== undefined && others.length === 0) return [{ row: only.row, error: notStored(error) }];
  }
  const settled: Settled[] = [];
  for (const one of ready) settled.push(...(await submitReady(stores, [one])));
  return settled;
}

async function add(tx: Executor, { outboxTx, id }: Stores, ready: readonly Ready[]): Promise<Settled[]> {
  const receipts = ready.map(({ row, place }) => ({ position: row.position, jobId: place.jobId }));
  const added = new Set(await addReceipts(tx, id, receipts));
  // Otherwise another process may have relayed the rows meanwhile, and removed their receipts. From here on it waits for
  // those of this transaction.
  await checkOutboxLock(outboxTx);
  const settled: Settled[] = [];
  for (const one of ready) {
    const isNew = added.has(one.row.position);
    settled.push({ row: one.row, error: isNew ? await addOne(tx, one) : null });
  }
  const refused = settled.flatMap(({ row, error }) => (error === null ? [] : [row.position]));
  if (refused.length > 0) await removeReceipts(tx, id, refused);
  return settled;
}

async function addOne(tx: Executor, { row, tenantId, place }: Ready): Promise<OutboxError | null> {
  const outcome = await addRelayed(tx, tenantId, place, place.submission);
  switch (outcome) {
    case 'added':
    case 'known':
      return null;
    case 'no_context': {
      const message = `The tenant "${row.tenant}" has no context with the id ${place.contextId}.`;
      return { code: 'not_found', message };
    }
    case 'taken':
      return { code: 'job_id_taken', message: `The job id ${place.jobId} is already used for another job.` };
    case 'inactive':
      // The next batch leaves out its rows.
      throw new Unfit('tenant_inactive');
  }
}

function notAllowed({ name }: NamedOutbox, tenant: string): OutboxError {
  const message = `The outbox "${name}" may not submit jobs for the tenant "${tenant}": outboxes.${name}.tenants does not name it.`;
  return { code: 'tenant_not_allowed', message };
}

function isDeleted(tenant: string): OutboxError {
  const message = `The tenant "${tenant}" was deleted. Create it, then run \`nightshift outbox retry\`.`;
  return { code: 'tenant_not_allowed', message };
}

function tooLarge(): OutboxError {
  return { code: 'invalid_request', message: `The submission has more than ${SUBMISSION_BYTES} bytes.` };
}

function notStored(error: unknown): OutboxError {
  const message = `PostgreSQL refused to store it (${errorCode(error)}): an id is already used, or a value is not valid.`;
  return { code: 'invalid_request', message };
}
