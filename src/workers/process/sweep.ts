/**
 * The sweep: every worker process checks about once a second which contexts are due, and starts those that no wake-up
 * did, so that work is found even if Redis lost its wake-up. A sweep writes to due rows only, and skips rows that another
 * process has locked.
 */
import { setTimeout } from 'node:timers/promises';
import { settleUnowned } from '../../commands/jobs/settle.ts';
import { done, perform, type Command } from '../../commands/perform.ts';
import { wakeForgotten } from '../../db/calls/awaited.ts';
import { owned, release } from '../../db/run/contexts.ts';
import { revoke, takeDue, takeUnowned, type Due } from '../../db/run/due-contexts.ts';
import { declareDead, nextDeath } from '../../db/processes/processes.ts';
import { terminateFrozenSessions } from '../../db/processes/frozen-sessions.ts';
import { fence } from '../../db/run/stop-requests.ts';
import type { WorkerState } from './ports.ts';
import type { Dispatcher } from '../scheduling/dispatcher.ts';

/**
 * Limits of one sweep: contexts whose wait is over or that have a stop request, contexts that it wakes because their
 * wake-up was lost, and leases that it revokes.
 */
const MOST_DUE = 500;
const MOST_WAKE_UPS = 100;
const REVOKED = 500;
/** How long sweeps leave a stop request to the process that settles it, in milliseconds. */
const AGAIN_MS = 3_000;
/** A process that missed so many heartbeats may have died: every sweep looks at its lock. */
const SILENT_HEARTBEATS = 2;
/** Every so many sweeps, the process looks for leases that it holds without a run. */
const SOMETIMES = 5;

export class Sweep {
  readonly #state: WorkerState;
  readonly #dispatcher: Dispatcher;
  readonly #stopping = new AbortController();
  #sweeping: Promise<void> = Promise.resolve();

  constructor(state: WorkerState, dispatcher: Dispatcher) {
    this.#state = state;
    this.#dispatcher = dispatcher;
  }

  start(): void {
    this.#sweeping = this.#sweepOn();
  }

  /** Resolves when the current sweep has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#sweeping;
  }

  async #sweepOn(): Promise<void> {
    const state = this.#state;
    const { signal } = this.#stopping;
    const warn = (message: string) => (error: unknown) => state.log.warn({ err: error }, message);
    for (let count = 1; !signal.aborted; count += 1) {
      const beganAt = performance.now();
      await sweepOnce(state, this.#dispatcher).catch(warn('a sweep failed'));
      if (count % SOMETIMES === 0) await releaseOrphans(state).catch(warn('could not release leases without a run'));
      const pauseMs = await untilNextSweep(state, beganAt, count === 1).catch(() => state.times.sweepMs);
      await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/**
 * In milliseconds. The contexts of a process that has just died are taken over at the moment at which it counts as dead;
 * at once, if that moment came during the last sweep, which began at `beganAt`. `starts`: this process has just started,
 * perhaps in the place of one that died a moment ago.
 */
async function untilNextSweep(state: WorkerState, beganAt: number, starts: boolean): Promise<number> {
  const { database, times } = state;
  const silentMs = starts ? 0 : SILENT_HEARTBEATS * times.heartbeatIntervalMs;
  const death = await nextDeath(database.db, times, { silentMs, sinceMs: performance.now() - beganAt });
  // Random, so that the processes do not all sweep at the same time.
  return Math.min(times.sweepMs * (0.75 + state.random() / 2), death === null ? Infinity : death + 1);
}

export async function sweepOnce(state: WorkerState, dispatcher: Pick<Dispatcher, 'fill'>): Promise<void> {
  const { db } = state.database;
  const identity = state.identity();
  if (identity === null) return;
  await terminateFrozenSessions(db);
  const dead = await declareDead(db, state.times, identity);
  if (dead.length > 0) state.log.warn({ dead }, 'processes died');
  const revoked = await revoke(db, REVOKED);
  const passBy = state.registry.unsupported.passedBy(state.clock.now());
  const due = await takeDue(db, { most: MOST_DUE, againMs: AGAIN_MS, passBy });
  // One that cannot be settled must not keep the others, nor the runnable contexts, from their turn.
  for (const one of due)
    await settleStopRequest(state, one).catch((error: unknown) =>
      state.log.warn({ err: error, context_id: one.contextId }, 'could not settle a stop request'),
    );
  const started = await dispatcher.fill();
  state.followUps.look();
  state.metrics.sweep(started, revoked);
  for (const woken of await wakeForgotten(db, MOST_WAKE_UPS)) state.wakeQueue.notify(woken);
}

/**
 * Settles a job with a stop request that no run will answer. If a run holds the context and did not answer in time, the
 * sweep fences it first. If its lease owner died, the job is settled too, whether or not a slot is free for the queued
 * jobs.
 */
async function settleStopRequest(state: WorkerState, { kind, contextId }: Due): Promise<void> {
  if (kind === 'runnable') return;
  const settle: Command<boolean> = async (tx) => {
    const taken = kind === 'stop_requested' ? await takeUnowned(tx, contextId) : (await fence(tx, contextId)) !== null;
    if (!taken) return done(false);
    return done(true, ...(await settleUnowned(tx, contextId, state.ids, kind === 'stop_requested')));
  };
  const outcome = await perform(state, settle);
  if (kind === 'unanswered' && outcome.kind === 'done' && outcome.value) {
    state.log.warn({ context_id: contextId }, 'a stop request was not answered in time: the sweep settled the job');
  }
}

/**
 * Releases leases that this process holds without a run: after a claim whose commit was in doubt, or a run whose
 * release failed. Such a claim does not count: this process lives.
 */
async function releaseOrphans(state: WorkerState): Promise<void> {
  const identity = state.identity();
  if (identity === null) return;
  const { db } = state.database;
  for (const { contextId, epoch } of await owned(db, identity)) {
    if (!state.registry.has(contextId)) await release(db, { contextId, owner: identity, epoch }, 0, false);
  }
}
