/**
 * The sweep: every worker process looks about once a second for what is due, so that work is found even where Redis has
 * forgotten it. Only due rows are touched, and sweeps pass by what another one holds.
 */
import { setTimeout } from 'node:timers/promises';
import { settleUnowned } from '../commands/settle.ts';
import { tell } from '../commands/perform.ts';
import type { ContextId } from '../core/ids.ts';
import { owned, release, revoke, takeDue } from '../db/contexts.ts';
import type { Due } from '../db/contexts.ts';
import { forgetGates } from '../db/gates.ts';
import { forgetOldKeys } from '../db/idempotency.ts';
import { declareDead, forgetDead } from '../db/processes.ts';
import { fence } from '../db/wishes.ts';
import type { WorkerState } from './ports.ts';
import { runContext } from './run-context.ts';

/** Rows a sweep takes at most beyond its free slots, once they are so long overdue, and leases it revokes at most. */
const RINGS = 100;
const LEFT_MS = 2_000;
const REVOKED = 500;
/** How long what could not be taken up here is left to the bell before a sweep looks again, in milliseconds. */
const AGAIN_MS = 3_000;
/** Housekeeping comes once in so many sweeps. */
const RARELY = 60;
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
      await this.#keepHouse().catch((error: unknown) =>
        this.#state.log.warn({ err: error }, 'housekeeping failed'),
      );
      // Spread, so that the processes of a fleet do not all look at the same moment.
      await setTimeout(this.#state.times.sweepMs * (0.75 + this.#state.random() / 2));
    }
  }

  async #keepHouse(): Promise<void> {
    this.#count += 1;
    const { db } = this.#state.database;
    if (this.#count % SOMETIMES === 0) await releaseOrphans(this.#state);
    if (this.#count % RARELY === 0) {
      await forgetDead(db);
      await forgetOldKeys(db);
      await forgetGates(db);
    }
  }
}

/** One look at everything that may be due. */
export async function sweepOnce(state: WorkerState): Promise<void> {
  const { db } = state.database;
  const identity = state.identity();
  if (identity === null) return;
  const dead = await declareDead(db, state.times, identity);
  if (dead.length > 0) state.log.warn({ dead }, 'processes died');
  const revoked = await revoke(db, REVOKED);
  const free = Math.max(0, state.registry.free);
  const mine = free === 0 ? [] : await takeDue(db, free, AGAIN_MS, 0);
  // What nobody had a slot for is rung for again; who has one has had the time to take it.
  const left = await takeDue(db, RINGS, AGAIN_MS, LEFT_MS);
  state.metrics.sweep(mine.length + left.length, revoked);
  for (const found of [...mine, ...left]) await takeUp(state, found);
}

async function takeUp(state: WorkerState, due: Due): Promise<void> {
  switch (due.kind) {
    case 'unanswered':
      return settleUnanswered(state, due.contextId);
    case 'claimable':
      if (state.registry.free <= 0) {
        state.bell.ring(due);
        return;
      }
      if (await state.registry.takeSlot()) {
        void runContext(state, due.contextId).finally(() => state.registry.giveSlot());
      }
  }
}

/** A holder that did not answer a wish in time is fenced off, and the job settled without it. */
async function settleUnanswered(state: WorkerState, contextId: ContextId): Promise<void> {
  const tidings = await state.database.transaction(async (tx) => {
    const fenced = await fence(tx, contextId);
    return fenced === null ? null : settleUnowned(tx, contextId, state.ids, false);
  });
  if (tidings === null) return;
  state.log.warn({ context_id: contextId }, 'a wish was not answered in time: settled without its holder');
  tell(state, tidings);
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
