/** One doorbell, or one find of the sweep: claim the context, run its loop, leave it to others. */
import pTimeout from 'p-timeout';
import type { RunSignals } from '../agent/run-signals.ts';
import { callEarly } from '../agent/early-call.ts';
import type { EarlyCall } from '../agent/early-call.ts';
import { EagerCalls } from '../agent/eager-calls.ts';
import { runLoop } from '../agent/loop.ts';
import type { RunPorts } from '../agent/run.ts';
import { dispatch } from '../commands/perform.ts';
import { LeaseLost } from '../core/errors.ts';
import { madeAt } from '../core/ids.ts';
import type { ContextId, ProcessId } from '../core/ids.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { isUnavailable } from '../db/client.ts';
import { forgive } from '../db/claims.ts';
import { putOff, release } from '../db/contexts.ts';
import { createJournal, persist } from './journal.ts';
import { StreamPublisher } from './stream-publisher.ts';
import { DATABASE_TIMEOUT, isAway } from './database-timeout.ts';
import type { Claim, WorkerState } from './ports.ts';
import type { Place } from './registry.ts';
import { createRunLog } from './run-log.ts';
import { createTeam } from './team.ts';

/** How long a context whose run broke by a fault of ours is left alone, in milliseconds. */
const BROKEN_MS = 2_000;

/** Resolves when the run has ended, or at once when there was nothing to claim. Never throws. The caller has a slot. */
export async function runContext(
  state: WorkerState,
  contextId: ContextId,
  counted: number | null = null,
): Promise<void> {
  const wasNotified = await runOnce(state, contextId, counted);
  if (wasNotified) await runContext(state, contextId);
}

/** True: somebody rang meanwhile, and may have meant what came after this run. */
async function runOnce(state: WorkerState, contextId: ContextId, counted: number | null): Promise<boolean> {
  const owner = state.identity();
  if (owner === null) return false;
  const place = await state.registry.enter(contextId);
  if (place === null) return false;
  const publisher = new StreamPublisher(state.bus, state.subscribers, contextId, owner);
  const early: { call: EarlyCall | null } = { call: null };
  const claim: Claim = {
    contextId,
    owner,
    counted,
    opening(snapshot) {
      early.call?.drop();
      early.call = callEarly(portsOf(state, place, publisher, owner, snapshot), place.signals, snapshot);
    },
  };
  let wasNotified = false;
  try {
    const first = await claimContext(state, claim, publisher);
    state.metrics.claim(first === null ? 'noop' : 'claimed');
    if (first !== null) {
      const ports = portsOf(state, place, publisher, owner, first);
      const { signals } = place;
      const eager = new EagerCalls(ports, signals, first);
      await runLoop({ ...ports, signals, early: early.call, eager }, first);
    }
  } catch (error) {
    if (error instanceof LeaseLost) state.metrics.leaseLost();
    else await giveUp(state, claim, place.signals, error);
  } finally {
    early.call?.drop();
    publisher.close();
    place.signals.lose();
    wasNotified = place.leave();
  }
  return wasNotified;
}

function portsOf(
  state: WorkerState,
  { signals }: Place,
  publisher: StreamPublisher,
  owner: ProcessId,
  first: Snapshot,
): RunPorts {
  return {
    journal: createJournal(state, signals, publisher, owner),
    model: (provider) => state.throttles.ask(provider),
    tools: state.abilities.tools,
    team: createTeam(state, signals),
    clock: state.clock,
    fingerprint: (sent, memory) => state.fingerprints.of(first.lease.tenantId, sent, memory),
    ids: state.ids,
    random: () => state.random(),
    listener: (of) => publisher.listen(of),
    log: createRunLog(state, first),
  };
}

/** Null: surplus, left to others, or ended here and now. */
async function claimContext(
  state: WorkerState,
  claim: Claim,
  publisher: StreamPublisher,
): Promise<Snapshot | null> {
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
    if (transition.job?.kind === 'admit')
      state.metrics.started(state.clock.now() - madeAt(transition.job.job.id));
    publisher.committed(transition, outcome, true);
  }
  return claimed.snapshot;
}

/**
 * The run broke off. Its lease goes back, once the database is there; where even that fails, the sweep finds it owned by
 * nobody's run. A database that went away is no fault of the context, silence may be one: its history may be too long.
 */
async function giveUp(
  state: WorkerState,
  { contextId, owner, counted }: Claim,
  signals: RunSignals,
  error: unknown,
): Promise<void> {
  const log = state.log.child({ context_id: contextId });
  const { db } = state.database;
  if (isAway(error)) log.warn({ err: error }, 'the database went away under a claim');
  else log.error({ err: error }, 'a run broke off');
  const giveBack = async (): Promise<void> => {
    const wasClaimed = await release(db, contextId, owner, null, BROKEN_MS);
    if (wasClaimed) return;
    // Silence is another matter: a history that takes for ever to be read is a fault of the context.
    if (!isAway(error)) await putOff(db, contextId, counted);
    else if (isUnavailable(error) && counted !== null) await forgive(db, contextId, counted);
  };
  await pTimeout(persist(signals, giveBack), DATABASE_TIMEOUT).catch(() => undefined);
}
