/** The durable side of a run on Postgres: appends, and what is stored when it has to be read again. */
import { setTimeout } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { Attention } from '../agent/attention.ts';
import type { Journal } from '../agent/run.ts';
import { wakeMet } from '../commands/wake-met.ts';
import type { Append, AppendOutcome } from '../core/append.ts';
import { LeaseLost } from '../core/errors.ts';
import { madeAt } from '../core/ids.ts';
import type { ContextId, JobId, ProcessId } from '../core/ids.ts';
import type { Lease, Mailbox, Snapshot } from '../core/snapshot.ts';
import type { Executor } from '../db/client.ts';
import { read, renew } from '../db/contexts.ts';
import type { ContextRow } from '../db/contexts.ts';
import { NOTHING_REMEMBERED, readAdded, readBranch, readHistories } from '../db/history.ts';
import type { Remembered } from '../db/history.ts';
import { placesOf, readMailbox, readMailboxes } from '../db/mailbox.ts';
import type { Stored } from '../db/mailbox.ts';
import type { Narrator } from './narrator.ts';
import { PATIENCE, isAway } from './patience.ts';
import type { WorkerState } from './ports.ts';

/** Between two looks at a database that is away. */
const AWAY_MS = 250;

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
        const outcome = await state.appender(move);
        if (outcome.kind === 'committed') announce(state, narrator, move, outcome);
        return outcome;
      } catch (error) {
        if (isAway(error)) return { kind: 'in_doubt' };
        throw error;
      }
    },
    added: ({ lease, job }) =>
      persist(attention, async () => (job === null ? [] : readAdded(state.database.db, lease, job.id))),
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
      return await pTimeout(work(), PATIENCE);
    } catch (error) {
      if (!isAway(error)) throw error;
      await setTimeout(AWAY_MS);
    }
  }
}

/** Tells whoever follows the context, and rings where others are to go on: with it, with its children, with whoever waited. */
function announce(
  state: WorkerState,
  narrator: Pick<Narrator, 'committed'>,
  move: Append,
  outcome: Extract<AppendOutcome, { kind: 'committed' }>,
): void {
  const { bell, log, metrics, clock } = state;
  const { lease, job, park, spawns } = move;
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
  if (outcome.errand) state.errands.look();
  if (park?.status === 'runnable') bell.ring({ contextId, wakeSeq: outcome.wakeSeq, epoch });
  // As they came to be: rung once, and never held.
  for (const spawn of spawns) bell.ring({ contextId: spawn.contextId, wakeSeq: 1, epoch: 0 });
  wakeMet(state, outcome.met);
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

/**
 * The mailbox of `row`, beside the history that is known. Where the next job is on another branch, that is not the history
 * to decide on: it is read whole. So a snapshot's history is always that of its branch. Null: the worker is gone.
 */
export async function readSnapshot(
  state: Pick<WorkerState, 'abilities' | 'clock'>,
  tx: Executor,
  row: ContextRow,
  known: Snapshot | null,
): Promise<Snapshot | null> {
  const { lease } = row;
  if (known === null) return (await readSnapshots(state, tx, [row])).get(lease.contextId) ?? null;
  const stored = await readMailbox(tx, row);
  if (stored === null) return null;
  const { activeBranch, controlSeq } = stored.mailbox;
  // Between two jobs a branch may be deleted and its name given again, which is told like all that a holder must know.
  const isSame =
    activeBranch === known.activeBranch && (known.job !== null || controlSeq === known.controlSeq);
  const memory = isSame ? known : await readBranch(tx, lease, activeBranch);
  const snapshots = toSnapshots(state, new Map([[lease.contextId, stored]]), () => memory);
  return snapshots.get(lease.contextId) ?? null;
}

/** Of all of them, in as many statements as of one. */
export async function readSnapshots(
  { abilities, clock }: Pick<WorkerState, 'abilities' | 'clock'>,
  tx: Executor,
  rows: readonly ContextRow[],
): Promise<Map<ContextId, Snapshot>> {
  const [stored, histories] = await Promise.all([readMailboxes(tx, rows), readHistories(tx, placesOf(rows))]);
  return toSnapshots({ abilities, clock }, stored, (id) => histories.get(id) ?? null);
}

export function toSnapshots(
  { abilities, clock }: Pick<WorkerState, 'abilities' | 'clock'>,
  stored: ReadonlyMap<ContextId, Stored>,
  memoryOf: (contextId: ContextId) => Remembered | null,
): Map<ContextId, Snapshot> {
  const snapshots = new Map<ContextId, Snapshot>();
  for (const [contextId, { mailbox, worker }] of stored) {
    const { history, compacted, unread } = memoryOf(contextId) ?? NOTHING_REMEMBERED;
    const serving = abilities.resolve(worker, jobOf(mailbox));
    snapshots.set(contextId, { ...delivered(mailbox, clock.now()), history, compacted, unread, serving });
  }
  return snapshots;
}

/** The one that runs, else the one that will. */
export function jobOf({ job, next }: Mailbox): JobId | null {
  return job?.id ?? next?.id ?? null;
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
