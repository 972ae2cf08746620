/** The durable side of a run on Postgres: appends, and what is stored when it has to be read again. */
import { setTimeout } from 'node:timers/promises';
import pTimeout, { TimeoutError } from 'p-timeout';
import type { Attention } from '../agent/attention.ts';
import type { Journal } from '../agent/run.ts';
import type { Append, AppendOutcome } from '../core/append.ts';
import { LeaseLost } from '../core/errors.ts';
import { madeAt } from '../core/ids.ts';
import type { ProcessId } from '../core/ids.ts';
import type { Lease, Mailbox, Snapshot } from '../core/snapshot.ts';
import { append } from '../db/append.ts';
import { errorCode, isUnavailable } from '../db/client.ts';
import type { Executor } from '../db/client.ts';
import { read, renew } from '../db/contexts.ts';
import type { ContextRow } from '../db/contexts.ts';
import { readHistory, readMailbox } from '../db/mailbox.ts';
import type { Narrator } from './narrator.ts';
import type { WorkerState } from './ports.ts';

/** A connection that says nothing for so long is not waited for. */
export const SILENT_MS = 15_000;
/** Between two looks at a database that is away. */
const AWAY_MS = 250;
/** Rolled back for certain: serialisation failure, deadlock. */
const ROLLED_BACK = ['40001', '40P01'];

/** `owner`: who holds the lease. */
export function createJournal(
  state: WorkerState,
  attention: Attention,
  narrator: Pick<Narrator, 'committed'>,
  owner: ProcessId,
): Journal {
  return {
    async append(move) {
      try {
        const outcome = await sendAppend(state.database.db, move);
        if (outcome.kind === 'committed') announce(state, narrator, move, outcome);
        return outcome;
      } catch (error) {
        if (isAway(error)) return { kind: 'in_doubt' };
        throw error;
      }
    },
    reload: (known) => persist(attention, () => reload(state, known)),
    recover: (lease) => {
      // A process runs a context once at most: a lease of its own under a later epoch is the one that it raised itself.
      let again: ProcessId | null = null;
      return persist(attention, () => {
        const raised = recover(state, lease, again);
        again = owner;
        return raised;
      });
    },
  };
}

/** Until it succeeds, or the lease is lost. */
export async function persist<T>(attention: Attention, work: () => Promise<T>): Promise<T> {
  for (;;) {
    if (attention.lost) throw new LeaseLost();
    try {
      return await pTimeout(work(), { milliseconds: SILENT_MS });
    } catch (error) {
      if (!isAway(error)) throw error;
      await setTimeout(AWAY_MS);
    }
  }
}

/** Whether nobody can say what became of it. */
export function isAway(error: unknown): boolean {
  return isUnavailable(error) || error instanceof TimeoutError;
}

async function sendAppend(db: Executor, move: Append): Promise<AppendOutcome> {
  const send = async () => {
    const [outcome] = await pTimeout(append(db, [move]), { milliseconds: SILENT_MS });
    if (outcome === undefined) throw new Error('An append was given no outcome.');
    return outcome;
  };
  try {
    return await send();
  } catch (error) {
    if (ROLLED_BACK.includes(errorCode(error))) return send();
    throw error;
  }
}

/** Tells whoever follows the context, and rings where it was given back for others to go on with. */
function announce(
  { bell, log, metrics, clock }: WorkerState,
  narrator: Pick<Narrator, 'committed'>,
  move: Append,
  outcome: Extract<AppendOutcome, { kind: 'committed' }>,
): void {
  const { lease, job, park } = move;
  const { contextId, tenantId, epoch } = lease;
  if (job?.kind === 'admit') metrics.started(clock.now() - madeAt(job.job.id));
  if (job?.kind === 'settle') {
    const { verdict } = job;
    metrics.finished(verdict.status);
    const line = { tenant: tenantId, context_id: contextId, job_id: job.job.id, attempt: job.job.attempt };
    log.info(
      { ...line, status: verdict.status, code: 'error' in verdict ? verdict.error.code : null },
      'job ended',
    );
  }
  narrator.committed(move, outcome);
  if (park?.status === 'runnable') bell.ring({ contextId, wakeSeq: outcome.wakeSeq, epoch });
}

async function reload(state: WorkerState, known: Snapshot): Promise<Snapshot> {
  return state.database.transaction(async (tx) => {
    // Locked, so that nobody fences and settles between the row and what is read after it.
    const row = await read(tx, known.lease.contextId, 'lock');
    if (row === null || row.lease.epoch !== known.lease.epoch) throw new LeaseLost();
    return owned(await readSnapshot(state, tx, beforeOwnClaim(row), known));
  });
}

async function recover(state: WorkerState, lease: Lease, again: ProcessId | null): Promise<Snapshot> {
  return state.database.transaction(async (tx) => {
    const row = await renew(tx, lease, again);
    if (row === null) throw new LeaseLost();
    return owned(await readSnapshot(state, tx, beforeOwnClaim(row), null));
  });
}

/** A holder's own claim counts as barren in the row until it brings something forward: it is not one of those before. */
function beforeOwnClaim(row: ContextRow): ContextRow {
  return { ...row, barrenClaims: Math.max(0, row.barrenClaims - 1) };
}

function owned(snapshot: Snapshot | null): Snapshot {
  if (snapshot === null) throw new LeaseLost();
  return snapshot;
}

/** The mailbox of `row`, beside the history that is known or read. Null: the worker is gone. */
export async function readSnapshot(
  { abilities, clock }: Pick<WorkerState, 'abilities' | 'clock'>,
  tx: Executor,
  row: Parameters<typeof readMailbox>[1],
  known: Snapshot | null,
): Promise<Snapshot | null> {
  const [stored, history] = await Promise.all([
    readMailbox(tx, row),
    known === null ? readHistory(tx, row.lease, row.activeBranch) : known.history,
  ]);
  if (stored === null) return null;
  const serving = abilities.resolve(stored.worker);
  return { ...delivered(stored.mailbox, clock.now()), history, serving };
}

/** A wish counts as delivered when its holder first reads it. */
function delivered(mailbox: Mailbox, now: number): Mailbox {
  const { job } = mailbox;
  if (job === null || job.wish === null || job.wish.deliveredAt !== null) return mailbox;
  return {
    ...mailbox,
    job: { ...job, wish: { ...job.wish, deliveredAt: Math.max(job.wish.requestedAt, now) } },
  };
}
