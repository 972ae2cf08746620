/** Handles one wake-up, or one context that a sweep found: claims the context, runs its loop, releases it. */
import pTimeout from 'p-timeout';
import type { RunSignals } from '../../agent/run-signals.ts';
import { EagerCalls } from '../../agent/calls/eager-calls.ts';
import { runLoop } from '../../agent/loop.ts';
import type { RunPorts } from '../../agent/run.ts';
import { dispatch } from '../../commands/after-commit.ts';
import { LeaseLost } from '../../core/errors.ts';
import { madeAt, type ContextId, type ProcessId } from '../../core/ids.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import { isUnavailable } from '../../db/connection/database-errors.ts';
import { forgive } from '../../db/run/claims.ts';
import { postpone, release } from '../../db/run/contexts.ts';
import { createJournal, persist } from './journal.ts';
import { StreamPublisher } from './stream-publisher.ts';
import { DATABASE_TIMEOUT, isAway } from '../../db/batches/database-timeout.ts';
import type { Claim, Opened, WorkerState } from '../process/ports.ts';
import { createRunLog } from './run-log.ts';
import { createTeam } from './team.ts';

/** Delay before a context is claimed again after an internal error in its run, in milliseconds. */
const BROKEN_MS = 2_000;

/** What is known of a context before its claim. See `Claim`. */
type Known = Partial<Pick<Claim, 'counted' | 'isNew'>>;

/** Resolves when the run has ended, or at once if nothing was claimed. Never throws. The caller holds a slot for it. */
export async function runContext(state: WorkerState, contextId: ContextId, known: Known = {}): Promise<void> {
  const wasNotified = await runOnce(state, contextId, known);
  if (wasNotified) await runContext(state, contextId);
}

/**
 * True: a wake-up arrived meanwhile. It may be about work that came after this run, so the caller runs the context
 * again.
 */
async function runOnce(
  state: WorkerState,
  contextId: ContextId,
  { counted = null, isNew = false }: Known,
): Promise<boolean> {
  const owner = state.identity();
  if (owner === null) return false;
  const place = await state.registry.enter(contextId);
  if (place === null) return false;
  const { signals } = place;
  const publisher = new StreamPublisher(state.bus, state.subscribers, contextId, owner);
  const portsFor = (snapshot: Snapshot) => portsOf(state, { signals, publisher, owner }, snapshot);
  const claim: Claim = { contextId, owner, counted, isNew, signals, portsFor };
  let wasNotified = false;
  try {
    const claimed = await claimContext(state, claim, publisher);
    state.metrics.claim(claimed === null ? 'noop' : 'claimed');
    if (claimed !== null) {
      const { snapshot: first, early } = claimed;
      const ports = portsFor(first);
      const eager = new EagerCalls(ports, signals, first);
      await runLoop({ ...ports, signals, early, eager }, first);
    }
  } catch (error) {
    if (error instanceof LeaseLost) state.metrics.leaseLost();
    else await giveUp(state, claim, error);
  } finally {
    publisher.close();
    // Also aborts the model call of a claim that timed out.
    signals.lose();
    wasNotified = place.leave();
  }
  return wasNotified;
}

type Parts = { signals: RunSignals; publisher: StreamPublisher; owner: ProcessId };

function portsOf(state: WorkerState, { signals, publisher, owner }: Parts, first: Snapshot): RunPorts {
  return {
    journal: createJournal(state, signals, publisher, owner),
    model: (name) => state.throttles.ask(name, first.lease.tenantId),
    tools: state.abilities.tools,
    team: createTeam(state, signals),
    clock: state.clock,
    fingerprint: (sent, memory) => state.fingerprints.of(first.lease, sent, memory),
    ids: state.ids,
    random: () => state.random(),
    listener: (of) => publisher.listen(of),
    log: createRunLog(state, first),
  };
}

/** Null: the claim was a noop, this process cannot serve the context, or the claim itself ended the job. */
async function claimContext(state: WorkerState, claim: Claim, publisher: StreamPublisher): Promise<Opened | null> {
  const { unsupported } = state.registry;
  const { contextId } = claim;
  const claimed = await state.claimer(claim);
  if (claimed === null) return null;
  if (claimed.kind === 'ended') dispatch(state, claimed.afterCommit);
  if (claimed.kind === 'skipped')
    unsupported.add({ contextId, ...claimed.mailbox }, claimed.at, claimed.mailbox.job?.deadline ?? null);
  else unsupported.delete(contextId);
  if (claimed.kind !== 'opened') return null;
  if (claimed.began !== null) {
    const { transition, outcome } = claimed.began;
    if (transition.job?.kind === 'admit') state.metrics.started(state.clock.now() - madeAt(transition.job.job.id));
    publisher.committed(transition, outcome, true);
  }
  return claimed;
}

/**
 * The run failed. Releases its lease once the database is available; if that fails too, a sweep finds the lease without
 * a run. A lost connection is not the context's fault. A timeout may be: its history may be too long.
 */
async function giveUp(
  state: WorkerState,
  { contextId, owner, counted, signals }: Claim,
  error: unknown,
): Promise<void> {
  const log = state.log.child({ context_id: contextId });
  const { db } = state.database;
  if (isAway(error)) log.warn({ err: error }, 'lost the database during a claim or run');
  else log.error({ err: error }, 'a run failed with an internal error');
  const releaseOrPostpone = async (): Promise<void> => {
    const wasClaimed = await release(db, { contextId, owner, epoch: null }, BROKEN_MS);
    if (wasClaimed) return;
    // A timed-out claim stays counted as failed: a history that takes too long to read is a fault of the context.
    if (!isAway(error)) await postpone(db, contextId, counted);
    else if (isUnavailable(error) && counted !== null) await forgive(db, contextId, counted);
  };
  await pTimeout(persist(signals, releaseOrPostpone), DATABASE_TIMEOUT).catch(() => undefined);
}
