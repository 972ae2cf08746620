/**
 * The sweep: every worker process looks about once a second for what is due, so that work is found even where Redis has
 * forgotten it. Only due rows are touched, and sweeps pass by what another one holds.
 */
import { setTimeout } from 'node:timers/promises';
import { settleUnowned } from '../commands/settle.ts';
import { dispatch } from '../commands/perform.ts';
import { wakeForgotten } from '../db/awaited.ts';
import { owned, release, revoke, takeDue, takeUnheld } from '../db/contexts.ts';
import type { Due } from '../db/contexts.ts';
import { declareDead } from '../db/processes.ts';
import { terminateFrozenSessions } from '../db/frozen-sessions.ts';
import { fence } from '../db/stop-requests.ts';
import type { WorkerState } from './ports.ts';
import { runContext } from './run-context.ts';

/** Rows a sweep takes at most beyond its free slots, once they are so long overdue, and leases it revokes at most. */
const MOST_WAKE_UPS = 100;
const LEFT_MS = 2_000;
const REVOKED = 500;
/** How long what could not be taken up here is left to the bell before a sweep looks again, in milliseconds. */
const AGAIN_MS = 3_000;
/** Once in so many sweeps, what is owned without being run is looked for. */
const SOMETIMES = 5;

export class Sweep {
  readonly #state: WorkerState;
  #stopped = false;
  #sweeping: Promise<void> = Promise.resolve();
  #count = 0;

  constructor(state: WorkerState) {
    this.#state = state;
  }

  start(): void {
    this.#sweeping = this.#sweepOn();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#sweeping;
  }

  async #sweepOn(): Promise<void> {
    while (!this.#stopped) {
      await sweepOnce(this.#state).catch((error: unknown) =>
        this.#state.log.warn({ err: error }, 'a sweep failed'),
      );
      await this.#findOrphans().catch((error: unknown) =>
        this.#state.log.warn({ err: error }, 'orphans could not be released'),
      );
      // Spread, so that the processes of a fleet do not all look at the same moment.
      await setTimeout(this.#state.times.sweepMs * (0.75 + this.#state.random() / 2));
    }
  }

  async #findOrphans(): Promise<void> {
    this.#count += 1;
    if (this.#count % SOMETIMES === 0) await releaseOrphans(this.#state);
  }
}

/** One look at everything that may be due. */
export async function sweepOnce(state: WorkerState): Promise<void> {
  const { db } = state.database;
  const identity = state.identity();
  if (identity === null) return;
  await terminateFrozenSessions(db);
  const dead = await declareDead(db, state.times, identity);
  if (dead.length > 0) state.log.warn({ dead }, 'processes died');
  const revoked = await revoke(db, REVOKED);
  const mine = await takeMine(state);
  // What nobody had a slot for is rung for again; who has one has had the time to take it.
  const passBy = state.registry.unsupported.passedBy(state.clock.now());
  const left = await takeDue(db, MOST_WAKE_UPS, AGAIN_MS, LEFT_MS, { passBy }).finally(() =>
    startAll(state, mine),
  );
  state.followUps.look();
  state.metrics.sweep(mine.length + left.length, revoked);
  for (const due of left) if (due.kind === 'claimable') state.wakeQueue.notify(due);
  for (const woken of await wakeForgotten(db, MOST_WAKE_UPS)) state.wakeQueue.notify(woken);
  for (const due of [...mine, ...left]) await settleStopRequest(state, due);
}

/** What is due, for slots that were kept before anybody looked: each claim is counted as it is found, and is made. */
async function takeMine({ database, registry, clock }: WorkerState): Promise<Due[]> {
  const reserved = registry.reserve();
  let found: Due[] = [];
  try {
    const passBy = registry.unsupported.passedBy(clock.now());
    if (reserved > 0) found = await takeDue(database.db, reserved, AGAIN_MS, 0, { claims: true, passBy });
  } finally {
    registry.settleReserved(reserved, found.filter(({ kind }) => kind === 'claimable').length);
  }
  return found;
}

/** Each has its slot. */
function startAll(state: WorkerState, found: readonly Due[]): void {
  for (const due of found) {
    if (due.kind === 'claimable')
      void runContext(state, due.contextId, due.epoch).finally(() => state.registry.giveSlot());
  }
}

/**
 * A holder that did not answer a wish in time is fenced off, and the job settled without it; so it is where the holder
 * died, whether or not there is a slot to go on with what is queued.
 */
async function settleStopRequest(state: WorkerState, { kind, contextId }: Due): Promise<void> {
  if (kind === 'claimable') return;
  const afterCommit = await state.database.transaction(async (tx) => {
    const taken =
      kind === 'stop_requested' ? await takeUnheld(tx, contextId) : (await fence(tx, contextId)) !== null;
    return taken ? settleUnowned(tx, contextId, state.ids, kind === 'stop_requested') : null;
  });
  if (afterCommit === null) return;
  if (kind === 'unanswered') {
    state.log.warn({ context_id: contextId }, 'a wish was not answered in time: settled without its holder');
  }
  dispatch(state, afterCommit);
}

/** What this process owns without running it: a claim whose commit was in doubt, a run that broke off unheard. */
async function releaseOrphans(state: WorkerState): Promise<void> {
  const identity = state.identity();
  if (identity === null) return;
  const { db } = state.database;
  for (const { contextId, epoch } of await owned(db, identity)) {
    if (!state.registry.has(contextId)) await release(db, contextId, identity, epoch, 0);
  }
}
