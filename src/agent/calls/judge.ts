/**
 * Checks calls before they run: rules, the tool itself, and what a person has approved in advance. One append lets the
 * calls that need approval wait and closes the forbidden ones; the rest can run. Nothing was started before, so after a
 * crash the check is simply repeated.
 */
import { letCallsWait, type WaitingCall } from '../../core/transitions/approval.ts';
import { isApprovedByTimeout, isUndecided } from '../../core/transitions/waits.ts';
import type { ToolCallId } from '../../core/ids.ts';
import { parseQuestion } from '../../core/conversation/question.ts';
import { ruleOn } from '../../core/run/policy.ts';
import { askedWait, type EndedWaits } from '../../core/run/wait.ts';
import { sleepFrom } from '../../core/run/sleep.ts';
import type { ServedJob, Snapshot } from '../../core/run/snapshot.ts';
import type { AnsweredBy, ApprovalCheck, ToolDescriptor } from '../../core/tools/tool.ts';
import type { OpenCall } from '../../core/tools/tool-call.ts';
import { inputOf, toInvocation } from './invocation.ts';
import { append, follow, reread, type After, type Run } from '../run.ts';

/**
 * `free`: the calls that may run; `after`: the snapshot to continue with. If the rules changed meanwhile, `free` is
 * null and the loop decides again. `failing`: those of the free calls that fail, about which no person was asked.
 */
type Judged = { free: readonly OpenCall[] | null; failing: ReadonlySet<ToolCallId>; after: After };

/** `calls`: only calls of tools that the worker has. */
export async function judgeCalls(
  run: Run,
  snapshot: Snapshot,
  served: ServedJob,
  calls: readonly OpenCall[],
): Promise<Judged> {
  const decided = await decideAll(run, snapshot, served, calls);
  const judged = decided.map((one) => judgeCall(run, snapshot, served, one));
  const waiting = judged.filter((one) => one !== null);
  const failing = new Set(decided.flatMap(({ call, decision }) => (decision === 'fails' ? [call.id] : [])));
  if (waiting.length === 0) return { free: calls, failing, after: snapshot };
  const transition = letCallsWait(snapshot, served.job, waiting);
  const outcome = await append(run, transition);
  if (outcome.kind !== 'committed') return { free: null, failing, after: await reread(run, snapshot, outcome) };
  const free = calls.filter((_, at) => judged[at] === null);
  return { free, failing, after: await follow(run, snapshot, transition, outcome) };
}

type Decided = { call: OpenCall; decision: ApprovalCheck };

/** By the rules and the tools, and then by grants: they are read only for calls that would wait. */
async function decideAll(
  run: Run,
  snapshot: Snapshot,
  served: ServedJob,
  calls: readonly OpenCall[],
): Promise<Decided[]> {
  const decided = await Promise.all(
    calls.map(async (call): Promise<Decided> => ({ call, decision: await decide(run, snapshot, served, call) })),
  );
  const asked = new Set(decided.flatMap(({ call, decision }) => (decision === 'always' ? [call.name] : [])));
  if (asked.size === 0) return decided;
  const granted = await run.grants([...asked]);
  return decided.map(({ call, decision }) => ({
    call,
    decision: decision === 'always' && granted.has(call.name) ? 'never' : decision,
  }));
}

/**
 * An approved call is not checked again. About calls that a person, a client, workers or a timer answer the rules alone
 * decide: no code of a tool runs for them, and a tool of the platform may have the name of a client's.
 */
async function decide(
  run: Run,
  snapshot: Snapshot,
  { job, settings: { tools, asking } }: ServedJob,
  call: OpenCall,
): Promise<ApprovalCheck> {
  if (call.approval?.decision === 'approve') return 'never';
  const ruled = ruleOn(asking.rules, call.name);
  if (answererOf(tools, call) !== 'tool') return ruled ?? 'never';
  return run.tools.judge(toInvocation(snapshot, job, call, inputOf(snapshot, call)), ruled);
}

function answererOf(tools: readonly ToolDescriptor[], call: OpenCall): AnsweredBy {
  return tools.find(({ name }) => name === call.name)?.answered_by ?? 'tool';
}

/** Null: it runs. */
function judgeCall(
  run: Run,
  snapshot: Snapshot,
  { settings: { tools, asking } }: ServedJob,
  { call, decision }: Decided,
): WaitingCall | null {
  const answeredBy = answererOf(tools, call);
  const input = inputOf(snapshot, call);
  const request = { call, input, answeredBy };
  const now = run.clock.now();
  switch (decision) {
    case 'deny':
      return { ...request, wait: null };
    case 'always':
      return { ...request, wait: askedWait('approval', asking, now) };
    case 'fails':
      return null;
    case 'never': {
      const wait = isAnsweredOutside(answeredBy, input)
        ? askedWait('answer', asking, now)
        : answeredBy === 'timer'
          ? sleepFrom(input, now)
          : null;
      return wait === null ? null : { ...request, wait };
    }
  }
}

/** A call to ask a person without a valid question runs: its tool returns an error. */
function isAnsweredOutside(answeredBy: AnsweredBy, input: WaitingCall['input']): boolean {
  return answeredBy === 'client' || (answeredBy === 'person' && parseQuestion(input) !== null);
}

/**
 * The calls whose approval timed out and that the timeout approves: they waited because of a rule, and none denies them
 * now. Not those of a tool that asks itself or decides for each call: its answer may be another one by now.
 */
export function approvedByTimeout(run: Run, snapshot: Snapshot, { job, over }: EndedWaits): ReadonlySet<ToolCallId> {
  const { serving } = snapshot;
  if (serving.kind !== 'served' || !isApprovedByTimeout(snapshot)) return new Set();
  const { tools, asking } = serving.settings;
  const approved = over.filter((call) => {
    const tool = tools.find(({ name }) => name === call.name);
    if (!isUndecided(call) || tool === undefined || ruleOn(asking.rules, call.name) === 'deny') return false;
    return tool.answered_by !== 'tool' || !run.tools.mayAsk(toInvocation(snapshot, job, call, inputOf(snapshot, call)));
  });
  return new Set(approved.map(({ id }) => id));
}
