/** The durable side of a run in PostgreSQL: appends, and reading the stored state again. */
import { setTimeout } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { RunSignals } from '../../agent/run-signals.ts';
import type { Journal } from '../../agent/run.ts';
import { wakeMet } from '../../commands/jobs/wake-met.ts';
import type { Append, Committed } from '../../core/run/append.ts';
import { LeaseLost } from '../../core/errors.ts';
import { madeAt, type ContextId, type ProcessId } from '../../core/ids.ts';
import type { ToolCaller } from '../../core/tools/tool.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Lease, Mailbox, Snapshot } from '../../core/run/snapshot.ts';
import type { Executor } from '../../db/connection/client.ts';
import { notifiesWebhooks } from '../../db/run/append/webhooks.ts';
import { read, renew, type ContextRow } from '../../db/run/contexts.ts';
import { NOTHING_REMEMBERED, readAdded, readBranch, readHistories, type Remembered } from '../../db/run/history.ts';
import { placeOf, readMailbox, type Stored } from '../../db/run/mailbox/mailbox.ts';
import type { StreamPublisher } from './stream-publisher.ts';
import { DATABASE_TIMEOUT, isAway } from '../../db/batches/database-timeout.ts';
import type { WorkerState } from '../process/ports.ts';

/** Delay between two attempts while the database is unavailable, in milliseconds. */
const AWAY_MS = 250;

type Reading = Pick<WorkerState, 'abilities' | 'clock'>;

/** `owner`: the process that holds the lease. */
export function createJournal(
  state: WorkerState,
  signals: RunSignals,
  publisher: Pick<StreamPublisher, 'committed'>,
  owner: ProcessId,
): Journal {
  return {
    async append(transition) {
      try {
        const outcome = await state.appender(transition);
        if (outcome.kind === 'committed') announce(state, publisher, transition, outcome);
        return outcome;
      } catch (error) {
        if (isAway(error)) return { kind: 'in_doubt' };
        throw error;
      }
    },
    added: ({ lease, job }) =>
      persist(signals, async () => (job === null ? [] : readAdded(state.database.db, lease, job.id))),
    reload: (known) => persist(signals, () => reload(state, known)),
    recover: (lease) => {
      // A process runs a context at most once. So if it holds the lease under a later epoch, its own earlier attempt
      // raised the epoch.
      let again: ProcessId | null = null;
      return persist(signals, () => {
        const raised = recover(state, lease, again);
        again = owner;
        return raised;
      });
    },
  };
}

/** Retries while the database is unavailable, until the lease is lost. */
export async function persist<T>(signals: RunSignals, work: () => Promise<T>): Promise<T> {
  for (;;) {
    if (signals.lost) throw new LeaseLost();
    try {
      return await pTimeout(work(), DATABASE_TIMEOUT);
    } catch (error) {
      if (!isAway(error)) throw error;
      await setTimeout(AWAY_MS);
    }
  }
}

/**
 * Publishes a committed append, and notifies the wake queue of contexts that can go on: this one, new children, and
 * contexts that waited for this one.
 */
function announce(
  state: WorkerState,
  publisher: Pick<StreamPublisher, 'committed'>,
  transition: Append,
  outcome: Committed,
): void {
  const { wakeQueue, log, metrics, clock } = state;
  const { lease, job, park, spawns } = transition;
  const { contextId, tenantName, epoch } = lease;
  if (job?.kind === 'admit') metrics.started(clock.now() - madeAt(job.job.id));
  if (job?.kind === 'settle') {
    const { outcome } = job;
    metrics.finished(outcome.status);
    const line = { tenant: tenantName, context_id: contextId, job_id: job.job.id, attempt: job.job.attempt };
    log.info({ ...line, status: outcome.status, code: 'error' in outcome ? outcome.error.code : null }, 'job ended');
  }
  publisher.committed(transition, outcome);
  if (outcome.followUp) state.followUps.look();
  if (notifiesWebhooks(transition)) state.webhookSender.look();
  if (park?.status === 'runnable') wakeQueue.notify({ contextId, wakeSeq: outcome.wakeSeq, epoch });
  // A new context has one wake-up and was never claimed.
  for (const spawn of spawns) wakeQueue.notify({ contextId: spawn.contextId, wakeSeq: 1, epoch: 0 });
  wakeMet(state, outcome.met);
}

async function reload(state: WorkerState, known: Snapshot): Promise<Snapshot> {
  const stored = await state.database.transaction(async (tx) => {
    // Locked, so that no other process fences and settles the context between the two reads.
    const row = await read(tx, known.lease.contextId, 'lock');
    if (row === null || row.lease.epoch !== known.lease.epoch) throw new LeaseLost();
    return readMailbox(tx, beforeOwnClaim(row));
  });
  if (stored === null) throw new LeaseLost();
  return toSnapshot(state, stored, await memoryOf(state.database.db, stored, known));
}

/**
 * The known history if it belongs to the current branch, else the history of that branch. So the history of a snapshot
 * always belongs to its branch. No row is locked meanwhile: only the lease owner writes history.
 */
async function memoryOf(
  executor: Executor,
  { mailbox: { lease, activeBranch, controlSeq } }: Stored,
  known: Snapshot,
): Promise<Remembered> {
  // Between two jobs a branch may be deleted and another one created under its name. The deletion raises `control_seq`.
  const isSame = activeBranch === known.activeBranch && (known.job !== null || controlSeq === known.controlSeq);
  return isSame ? known : ((await readBranch(executor, lease, activeBranch)) ?? NOTHING_REMEMBERED);
}

/** Raises the epoch first, in its own commit, so that no row is locked while a long history is read. */
async function recover(state: WorkerState, lease: Lease, again: ProcessId | null): Promise<Snapshot> {
  const { database } = state;
  const row = await database.transaction((tx) => renew(tx, lease, again));
  const snapshot = row === null ? null : await readSnapshot(state, database.db, beforeOwnClaim(row));
  if (snapshot === null) throw new LeaseLost();
  return snapshot;
}

/**
 * The row counts the current claim as failed until the run makes progress. This subtracts it: only earlier claims
 * count.
 */
export function beforeOwnClaim(row: ContextRow): ContextRow {
  return { ...row, failedClaims: Math.max(0, row.failedClaims - 1) };
}

/**
 * Reads all that is stored of the context of `row`, which the transaction `tx` has locked, but no history of more than
 * `LIMITS.claimBytes`: the row must not stay locked for the time that takes. Null: the worker was deleted.
 */
export async function readLocked(state: Reading, tx: Executor, row: ContextRow): Promise<Snapshot | 'too long' | null> {
  const [stored, { histories, tooLong }] = await Promise.all([
    readMailbox(tx, row),
    readHistories(tx, placeOf(row), LIMITS.claimBytes),
  ]);
  if (tooLong.size > 0) return 'too long';
  const history = histories.get(row.lease.contextId) ?? NOTHING_REMEMBERED;
  return stored === null ? null : toSnapshot(state, stored, history);
}

/**
 * The same without a lock and without a size limit. Inputs may arrive meanwhile: the mailbox is read first, then the
 * history of the branch that the mailbox names.
 */
export async function readSnapshot(state: Reading, executor: Executor, row: ContextRow): Promise<Snapshot | null> {
  const stored = await readMailbox(executor, row);
  if (stored === null) return null;
  const history = await readBranch(executor, row.lease, stored.mailbox.activeBranch);
  return toSnapshot(state, stored, history ?? NOTHING_REMEMBERED);
}

export function toSnapshots(
  state: Reading,
  stored: ReadonlyMap<ContextId, Stored>,
  histories: ReadonlyMap<ContextId, Remembered>,
): Map<ContextId, Snapshot> {
  const remembered = (id: ContextId): Remembered => histories.get(id) ?? NOTHING_REMEMBERED;
  return new Map([...stored].map(([id, one]) => [id, toSnapshot(state, one, remembered(id))]));
}

function toSnapshot(
  { abilities, clock }: Reading,
  { mailbox, worker }: Stored,
  { history, compacted, unread }: Remembered,
): Snapshot {
  const serving = abilities.resolve(worker, callerOf(mailbox), mailbox.allow);
  return {
    ...delivered(mailbox, clock.now()),
    history,
    compacted,
    unread,
    workerName: worker.name,
    role: worker.role,
    serving,
  };
}

export function callerOf({ lease, job, next }: Mailbox): ToolCaller {
  return { ...lease, jobId: job?.id ?? next?.id ?? null };
}

/** A stop request counts as delivered when the run first reads it. */
function delivered(mailbox: Mailbox, now: number): Mailbox {
  const { job } = mailbox;
  if (job === null || job.stopRequest === null || job.stopRequest.deliveredAt !== null) return mailbox;
  const deliveredAt = Math.max(job.stopRequest.requestedAt, now);
  return { ...mailbox, job: { ...job, stopRequest: { ...job.stopRequest, deliveredAt } } };
}
