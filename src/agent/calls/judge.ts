/**
 * Checks calls before they run: rules first, then the tool itself. One append lets the calls that need approval wait
 * and closes the forbidden ones; the rest can run. Nothing was started before, so after a crash the check is simply
 * repeated.
 */
import { letCallsWait, type WaitingCall } from '../../core/transitions/approval.ts';
import { parseQuestion } from '../../core/conversation/question.ts';
import { ruleOn } from '../../core/run/policy.ts';
import { askedWait } from '../../core/run/wait.ts';
import { sleepFrom } from '../../core/run/sleep.ts';
import type { ServedJob, Snapshot } from '../../core/run/snapshot.ts';
import type { AnsweredBy } from '../../core/tools/tool.ts';
import type { OpenCall } from '../../core/tools/tool-call.ts';
import { inputOf, toInvocation } from './invocation.ts';
import { append, follow, reread, type After, type Run } from '../run.ts';

/**
 * `free`: the calls that may run; `after`: the snapshot to continue with. If the rules changed meanwhile, `free` is
 * null and the loop decides again.
 */
type Judged = { free: readonly OpenCall[] | null; after: After };

/** `calls`: only calls of granted tools. */
export async function judgeCalls(
  run: Run,
  snapshot: Snapshot,
  served: ServedJob,
  calls: readonly OpenCall[],
): Promise<Judged> {
  const judged = await Promise.all(calls.map((call) => judgeCall(run, snapshot, served, call)));
  const waiting = judged.filter((one) => one !== null);
  if (waiting.length === 0) return { free: calls, after: snapshot };
  const transition = letCallsWait(snapshot, served.job, waiting);
  const outcome = await append(run, transition);
  if (outcome.kind !== 'committed') return { free: null, after: await reread(run, snapshot, outcome) };
  const free = calls.filter((_, at) => judged[at] === null);
  return { free, after: await follow(run, snapshot, transition, outcome) };
}

/** Null: it runs. An approved call is not checked again. */
async function judgeCall(
  run: Run,
  snapshot: Snapshot,
  { job, settings: { tools, asking } }: ServedJob,
  call: OpenCall,
): Promise<WaitingCall | null> {
  const answeredBy = tools.find(({ name }) => name === call.name)?.answered_by ?? 'tool';
  const input = inputOf(snapshot, call);
  const isApproved = call.approval?.decision === 'approve';
  const request = { call, input, answeredBy };
  const decision = isApproved
    ? 'never'
    : await run.tools.judge(toInvocation(snapshot, job, call, input), ruleOn(asking.rules, call.name));
  const now = run.clock.now();
  switch (decision) {
    case 'deny':
      return { ...request, wait: null };
    case 'always':
      return { ...request, wait: askedWait('approval', asking, now) };
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
