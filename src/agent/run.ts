/** One run of one context under one lease: its ports, and the functions that produce a new snapshot. */
import { apply } from '../core/run/apply.ts';
import type { Append, AppendOutcome, Committed } from '../core/run/append.ts';
import type { Memory } from '../core/compaction/compacted.ts';
import { LeaseLost, type JobCode } from '../core/errors.ts';
import type { Fingerprint, Sent } from '../core/model/fingerprint.ts';
import type { CheckOutput } from '../core/run/output.ts';
import type { Access } from '../core/run/throttle.ts';
import type { JobId, RunIds, ToolCallId } from '../core/ids.ts';
import type { ActiveJob } from '../core/run/job.ts';
import type { AnswerId } from '../core/stream/partial-message.ts';
import type { Message } from '../core/conversation/message.ts';
import type { ModelAnswer, ModelListener, ModelName, ModelOutcome } from '../core/model/model.ts';
import type { CallTimes } from '../core/model/model-call.ts';
import { isRead } from '../core/transitions/steer.ts';
import type { ClosedCall } from '../core/transitions/tools.ts';
import type { PromptMessage } from '../core/conversation/prompt.ts';
import type { Settings } from '../core/workers/settings.ts';
import type { Lease, Snapshot } from '../core/run/snapshot.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { OpenReport } from '../core/tools/report.ts';
import type { CallServices, ToolInvocation, ToolOutcome, ToolRunner } from '../core/tools/tool.ts';
import type { RunSignals } from './run-signals.ts';
import type { Team } from './calls/team.ts';
import type { AbortedCall } from './model/aborted-call.ts';

/**
 * `in_doubt`: the connection broke or timed out, so the append may have committed or may still commit. It is never
 * sent again: the stored data shows the result once the old append can no longer commit.
 */
export type JournalOutcome = AppendOutcome | { kind: 'in_doubt' };

/**
 * The durable side of a run. Reads wait for a database that is unavailable; they throw `LeaseLost` once the lease is
 * lost.
 */
export type Journal = {
  append(append: Append): Promise<JournalOutcome>;
  /** The visible messages of the running job, including those that are no longer in memory. */
  added(snapshot: Snapshot): Promise<Message[]>;
  /** The current mailbox, combined with the known history. */
  reload(known: Snapshot): Promise<Snapshot>;
  /**
   * After an append in doubt: raises the epoch of the lease, so that an append still in flight can no longer commit,
   * and then reads everything.
   */
  recover(lease: Lease): Promise<Snapshot>;
};

export type RunPorts = {
  journal: Journal;
  /** Requests access for a call that starts now. Null: this process has no key for the provider. */
  model(name: ModelName): Access | null;
  tools: ToolRunner;
  /** Takes what a tool reports while it runs. */
  report(call: ToolInvocation): OpenReport;
  /** The durable steps of a call, what it starts, and its transaction. `snapshot`: of its run. */
  durable(call: ToolInvocation, snapshot: Snapshot): Omit<CallServices, 'report'>;
  team: Team;
  /** The tools among these whose calls a person has approved in advance, in this context. */
  grants(tools: readonly string[]): Promise<ReadonlySet<string>>;
  /** Checks an answer that must match a schema. */
  checkOutput: CheckOutput;
  clock: Clock;
  /** Waits for `ms` by that clock; ends early when the signal is aborted. Never rejects. */
  pause(ms: Millis, signal: AbortSignal): Promise<void>;
  /** The fingerprint of a call, stored later. The port also keeps the call's tools until then. */
  fingerprint(sent: Sent, memory: Memory): Fingerprint;
  ids: RunIds;
  /** In [0, 1). */
  random(): number;
  /** Receives an answer as it streams in. */
  listener(of: AnswerId): AnswerListener;
  /** Whether the context should be released between two jobs, because another tenant or user waits for a slot. */
  yields(): boolean;
  log: RunLog;
};

/** The model call that was sent with the claim. One that is not taken must be dropped. */
export type Early = {
  /**
   * The call of exactly this snapshot, once; `listener` receives its stream from the beginning. Null: it is for
   * another snapshot.
   */
  take(snapshot: Snapshot, listener: AnswerListener): UnderWay | null;
  /** Aborts the call if it was not taken. */
  drop(): void;
};

/** A model call in flight; `times` and `text`, what it streamed, are valid once it has ended. */
export type UnderWay = {
  outcome: Promise<ModelOutcome>;
  times: () => CallTimes;
  text: () => string;
  prompt: Fingerprint;
};

export type CallUnderWay = { beganAt: Millis; outcome: Promise<ToolOutcome> };

/** Calls that start before their answer is stored (see `EagerCalls`). */
export type EagerPort = {
  /** Starts the calls of an answer that is about to be stored. Returns those that ended in time. */
  begin(unstored: UnstoredAnswer): Promise<ClosedCall[]>;
  /** A call that is still running, or ended without being stored; the caller awaits it. Null: it was not started. */
  take(id: ToolCallId): CallUnderWay | null;
  /** Aborts the calls that were not taken. */
  drop(): void;
};

/** An answer that is about to be stored: `answerAppend` is the append that stores it and its calls. */
export type UnstoredAnswer = {
  snapshot: Snapshot;
  job: ActiveJob;
  settings: Settings;
  given: ModelAnswer;
  answerAppend: Append;
};

/** `ended`: the answer is complete (`isWhole`), or the call ended without one. */
export type AnswerListener = ModelListener & { ended(isWhole: boolean): void };

/** Log entries of a run; the caller binds the ids. */
export type RunLog = {
  step(kind: string, facts: Record<string, string | number | boolean | null>): void;
  /** The last step has ended, with any result. */
  stepped(kind: string, ms: number): void;
  prompt(jobId: JobId, messages: readonly PromptMessage[]): void;
  /** A model call failed and will be retried. */
  retry(jobId: JobId, code: JobCode): void;
};

export type Run = RunPorts & {
  signals: RunSignals;
  /** Null: no model call was sent with the claim. */
  early: Early | null;
  eager: EagerPort;
  aborted: AbortedCall;
};

/** The result of a step: the next snapshot, or null when the context was released. */
export type After = Snapshot | null;

/**
 * Commits an append and continues with the resulting state. Stale or in doubt: nothing is sent again; the state is
 * read.
 */
export async function commit(run: Run, snapshot: Snapshot, transition: Append): Promise<After> {
  return commitResult(run, snapshot, transition, () => null);
}

/**
 * Commits an append that still counts if another process wrote meanwhile: then `again` gives the append for the state
 * that was read; null: there is nothing to add. In doubt: the first append cannot commit any more, so that state shows
 * whether it did.
 */
export async function commitResult(
  run: Run,
  snapshot: Snapshot,
  transition: Append,
  again: (now: Snapshot) => Append | null,
): Promise<After> {
  const outcome = await append(run, transition);
  if (outcome.kind === 'committed') return follow(run, snapshot, transition, outcome);
  const now = await reread(run, snapshot, outcome);
  const repeated = again(now);
  return repeated === null ? now : commit(run, now, repeated);
}

export async function append(run: Run, transition: Append): Promise<JournalOutcome> {
  if (run.signals.lost) throw new LeaseLost();
  return run.journal.append(transition);
}

/**
 * After a commit: null if the context was released, otherwise the updated snapshot. The mailbox is read again if
 * another process wrote meanwhile, if the next queued job is unknown, or if inputs are still to be read.
 */
export async function follow(run: Run, snapshot: Snapshot, transition: Append, outcome: Committed): Promise<After> {
  if (transition.park !== null) return null;
  const next = apply(snapshot, transition, outcome);
  const settled = transition.job?.kind === 'settle';
  const isWhole = next.steers.every(isRead);
  return settled || !isWhole || outcome.controlSeq !== snapshot.controlSeq ? readMailbox(run, next) : next;
}

/** After an append that did not commit, or may not have. */
export async function reread(
  run: Run,
  snapshot: Snapshot,
  outcome: Exclude<JournalOutcome, Committed>,
): Promise<Snapshot> {
  if (outcome.kind === 'in_doubt') return readAll(run, snapshot);
  run.signals.renew();
  return seen(run, await run.journal.reload(snapshot));
}

/** Reads mailbox and history under the next epoch, so that an append still in flight can no longer commit. */
export async function readAll(run: Run, { lease }: Snapshot): Promise<Snapshot> {
  run.signals.renew();
  return seen(run, await run.journal.recover(lease));
}

/** Reads the mailbox; history is known. */
export async function readMailbox(run: Run, snapshot: Snapshot): Promise<Snapshot> {
  if (run.signals.lost) throw new LeaseLost();
  run.signals.renew();
  return seen(run, await run.journal.reload(snapshot));
}

/** Records the version that was just read, so that older control signals are ignored. */
export function seen(run: Run, snapshot: Snapshot): Snapshot {
  run.signals.markRead(snapshot.controlSeq);
  return snapshot;
}
