/**
 * Calls without side effects start before the answer that requests them is stored. Those that end within 5 ms are
 * stored with the answer in one append; the others keep running and are picked up when the answer's calls run. If the
 * process dies in between, the answer was not stored: the model is called again, and nothing else had happened.
 */
import { callsAfter } from '../../core/run/apply.ts';
import type { ToolCallId } from '../../core/ids.ts';
import { ended, type ClosedCall } from '../../core/transitions/tools.ts';
import { ruleOn } from '../../core/run/policy.ts';
import type { Settings } from '../../core/workers/settings.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { OpenCall } from '../../core/tools/tool-call.ts';
import type { RunSignals } from '../run-signals.ts';
import { executeCall, type ExecutionPorts } from './execute-call.ts';
import { inputIn, toInvocation } from './invocation.ts';
import type { UnstoredAnswer, CallUnderWay, EagerPort } from '../run.ts';

/** How long an answer waits for these calls, in milliseconds: about as long as a separate append would take. */
const SHORT_WAIT_MS = 5;

type Begun = CallUnderWay & { end(): void };

/** The eager calls of a run, for one answer at a time. */
export class EagerCalls implements EagerPort {
  readonly #underWay = new Map<ToolCallId, Begun>();
  readonly #ports: ExecutionPorts;
  readonly #signals: RunSignals;
  /**
   * A process that died on this job may have died because of such a call. Then the first answer is stored before any
   * of its calls run.
   */
  #storesFirst: boolean;

  /** `first`: the snapshot that the run starts with. */
  constructor(ports: ExecutionPorts, signals: RunSignals, first: Snapshot) {
    this.#ports = ports;
    this.#signals = signals;
    this.#storesFirst = first.failedClaims > 0 || (first.job !== null && first.job.attempt > 1);
  }

  async begin(unstored: UnstoredAnswer): Promise<ClosedCall[]> {
    const storesFirst = this.#storesFirst;
    this.#storesFirst = false;
    const { leaving, soft } = this.#signals;
    if (storesFirst || leaving || soft.aborted) return [];
    const calls = eagerOnes(callsAfter([], unstored.answerAppend), unstored.settings);
    if (calls.length === 0) return [];
    const shortWait = new ShortWait();
    const closed: ClosedCall[] = [];
    const work = calls.map(async (call) => {
      const end = await this.#carryOut(unstored, call, soft, shortWait);
      if (end !== null) closed.push(end);
    });
    await shortWait.waitFor(Promise.all(work));
    return closed;
  }

  take(id: ToolCallId): CallUnderWay | null {
    const call = this.#underWay.get(id) ?? null;
    this.#underWay.delete(id);
    return call;
  }

  drop(): void {
    for (const call of this.#underWay.values()) call.end();
    this.#underWay.clear();
  }

  /** Null: the call was not started, is still running, or was aborted. */
  async #carryOut(
    unstored: UnstoredAnswer,
    call: OpenCall,
    soft: AbortSignal,
    shortWait: ShortWait,
  ): Promise<ClosedCall | null> {
    const { tools, clock } = this.#ports;
    const { snapshot, job, settings, given } = unstored;
    const invocation = toInvocation(snapshot, job, call, inputIn(given.content, call.id));
    // A call whose check fails is left to the normal execution.
    const decision = await tools.judge(invocation, ruleOn(settings.asking.rules, call.name)).catch(() => null);
    if ((decision !== 'never' && decision !== 'fails') || shortWait.isOver) return null;
    const own = new AbortController();
    const beganAt = clock.now();
    const judged = decision === 'fails' ? { ...invocation, mustFail: true as const } : invocation;
    const outcome = executeCall(this.#ports, { snapshot, job }, judged, AbortSignal.any([soft, own.signal]));
    let isOver = false;
    const end = (): void => {
      // An abort creates an error with its stack, which costs more than a short call.
      if (!isOver) own.abort();
    };
    this.#underWay.set(call.id, { beganAt, outcome, end });
    const came = await outcome;
    isOver = true;
    if (shortWait.isOver) return null;
    if (came.kind === 'result') return ended(call, came, beganAt);
    this.#underWay.delete(call.id);
    return null;
  }
}

class ShortWait {
  isOver = false;

  /** Until `work` has ended, or the time is up. */
  async waitFor(work: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SHORT_WAIT_MS);
    });
    await Promise.race([work, over]);
    clearTimeout(timer);
    this.isOver = true;
  }
}

/**
 * Pending calls without side effects whose result comes from a tool, up to the first call that is different: a later
 * call may depend on its effect.
 */
function eagerOnes(calls: readonly OpenCall[], { tools }: Settings): OpenCall[] {
  const isEager = ({ name, effect, status }: OpenCall): boolean =>
    status === 'pending' && effect === 'none' && tools.find((tool) => tool.name === name)?.answered_by === 'tool';
  const heavy = calls.findIndex((call) => !isEager(call));
  return heavy < 0 ? [...calls] : calls.slice(0, heavy);
}
