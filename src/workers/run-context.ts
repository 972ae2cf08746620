/** One doorbell, or one find of the sweep: claim the context, run its loop, leave it to others. */
import pTimeout from 'p-timeout';
import type { Attention } from '../agent/attention.ts';
import { UNSERVED_MS, runLoop } from '../agent/loop.ts';
import type { Run } from '../agent/run.ts';
import { endBarren } from '../commands/end-barren.ts';
import { tell } from '../commands/perform.ts';
import { apply } from '../core/apply.ts';
import { decide } from '../core/decide.ts';
import { LeaseLost } from '../core/errors.ts';
import { madeAt } from '../core/ids.ts';
import type { ContextId, ProcessId } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { open } from '../core/moves/open.ts';
import { handBack } from '../core/moves/park.ts';
import type { Mailbox, Snapshot } from '../core/snapshot.ts';
import type { Millis } from '../core/time.ts';
import { append } from '../db/append.ts';
import { isUnavailable } from '../db/client.ts';
import type { Executor } from '../db/client.ts';
import { claim, forgive, putOff, release } from '../db/contexts.ts';
import type { ContextRow } from '../db/contexts.ts';
import { readMailbox } from '../db/mailbox.ts';
import { SILENT_MS, createJournal, isAway, persist, readSnapshot } from './journal.ts';
import { Narrator } from './narrator.ts';
import type { WorkerState } from './ports.ts';
import type { Place } from './registry.ts';
import { createRunLog } from './run-log.ts';

/** How long a context whose run broke by a fault of ours is left alone, in milliseconds. */
const BROKEN_MS = 2_000;

/** What is to be claimed, by whom; `counted`: the epoch under which a sweep has counted the claim; null: nobody has. */
type Claim = { contextId: ContextId; owner: ProcessId; counted: number | null };

/** Resolves when the run has ended, or at once when there was nothing to claim. Never throws. The caller has a slot. */
export async function runContext(
  state: WorkerState,
  contextId: ContextId,
  counted: number | null = null,
): Promise<void> {
  const isRung = await runOnce(state, contextId, counted);
  if (isRung) await runContext(state, contextId);
}

/** True: somebody rang meanwhile, and may have meant what came after this run. */
async function runOnce(state: WorkerState, contextId: ContextId, counted: number | null): Promise<boolean> {
  const owner = state.identity();
  if (owner === null) return false;
  const place = await state.registry.enter(contextId);
  if (place === null) return false;
  const claim = { contextId, owner, counted };
  const narrator = new Narrator(state.bus, state.audience, contextId, owner);
  let isRung = false;
  try {
    const first = await pTimeout(claimContext(state, claim, narrator), { milliseconds: SILENT_MS });
    state.metrics.claim(first === null ? 'surplus' : 'claimed');
    if (first !== null) await runClaimed(state, place, narrator, owner, first);
  } catch (error) {
    if (error instanceof LeaseLost) state.metrics.leaseLost();
    else await giveUp(state, claim, place.attention, error);
  } finally {
    narrator.close();
    place.attention.lose();
    isRung = place.leave();
  }
  return isRung;
}

async function runClaimed(
  state: WorkerState,
  place: Place,
  narrator: Narrator,
  owner: ProcessId,
  first: Snapshot,
): Promise<void> {
  const log = createRunLog(state, first);
  const run: Run = {
    journal: createJournal(state, place.attention, narrator, owner),
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

/**
 * One transaction: the lease, all that is stored, and the append that begins or resumes a job. Null: surplus, or ended
 * here and now.
 */
async function claimContext(
  state: WorkerState,
  { contextId, owner, counted }: Claim,
  narrator: Narrator,
): Promise<Snapshot | null> {
  const { registry } = state;
  const opened = await state.database.transaction(async (tx) => {
    const row = await claim(tx, contextId, owner, counted);
    if (row === null) return null;
    state.clock.set(row.now);
    if (row.barrenClaims >= LIMITS.barrenClaims) return endBarren(tx, row, state.ids);
    const left = registry.unserved.has(contextId) ? await leaveUnread(state, tx, row) : null;
    if (left !== null) return left;
    const snapshot = await readSnapshot(state, tx, row, null);
    if (snapshot === null) return null;
    const step = decide(snapshot, row.now);
    if (step.kind === 'hand_back') return leave(tx, snapshot, row.now);
    const move = open(snapshot, step);
    if (move === null) return { kind: 'opened', snapshot, began: null } as const;
    const [outcome] = await append(tx, [move]);
    if (outcome?.kind !== 'committed')
      throw new Error('A context changed under the transaction that claimed it.');
    return {
      kind: 'opened',
      snapshot: apply(snapshot, move, outcome),
      began: { move, outcome },
    } as const;
  });
  if (opened === null) return null;
  if (opened.kind === 'ended') tell(state, opened.tidings);
  if (opened.kind === 'left')
    registry.unserved.add({ contextId, ...opened.mailbox }, opened.at, opened.mailbox.job?.deadline ?? null);
  else registry.unserved.delete(contextId);
  if (opened.kind !== 'opened') return null;
  if (opened.began !== null) {
    const { move, outcome } = opened.began;
    if (move.job?.kind === 'admit') state.metrics.started(state.clock.now() - madeAt(move.job.job.id));
    narrator.committed(move, outcome, true);
  }
  return opened.snapshot;
}

/** What this process cannot serve, as of what stood in its mailbox. */
type Left = { kind: 'left'; mailbox: Mailbox; at: Millis };

/** What could not be served before is read in full only once it can be. Null: it can, or that is not what matters now. */
async function leaveUnread(state: WorkerState, tx: Executor, row: ContextRow): Promise<Left | null> {
  const stored = await readMailbox(tx, row);
  if (stored === null) return null;
  const unread = { ...stored.mailbox, history: [], serving: state.abilities.resolve(stored.worker) };
  return decide(unread, row.now).kind === 'hand_back' ? leave(tx, stored.mailbox, row.now) : null;
}

async function leave(tx: Executor, mailbox: Mailbox, now: Millis): Promise<Left> {
  await append(tx, [handBack(mailbox, now + UNSERVED_MS)]);
  return { kind: 'left', mailbox, at: now };
}

/**
 * The run broke off. Its lease goes back, once the database is there; where even that fails, the sweep finds it owned by
 * nobody's run. A database that went away is no fault of the context, silence may be one: its history may be too long.
 */
async function giveUp(
  state: WorkerState,
  { contextId, owner, counted }: Claim,
  attention: Attention,
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
  const givenBack = persist(attention, giveBack);
  await pTimeout(givenBack, { milliseconds: SILENT_MS }).catch(() => undefined);
}
