/** One doorbell, or one find of the sweep: claim the context, run its loop, leave it to others. */
import pTimeout from 'p-timeout';
import { runLoop } from '../agent/loop.ts';
import type { Run } from '../agent/run.ts';
import { LeaseLost } from '../core/errors.ts';
import { madeAt } from '../core/ids.ts';
import type { ContextId, ProcessId } from '../core/ids.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { putOff, release } from '../db/contexts.ts';
import { createJournal } from './journal.ts';
import { Narrator } from './narrator.ts';
import { PATIENCE, isAway } from './patience.ts';
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
  const narrator = new Narrator(state.bus, state.audience, contextId, owner);
  try {
    const first = await claimContext(state, contextId, owner, narrator);
    state.metrics.claim(first === null ? 'surplus' : 'claimed');
    if (first !== null) await runClaimed(state, place, narrator, first);
  } catch (error) {
    if (error instanceof LeaseLost) state.metrics.leaseLost();
    else await giveUp(state, contextId, owner, error);
  } finally {
    narrator.close();
    place.attention.lose();
    place.leave();
  }
}

async function runClaimed(
  state: WorkerState,
  place: Place,
  narrator: Narrator,
  first: Snapshot,
): Promise<void> {
  const log = createRunLog(state, first);
  const run: Run = {
    journal: createJournal(state, place.attention, narrator),
    model: (provider) => state.gates.ask(provider),
    tools: state.abilities.tools,
    clock: state.clock,
    ids: state.ids,
    random: () => state.random(),
    listener: (of) => narrator.listen(of),
    log,
    attention: place.attention,
  };
  await runLoop(run, first);
}

/** Null: the doorbell was surplus. */
async function claimContext(
  state: WorkerState,
  contextId: ContextId,
  owner: ProcessId,
  narrator: Narrator,
): Promise<Snapshot | null> {
  const claimed = await state.claimer({ contextId, owner });
  if (claimed === null) return null;
  if (claimed.began !== null) {
    const { move, outcome } = claimed.began;
    if (move.job?.kind === 'admit') state.metrics.started(state.clock.now() - madeAt(move.job.job.id));
    narrator.committed(move, outcome, true);
  }
  return claimed.snapshot;
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
  await pTimeout(giveBack(), PATIENCE).catch(() => undefined);
}
