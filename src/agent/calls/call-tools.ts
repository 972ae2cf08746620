/**
 * Runs the open calls of an answer concurrently. A `once` call is marked in its own commit immediately before it
 * starts. A call without side effects may have started before its answer was stored. Results are appended as they
 * arrive; those that arrive together share one append.
 */
import { closingOf } from '../../core/conversation/closing-texts.ts';
import type { ToolCallId } from '../../core/ids.ts';
import type { Decision } from '../../core/decide.ts';
import type { ActiveJob } from '../../core/run/job.ts';
import { closeCalls, closedByRule, ended, startCall, type ClosedCall } from '../../core/transitions/tools.ts';
import type { Settings } from '../../core/workers/settings.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import { EFFECTS, type ToolInvocation, type ToolOutcome } from '../../core/tools/tool.ts';
import { UNKNOWN_TOOL } from '../../core/tools/tool-use.ts';
import type { Millis } from '../../core/time.ts';
import type { OpenCall } from '../../core/tools/tool-call.ts';
import { engageWorkers } from './engage.ts';
import { executeCall } from './execute-call.ts';
import { inputOf, toInvocation } from './invocation.ts';
import { judgeCalls } from './judge.ts';
import { reconcile } from './reconcile.ts';
import {
  append,
  commit,
  commitResult,
  follow,
  readMailbox,
  reread,
  type After,
  type CallUnderWay,
  type Run,
} from '../run.ts';

type Ended = { call: OpenCall; beganAt: Millis | null; outcome: ToolOutcome };

/** Calls in flight, and calls that ended since the last read. */
class InFlight {
  readonly #ended: Ended[] = [];
  #running = 0;
  #wake = Promise.withResolvers<void>();

  /** `beganAt` null: the call does not run. `work` never rejects. */
  add(call: OpenCall, beganAt: Millis | null, work: Promise<ToolOutcome>): void {
    this.#running += 1;
    void work.then((outcome) => this.#end({ call, beganAt, outcome }));
  }

  /** The calls that ended, as soon as there are any; empty if none is left. */
  async next(): Promise<Ended[]> {
    while (this.#ended.length === 0 && this.#running > 0) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers<void>();
    }
    return this.#ended.splice(0);
  }

  #end(ended: Ended): void {
    this.#running -= 1;
    this.#ended.push(ended);
    // In the next turn of the event loop, so that calls that end together are appended together.
    setImmediate(() => this.#wake.resolve());
  }
}

type CallTools = Extract<Decision, { kind: 'call_tools' }>;

export async function callTools(run: Run, snapshot: Snapshot, step: CallTools): Promise<After> {
  const { job, settings, run: calls, unknown } = step;
  if (unknown.length > 0) return reconcile(run, snapshot, job, unknown);
  const offered = calls.filter((call) => isOffered(call, settings));
  const { free, failing, after } = await judgeCalls(run, snapshot, step, offered);
  if (after === null || free === null || isStopRequested(after)) return after;
  const { snapshot: engaged, left } = await engageWorkers(run, after, step, free);
  if (left === null || isStopRequested(engaged)) return engaged;
  const inFlight = new InFlight();
  for (const call of calls) {
    if (!isOffered(call, settings)) inFlight.add(call, null, Promise.resolve(notOffered(call, settings)));
  }
  const begun = await beginAll(run, engaged, { job, calls: left, failing }, inFlight);
  return collect(run, begun, job, inFlight);
}

/** Repeatable calls start first, because they need no mark. Stops if a stop request arrives in between. */
async function beginAll(
  run: Run,
  snapshot: Snapshot,
  { job, calls, failing }: { job: ActiveJob; calls: readonly OpenCall[]; failing: ReadonlySet<ToolCallId> },
  inFlight: InFlight,
): Promise<Snapshot> {
  const begin = (call: OpenCall): void => {
    const { beganAt, outcome } =
      run.eager.take(call.id) ?? execute(run, snapshot, job, { call, mustFail: failing.has(call.id) });
    inFlight.add(call, beganAt, outcome);
  };
  for (const call of calls.filter(({ effect }) => effect !== 'once')) begin(call);
  run.eager.drop();
  let current = snapshot;
  for (const call of calls.filter(({ effect }) => effect === 'once')) {
    const marked = await mark(run, current, job, call);
    current = marked.snapshot;
    if (!marked.begun) break;
    begin(call);
  }
  return current;
}

/**
 * A worker runs only tools it was given, even if its process knows more. A tool whose effect is now stronger than
 * when the call was requested does not run either: the `once` mark and repeats depend on the effect stored with the
 * call.
 */
function isOffered({ name, effect }: OpenCall, { tools }: Settings): boolean {
  const tool = tools.find((one) => one.name === name);
  return tool !== undefined && EFFECTS.indexOf(tool.effect) <= EFFECTS.indexOf(effect);
}

function notOffered(call: OpenCall, { tools, mode }: Settings): ToolOutcome {
  if (tools.some((tool) => tool.name === call.name)) {
    const content = `The tool ${call.name} was not available, or was a different tool, when it was called. Nothing was run. It can be called now.`;
    return { kind: 'result', content, is_error: true };
  }
  const names = tools.map((tool) => tool.name).join(', ');
  const which = mode === 'plan' ? ' in plan mode: tools with side effects are not offered' : '';
  const content = `There is no tool named ${call.name}${which}. ${names === '' ? 'No tools are available.' : `Available tools: ${names}.`}`;
  return { kind: 'result', content, is_error: true, code: UNKNOWN_TOOL };
}

type Marked = { begun: boolean; snapshot: Snapshot };

/**
 * Writes the mark that a `once` call starts. Not started: a stop request arrived, the process stops, or the write is
 * in doubt.
 */
async function mark(run: Run, snapshot: Snapshot, job: ActiveJob, call: OpenCall): Promise<Marked> {
  let current = snapshot;
  while (!run.signals.hard.aborted && !run.signals.leaving && !isStopRequested(current)) {
    const transition = startCall(current, call);
    const outcome = await append(run, transition);
    if (outcome.kind === 'committed') {
      const after = (await follow(run, current, transition, outcome)) ?? current;
      return mustReconsider(run, after) ? reconsider(run, after, job, call) : { begun: true, snapshot: after };
    }
    current = await reread(run, current, outcome);
    if (outcome.kind === 'in_doubt') break;
  }
  return { begun: false, snapshot: current };
}

/** Whether a control signal or a stop request arrived since the mailbox was read. */
function mustReconsider(run: Run, snapshot: Snapshot): boolean {
  return run.signals.hard.aborted || isStopRequested(snapshot);
}

/** After its mark and before its start: a call of a job that must stop is not started, and is known not to have run. */
async function reconsider(run: Run, marked: Snapshot, job: ActiveJob, call: OpenCall): Promise<Marked> {
  const now = await readMailbox(run, marked);
  if (!isStopRequested(now)) return { begun: true, snapshot: now };
  const never = closedByRule({ ...call, status: 'started' }, closingOf({ ...call, status: 'pending' }));
  const closed = await commit(run, now, closeCalls(now, job, [never]));
  return { begun: false, snapshot: closed ?? now };
}

/** The job must stop: calls in flight are aborted, and the loop decides again. */
function isStopRequested({ job }: Snapshot): boolean {
  return job === null || job.stopRequest !== null;
}

type Starting = { call: OpenCall; mustFail: boolean };

function execute(run: Run, snapshot: Snapshot, job: ActiveJob, { call, mustFail }: Starting): CallUnderWay {
  const signal = call.effect === 'once' ? run.signals.hard : run.signals.soft;
  const invocation: ToolInvocation = {
    ...toInvocation(snapshot, job, call, inputOf(snapshot, call)),
    ...(mustFail && { mustFail }),
  };
  return { beganAt: run.clock.now(), outcome: executeCall(run, { snapshot, job }, invocation, signal) };
}

/** Appends results until no call is in flight. Aborted calls stay open: the next decision closes or repeats them. */
async function collect(run: Run, begun: Snapshot, job: ActiveJob, inFlight: InFlight): Promise<After> {
  let snapshot = begun;
  for (;;) {
    if (isStopRequested(snapshot)) run.signals.notify();
    const batch = await inFlight.next();
    if (batch.length === 0) break;
    const closed: ClosedCall[] = batch.flatMap(({ call, beganAt, outcome }) =>
      outcome.kind === 'result' ? [ended(call, outcome, beganAt)] : [],
    );
    if (closed.length === 0) continue;
    const after = await keepResults(run, snapshot, job, closed);
    if (after === null) return null;
    snapshot = after;
  }
  return snapshot.calls.length === 0 ? snapshot : readMailbox(run, snapshot);
}

/** Results are not lost if a commit is in doubt: calls that are still open afterwards are closed again. */
async function keepResults(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  closed: readonly ClosedCall[],
): Promise<After> {
  return commitResult(run, snapshot, closeCalls(snapshot, job, closed), (now) => {
    const open = closed.filter(({ call }) => now.calls.some(({ id }) => id === call.id));
    return now.job?.id !== job.id || open.length === 0 ? null : closeCalls(now, now.job, open);
  });
}
