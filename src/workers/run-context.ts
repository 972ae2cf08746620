/** One doorbell, or one find of the sweep: claim the context, run its loop, leave it to others. */
import pTimeout from 'p-timeout';
import { runLoop } from '../agent/loop.ts';
import type { Run } from '../agent/run.ts';
import { apply } from '../core/apply.ts';
import { decide } from '../core/decide.ts';
import { LeaseLost } from '../core/errors.ts';
import { madeAt } from '../core/ids.ts';
import type { ContextId, ProcessId } from '../core/ids.ts';
import { open } from '../core/moves/open.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { append } from '../db/append.ts';
import { claim, putOff, release } from '../db/contexts.ts';
import { SILENT_MS, createJournal, isAway, readSnapshot } from './journal.ts';
import { progressOf } from '../bus/bus.ts';
import type { WorkerState } from './ports.ts';
import type { Place } from './registry.ts';
import { createRunLog } from './run-log.ts';

/** How long a context whose run broke by a fault of ours is left alone, in milliseconds. */
const BROKEN_MS = 2_000;

/** Resolves when the run has ended, or at once when there was nothing to claim. Never throws. The caller has a slot. */
export async function runContext(state: WorkerState, contextId: ContextId): Promise<void> {
  const owner = state.identity();
  if (owner === null) return;
  const place = await state.registry.enter(contextId);
  if (place === null) return;
  try {
    const first = await pTimeout(claimContext(state, contextId, owner), { milliseconds: SILENT_MS });
    state.metrics.claim(first === null ? 'surplus' : 'claimed');
    if (first !== null) await runClaimed(state, place, first);
  } catch (error) {
    if (error instanceof LeaseLost) state.metrics.leaseLost();
    else await giveUp(state, contextId, owner, error);
  } finally {
    place.attention.lose();
    place.leave();
  }
}

async function runClaimed(state: WorkerState, place: Place, first: Snapshot): Promise<void> {
  const log = createRunLog(state, first);
  const run: Run = {
    journal: createJournal(state, place.attention),
    model: (provider) => state.gates.ask(provider),
    tools: state.abilities.tools,
    clock: state.clock,
    ids: state.ids,
    random: () => state.random(),
    listener: () => SILENT,
    log,
    attention: place.attention,
  };
  await runLoop(run, first);
}

/** Nobody listens to text as it is made yet. */
const SILENT = { started: () => undefined, text: () => undefined, thinking: () => undefined };

/** One transaction: the lease, all that is stored, and the append that begins or resumes a job. Null: surplus. */
async function claimContext(
  state: WorkerState,
  contextId: ContextId,
  owner: ProcessId,
): Promise<Snapshot | null> {
  const opened = await state.database.transaction(async (tx) => {
    const row = await claim(tx, contextId, owner);
    if (row === null) return null;
    state.clock.set(row.now);
    const snapshot = await readSnapshot(state, tx, row, null);
    if (snapshot === null) return null;
    const move = open(snapshot, decide(snapshot, row.now));
    if (move === null) return { snapshot, headSeq: null, began: null };
    const [outcome] = await append(tx, [move]);
    if (outcome?.kind !== 'committed')
      throw new Error('A context changed under the transaction that claimed it.');
    const began = move.job?.kind === 'admit' ? move.job.job.id : null;
    return { snapshot: apply(snapshot, move, outcome), headSeq: outcome.headSeq, began };
  });
  if (opened === null) return null;
  if (opened.began !== null) state.metrics.started(state.clock.now() - madeAt(opened.began));
  if (opened.headSeq !== null) {
    state.bus.publish(progressOf(contextId), { contextId, headSeq: opened.headSeq, finished: null });
  }
  return opened.snapshot;
}

/** The run broke off. Its lease goes back; where even that fails, the sweep finds it owned by nobody's run. */
async function giveUp(
  state: WorkerState,
  contextId: ContextId,
  owner: ProcessId,
  error: unknown,
): Promise<void> {
  const log = state.log.child({ context_id: contextId });
  const { db } = state.database;
  if (isAway(error)) log.warn({ err: error }, 'the database went away under a claim');
  else log.error({ err: error }, 'a run broke off');
  const giveBack = async (): Promise<void> => {
    const wasClaimed = await release(db, contextId, owner, null, BROKEN_MS);
    if (!wasClaimed && !isAway(error)) await putOff(db, contextId);
  };
  await pTimeout(giveBack(), { milliseconds: SILENT_MS }).catch(() => undefined);
}
