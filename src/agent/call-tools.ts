/**
 * Runs the open calls of an answer, all at once. A `once` call is marked in a commit of its own immediately before it
 * begins. Results are appended as they come, those that end together in one.
 */
import { isToolUse } from '../core/blocks.ts';
import { OUTCOME_UNKNOWN, closingOf } from '../core/closing-words.ts';
import type { Step } from '../core/decide.ts';
import type { ActiveJob } from '../core/job.ts';
import { closeCalls, closedByRule, ended, startCall } from '../core/moves/tools.ts';
import type { ClosedCall } from '../core/moves/tools.ts';
import type { Json } from '../core/json.ts';
import type { Settings } from '../core/settings.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { ToolOutcome } from '../core/tool.ts';
import type { OpenCall } from '../core/tool-call.ts';
import { append, commit, follow, lookUp, reread } from './run.ts';
import type { After, Run } from './run.ts';
import { untilDeadline } from './until-deadline.ts';

/** Calls in flight, and those that ended since one last looked. */
class InFlight {
  readonly #ended: { call: OpenCall; outcome: ToolOutcome }[] = [];
  #running = 0;
  #wake = Promise.withResolvers<void>();

  add(call: OpenCall, work: Promise<ToolOutcome>): void {
    this.#running += 1;
    void work.then(
      (outcome) => this.#end(call, outcome),
      (error: unknown) => this.#end(call, brokenRunner(error)),
    );
  }

  /** Those that ended, once there are any; empty when none is left. */
  async next(): Promise<{ call: OpenCall; outcome: ToolOutcome }[]> {
    while (this.#ended.length === 0 && this.#running > 0) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers<void>();
    }
    return this.#ended.splice(0);
  }

  #end(call: OpenCall, outcome: ToolOutcome): void {
    this.#running -= 1;
    this.#ended.push({ call, outcome });
    // In the next round of the event loop, so that what ends together is appended together.
    setImmediate(() => this.#wake.resolve());
  }
}

/** Runners do not throw; one that does must not take the loop with it. */
function brokenRunner(error: unknown): ToolOutcome {
  const words = error instanceof Error ? error.message : String(error);
  return { kind: 'result', content: `The call could not be run: ${words}`, is_error: true };
}

export async function callTools(
  run: Run,
  snapshot: Snapshot,
  { job, settings, run: calls, unknown }: Extract<Step, { kind: 'call_tools' }>,
): Promise<After> {
  const lost = unknown.map((call) => closedByRule(call, OUTCOME_UNKNOWN));
  const told =
    lost.length === 0 ? snapshot : await commit(run, snapshot, closeCalls(snapshot, job, lost, run.ids));
  if (told === null || isWishedFor(told)) return told;
  const inFlight = new InFlight();
  const begun = await beginAll(run, told, job, settings, calls, inFlight);
  return collect(run, begun, job, inFlight);
}

/** Those that may be repeated first: they need no mark. Stops where a wish came in between. */
async function beginAll(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  settings: Settings,
  calls: readonly OpenCall[],
  inFlight: InFlight,
): Promise<Snapshot> {
  const begin = (call: OpenCall): void => {
    const granted = settings.tools.some((tool) => tool.name === call.name);
    const input = inputOf(snapshot, call);
    inFlight.add(
      call,
      granted ? execute(run, snapshot, job, call, input) : Promise.resolve(notGranted(call, settings)),
    );
  };
  for (const call of calls.filter(({ effect }) => effect !== 'once')) begin(call);
  let current = snapshot;
  for (const call of calls.filter(({ effect }) => effect === 'once')) {
    const marked = await mark(run, current, job, call);
    current = marked.snapshot;
    if (!marked.begun) break;
    begin(call);
  }
  return current;
}

/** What the model asked for, from the answer that did: one of the last messages, however long history is. */
function inputOf({ history }: Snapshot, { id, messageId }: OpenCall): Json {
  const answer = history.findLast((message) => message.id === messageId);
  return answer?.content.filter(isToolUse).find((use) => use.id === id)?.input ?? {};
}

/** A worker runs what it was given, whatever else its process knows. */
function notGranted(call: OpenCall, { tools }: Settings): ToolOutcome {
  const names = tools.map((tool) => tool.name).join(', ');
  const content = `There is no tool named ${call.name} here. ${names === '' ? 'There are no tools.' : `There are: ${names}.`}`;
  return { kind: 'result', content, is_error: true };
}

type Marked = { begun: boolean; snapshot: Snapshot };

/** Writes that a `once` call begins. Not begun: a wish came, the process stops, or nobody can say what was written. */
async function mark(run: Run, snapshot: Snapshot, job: ActiveJob, call: OpenCall): Promise<Marked> {
  let current = snapshot;
  while (!run.attention.hard.aborted && !run.attention.leaving && !isWishedFor(current)) {
    const move = startCall(current, call);
    const outcome = await append(run, move);
    if (outcome.kind === 'committed') {
      const after = (await follow(run, current, move, outcome)) ?? current;
      return isCalledUp(run, after) ? reconsider(run, after, job, call) : { begun: true, snapshot: after };
    }
    current = await reread(run, current, outcome);
    if (outcome.kind === 'in_doubt') break;
  }
  return { begun: false, snapshot: current };
}

/** Whether somebody spoke up since the mailbox was read. */
function isCalledUp(run: Run, snapshot: Snapshot): boolean {
  return run.attention.hard.aborted || isWishedFor(snapshot);
}

/** Between its mark and its beginning: a call that is wished to end is not begun, and is known not to have run. */
async function reconsider(run: Run, marked: Snapshot, job: ActiveJob, call: OpenCall): Promise<Marked> {
  const now = await lookUp(run, marked);
  if (!isWishedFor(now)) return { begun: true, snapshot: now };
  const never = closedByRule(call, closingOf({ ...call, status: 'pending' }));
  const closed = await commit(run, now, closeCalls(now, job, [never], run.ids));
  return { begun: false, snapshot: closed ?? now };
}

/** Somebody wants the job to end: what is in flight is ended, and the loop decides again. */
function isWishedFor({ job }: Snapshot): boolean {
  return job === null || job.wish !== null;
}

function execute(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  call: OpenCall,
  input: Json,
): Promise<ToolOutcome> {
  const signal = call.effect === 'once' ? run.attention.hard : run.attention.soft;
  return untilDeadline(run.clock, job, signal, (bounded) =>
    run.tools.execute(
      {
        id: call.id,
        name: call.name,
        input,
        jobId: job.id,
        workerId: snapshot.workerId,
        contextId: snapshot.lease.contextId,
        idempotencyKey: call.id,
      },
      bounded,
    ),
  );
}

/** Appends results until none is in flight. Whatever was aborted stays open: the next decision closes or repeats it. */
async function collect(run: Run, begun: Snapshot, job: ActiveJob, inFlight: InFlight): Promise<After> {
  let snapshot = begun;
  for (;;) {
    if (isWishedFor(snapshot)) run.attention.lookUp();
    const batch = await inFlight.next();
    if (batch.length === 0) break;
    const closed: ClosedCall[] = batch.flatMap(({ call, outcome }) =>
      outcome.kind === 'result' ? [ended(call, outcome)] : [],
    );
    if (closed.length === 0) continue;
    const after = await keepResults(run, snapshot, job, closed);
    if (after === null) return null;
    snapshot = after;
  }
  return snapshot.calls.length === 0 ? snapshot : lookUp(run, snapshot);
}

/** Results in hand are not lost with a commit that was in doubt: those that are still open are closed again. */
async function keepResults(
  run: Run,
  snapshot: Snapshot,
  job: ActiveJob,
  closed: readonly ClosedCall[],
): Promise<After> {
  const move = closeCalls(snapshot, job, closed, run.ids);
  const outcome = await append(run, move);
  if (outcome.kind === 'committed') return follow(run, snapshot, move, outcome);
  const now = await reread(run, snapshot, outcome);
  const open = closed.filter(({ call }) => now.calls.some(({ id }) => id === call.id));
  if (now.job?.id !== job.id || open.length === 0) return now;
  return commit(run, now, closeCalls(now, now.job, open, run.ids));
}
