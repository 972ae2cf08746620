/** Handles one wake-up, or one context that a sweep found: claims the context, runs its loop, releases it. */
import pTimeout from 'p-timeout';
import type { RunSignals } from '../../agent/run-signals.ts';
import { EagerCalls } from '../../agent/calls/eager-calls.ts';
import { AbortedCall } from '../../agent/model/aborted-call.ts';
import { runLoop } from '../../agent/loop.ts';
import type { RunPorts } from '../../agent/run.ts';
import { pause } from '../../agent/waits/pause.ts';
import { dispatch } from '../../commands/after-commit.ts';
import { LeaseLost } from '../../core/errors.ts';
import { madeAt, type ContextId, type ProcessId } from '../../core/ids.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import { usesOf } from '../../core/tools/tool-use.ts';
import { findGrants } from '../../db/calls/grants.ts';
import { isUnavailable } from '../../db/connection/database-errors.ts';
import { postpone, release } from '../../db/run/contexts.ts';
import { createJournal, persist } from './journal.ts';
import { StreamPublisher } from './stream-publisher.ts';
import { DATABASE_TIMEOUT, isAway } from '../../db/batches/database-timeout.ts';
import type { Claim, Claimed, WorkerState } from '../process/ports.ts';
import type { Slot } from '../scheduling/slots.ts';
import { RunReports } from '../reports/run-reports.ts';
import { createCallStarts } from './calls/call-starts.ts';
import { createCallSteps, runningCall } from './calls/call-steps.ts';
import { createCallTransaction } from './calls/call-transaction.ts';
import { createRunLog } from './run-log.ts';
import { RunTrace } from './run-trace.ts';
import { createTeam } from './team.ts';

/** Delay before a context is claimed again after an internal error in its run, in milliseconds. */
const BROKEN_MS = 2_000;

/** What is known of a context before its claim (see `Claim`), and the slot that it runs in. */
type Known = Partial<Pick<Claim, 'isSuspect' | 'isNew'>> & { slot?: Slot };

/**
 * `noop`: there was nothing to claim. `here`: another run in this process has the context. `skipped`: this process cannot
 * serve it. `ended`: the claim ended its job.
 */
export type RunResult = 'ran' | 'noop' | 'here' | 'skipped' | 'ended';

/** Resolves when the run has ended, or at once if nothing was claimed. Never throws. The caller holds the slot. */
export async function runContext(state: WorkerState, contextId: ContextId, known: Known = {}): Promise<RunResult> {
  const { result, wasNotified } = await runOnce(state, contextId, known);
  const { slot } = known;
  // In a paused process others decide, and of a tenant with a limit of slots the list of runnable contexts.
  if (!wasNotified || slot?.takesTurns === true) return result;
  const again = await runContext(state, contextId, slot === undefined ? {} : { slot });
  return result === 'ran' ? result : again;
}

/**
 * `wasNotified`: a wake-up arrived meanwhile. It may be about work that came after this run, so the caller runs the
 * context again.
 */
type Ended = { result: RunResult; wasNotified: boolean };

async function runOnce(
  state: WorkerState,
  contextId: ContextId,
  { isSuspect = false, isNew = false, slot }: Known,
): Promise<Ended> {
  const owner = state.identity();
  if (owner === null) return { result: 'noop', wasNotified: false };
  const place = await state.registry.enter(contextId);
  if (place === null) return { result: 'here', wasNotified: false };
  const { signals } = place;
  const publisher = new StreamPublisher(state.bus, state.subscribers, { contextId, owner, clock: state.clock });
  const trace = new RunTrace(state.telemetry.tracing);
  const published: Published = {
    committed(transition, ...more) {
      trace.committed(transition);
      publisher.committed(transition, ...more);
      for (const ended of usesOf(transition, more[0].at)) state.metrics.use.ended(ended);
    },
  };
  const parts = { signals, publisher, published, owner, slot, trace };
  const portsFor = (snapshot: Snapshot) => portsOf(state, parts, snapshot);
  const tenantId = slot?.tenant ?? null;
  const claim: Claim = { contextId, tenantId, owner, isSuspect, isNew, signals, portsFor };
  let result: RunResult = 'noop';
  try {
    const claimed = await claimContext(state, claim, published);
    place.claimedAt = performance.now();
    result = resultOf(claimed);
    state.metrics.claim(claimed?.kind === 'opened' ? 'claimed' : 'noop');
    if (claimed?.kind === 'opened') {
      const { snapshot: first, early } = claimed;
      const { tenantId: tenant, user } = first.lease;
      place.tenantId = tenant;
      slot?.serve(tenant, user);
      const ports = portsFor(first);
      const eager = new EagerCalls(ports, signals, first);
      await runLoop({ ...ports, signals, early, eager, aborted: new AbortedCall() }, first);
    }
  } catch (error) {
    trace.fail(error instanceof LeaseLost ? 'lease_lost' : 'internal');
    if (error instanceof LeaseLost) state.metrics.leaseLost();
    else await giveUp(state, claim, error);
  } finally {
    publisher.close();
    trace.end();
    // Also aborts the model call of a claim that timed out.
    signals.lose();
  }
  return { result, wasNotified: place.leave() };
}

/** Learns of every append that committed. */
type Published = Pick<StreamPublisher, 'committed'>;
type Parts = {
  signals: RunSignals;
  publisher: StreamPublisher;
  owner: ProcessId;
  slot: Slot | undefined;
  trace: RunTrace;
  published: Published;
};

function portsOf(
  state: WorkerState,
  { signals, publisher, published, owner, slot, trace }: Parts,
  first: Snapshot,
): RunPorts {
  trace.open(first);
  const reports = new RunReports(state, publisher, owner, first.lease);
  return {
    journal: createJournal(state, signals, published, owner),
    model: (name) => trace.access(name, state.throttles.ask(name, first.lease.tenantId)),
    tools: trace.tools(state.abilities.tools),
    report: (call) => reports.open(call),
    durable: (invocation, snapshot) => {
      const call = runningCall(invocation, { owner, epoch: first.lease.epoch });
      return {
        steps: createCallSteps(state, signals, call),
        transaction: createCallTransaction(state, signals, call),
        starts: createCallStarts(
          state,
          signals,
          { ...call, traceParent: trace.traceParentOfCall(invocation) },
          snapshot,
        ),
      };
    },
    team: createTeam(state, signals, (job) => trace.traceParentOf(job)),
    grants: (tools) => persist(signals, () => findGrants(state.database.db, first.lease, tools)),
    checkOutput: state.abilities.checkOutput,
    clock: state.clock,
    pause,
    fingerprint: (sent, memory) => state.fingerprints.of(first.lease, sent, memory),
    ids: state.ids,
    random: () => state.random(),
    listener: (of) => publisher.listen(of),
    yields: () => slot?.yields() ?? false,
    log: createRunLog(state, first),
  };
}

function resultOf(claimed: Claimed | null): RunResult {
  if (claimed === null) return 'noop';
  return claimed.kind === 'opened' ? 'ran' : claimed.kind;
}

/** Null: the claim was a noop. */
async function claimContext(state: WorkerState, claim: Claim, published: Published): Promise<Claimed | null> {
  const { unsupported } = state.registry;
  const { contextId } = claim;
  const claimed = await state.claimer(claim);
  if (claimed === null) return null;
  if (claimed.kind === 'ended') dispatch(state, claimed.afterCommit);
  if (claimed.kind === 'skipped')
    unsupported.add({ contextId, ...claimed.mailbox }, claimed.at, claimed.mailbox.job?.deadline ?? null);
  else unsupported.delete(contextId);
  if (claimed.kind !== 'opened') return claimed;
  if (claimed.began !== null) {
    const { transition, outcome } = claimed.began;
    if (transition.job?.kind === 'admit') state.metrics.started(state.clock.now() - madeAt(transition.job.job.id));
    published.committed(transition, outcome, true);
  }
  return claimed;
}

/**
 * The run failed. Releases its lease once the database is available; if that fails too, a sweep finds the lease without
 * a run. A lost connection is not the context's fault. A timeout may be: its history may be too long.
 */
async function giveUp(state: WorkerState, { contextId, owner, signals }: Claim, error: unknown): Promise<void> {
  const log = state.log.child({ context_id: contextId });
  const { db } = state.database;
  if (isAway(error)) log.warn({ err: error }, 'lost the database during a claim or run');
  else log.error({ err: error }, 'a run failed with an internal error');
  const releaseOrPostpone = async (): Promise<void> => {
    const wasClaimed = await release(db, { contextId, owner, epoch: null }, BROKEN_MS, !isUnavailable(error));
    if (!wasClaimed && !isAway(error)) await postpone(db, contextId);
  };
  await pTimeout(persist(signals, releaseOrPostpone), DATABASE_TIMEOUT).catch(() => undefined);
}
