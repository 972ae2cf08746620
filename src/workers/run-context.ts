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
import { Narrator } from './narrator.ts';
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
    const claiming = claimContext(state, contextId, owner, narrator);
    const first = await pTimeout(claiming, { milliseconds: SILENT_MS });
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

/** One transaction: the lease, all that is stored, and the append that begins or resumes a job. Null: surplus. */
async function claimContext(
  state: WorkerState,
  contextId: ContextId,
  owner: ProcessId,
  narrator: Narrator,
): Promise<Snapshot | null> {
  const opened = await state.database.transaction(async (tx) => {
    const row = await claim(tx, contextId, owner);
    if (row === null) return null;
    state.clock.set(row.now);
    const snapshot = await readSnapshot(state, tx, row, null);
    if (snapshot === null) return null;
    const move = open(snapshot, decide(snapshot, row.now));
    if (move === null) return { snapshot, began: null };
    const [outcome] = await append(tx, [move]);
    if (outcome?.kind !== 'committed')
      throw new Error('A context changed under the transaction that claimed it.');
    return { snapshot: apply(snapshot, move, outcome), began: { move, outcome } };
  });
  if (opened === null) return null;
  if (opened.began !== null) {
    const { move, outcome } = opened.began;
    if (move.job?.kind === 'admit') state.metrics.started(state.clock.now() - madeAt(move.job.job.id));
    narrator.committed(move, outcome, true);
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
