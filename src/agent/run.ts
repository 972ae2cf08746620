/** One run of one context under one lease: its ports, and the two ways a snapshot comes to be. */
import { apply } from '../core/apply.ts';
import type { Append, AppendOutcome } from '../core/append.ts';
import type { Memory } from '../core/compaction/compacted.ts';
import { LeaseLost } from '../core/errors.ts';
import type { JobCode } from '../core/errors.ts';
import type { Fingerprint, Sent } from '../core/fingerprint.ts';
import type { Access } from '../core/throttle.ts';
import type { JobId, RunIds, ToolCallId } from '../core/ids.ts';
import type { ActiveJob } from '../core/job.ts';
import type { AnswerId } from '../core/partial-message.ts';
import type { Message } from '../core/message.ts';
import type { ModelAnswer, ModelListener, ModelOutcome, ProviderName } from '../core/model.ts';
import type { CallTimes } from '../core/model-call.ts';
import { isRead } from '../core/transitions/steer.ts';
import type { ClosedCall } from '../core/transitions/tools.ts';
import type { PromptMessage } from '../core/prompt.ts';
import type { Settings } from '../core/settings.ts';
import type { Lease, Snapshot } from '../core/snapshot.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { ToolOutcome, ToolRunner } from '../core/tool.ts';
import type { RunSignals } from './run-signals.ts';
import type { Team } from './team.ts';

/**
 * `in_doubt`: the connection broke or went silent, so it may have been committed, or may yet be. It is never sent again:
 * what is stored tells, once nothing can be added to it any more.
 */
export type JournalOutcome = AppendOutcome | { kind: 'in_doubt' };

/** The durable side of a run. Reads wait out a database that is away; they throw `LeaseLost` once it is lost. */
export type Journal = {
  append(append: Append): Promise<JournalOutcome>;
  /** The visible messages of the job that runs, those too that are not remembered any more. */
  added(snapshot: Snapshot): Promise<Message[]>;
  /** The mailbox as it is now, beside the history that is known. */
  reload(known: Snapshot): Promise<Snapshot>;
  /**
   * After an append whose commit is in doubt: raises the epoch of the lease, so that what may still be under way can
   * commit no more, and then reads all that is stored.
   */
  recover(lease: Lease): Promise<Snapshot>;
};

export type RunPorts = {
  journal: Journal;
  /** Asks for a call that begins now. Null: this process has no key for it. */
  model(provider: ProviderName): Access | null;
  tools: ToolRunner;
  team: Team;
  clock: Clock;
  /** What is told of a call later; the tools of it are kept meanwhile. */
  fingerprint(sent: Sent, memory: Memory): Fingerprint;
  ids: RunIds;
  /** In [0, 1). */
  random(): number;
  /** Hears of an answer as it streams in. */
  listener(of: AnswerId): AnswerListener;
  log: RunLog;
};

export type Early = {
  /** The call of exactly this snapshot, once; `heardBy` hears of it from its beginning. Null: it is not that one. */
  take(snapshot: Snapshot, listener: AnswerListener): UnderWay | null;
};

/** A model call; `times` are told once it has ended. */
export type UnderWay = { outcome: Promise<ModelOutcome>; times: () => CallTimes; prompt: Fingerprint };

export type CallUnderWay = { beganAt: Millis; outcome: Promise<ToolOutcome> };

/** Calls that begin before their answer is kept (see `LightCalls`). */
export type EagerPort = {
  /** Begins those of an answer that is about to be kept. What ended within a moment. */
  begin(asked: Asked): Promise<ClosedCall[]>;
  /** One that goes on, or has ended and was not kept; whoever takes it waits for it. Null: it was not begun. */
  take(id: ToolCallId): CallUnderWay | null;
  /** Ends those that nobody took. */
  drop(): void;
};

/** An answer that is about to be kept: `said` keeps it, and asks for the calls. */
export type Asked = {
  snapshot: Snapshot;
  job: ActiveJob;
  settings: Settings;
  given: ModelAnswer;
  said: Append;
};

/** `ended`: the model has said all (`isWhole`), or will say no more of it. */
export type AnswerListener = ModelListener & { ended(isWhole: boolean): void };

/** What a run tells its log; ids are bound by whoever gives it. */
export type RunLog = {
  step(kind: string, facts: Record<string, string | number | boolean | null>): void;
  /** The step that was begun last has ended, whatever it came to. */
  stepped(kind: string, ms: number): void;
  prompt(jobId: JobId, messages: readonly PromptMessage[]): void;
  /** A model call failed and is made again. */
  retry(jobId: JobId, code: JobCode): void;
};

export type Run = RunPorts & {
  signals: RunSignals;
  /** The model call that was sent with the claim. */
  early: Early | null;
  eager: EagerPort;
};

/** What a step leaves: the snapshot to decide on next, or null when the context was given back. */
export type After = Snapshot | null;

/** Commits an append and goes on with what then stands. Stale or in doubt: nothing is sent again, only read. */
export async function commit(run: Run, snapshot: Snapshot, transition: Append): Promise<After> {
  const outcome = await append(run, transition);
  return outcome.kind === 'committed'
    ? follow(run, snapshot, transition, outcome)
    : reread(run, snapshot, outcome);
}

export async function append(run: Run, transition: Append): Promise<JournalOutcome> {
  if (run.signals.lost) throw new LeaseLost();
  return run.journal.append(transition);
}

/**
 * After a commit: given back, or in step; read anew where others wrote meanwhile, where the queue's next is unknown, or where
 * inputs are still to be read.
 */
export async function follow(
  run: Run,
  snapshot: Snapshot,
  transition: Append,
  outcome: Extract<AppendOutcome, { kind: 'committed' }>,
): Promise<After> {
  if (transition.park !== null) return null;
  const next = apply(snapshot, transition, outcome);
  const settled = transition.job?.kind === 'settle';
  const isWhole = next.steers.every(isRead);
  return settled || !isWhole || outcome.controlSeq !== snapshot.controlSeq ? lookUp(run, next) : next;
}

/** After an append that did not take, or may not have. */
export async function reread(
  run: Run,
  snapshot: Snapshot,
  outcome: Exclude<JournalOutcome, { kind: 'committed' }>,
): Promise<Snapshot> {
  if (outcome.kind === 'in_doubt') return readAll(run, snapshot);
  run.signals.renew();
  return seen(run, await run.journal.reload(snapshot));
}

/** Reads mailbox and history, under the next epoch: an append that is still under way can commit no more. */
export async function readAll(run: Run, { lease }: Snapshot): Promise<Snapshot> {
  run.signals.renew();
  return seen(run, await run.journal.recover(lease));
}

/** Reads the mailbox; history is known. */
export async function lookUp(run: Run, snapshot: Snapshot): Promise<Snapshot> {
  if (run.signals.lost) throw new LeaseLost();
  run.signals.renew();
  return seen(run, await run.journal.reload(snapshot));
}

/** What was just read is no news to the run any more. */
export function seen(run: Run, snapshot: Snapshot): Snapshot {
  run.signals.saw(snapshot.controlSeq);
  return snapshot;
}
