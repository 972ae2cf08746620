/** A worker in memory: runs the product's agent loop on a context in memory, and asks the people of the test. */
import { EagerCalls } from '../../agent/calls/eager-calls.ts';
import { inputOf } from '../../agent/calls/invocation.ts';
import type { Team } from '../../agent/calls/team.ts';
import { AbortedCall } from '../../agent/model/aborted-call.ts';
import { runLoop } from '../../agent/loop.ts';
import type { Run, RunPorts } from '../../agent/run.ts';
import { RunSignals } from '../../agent/run-signals.ts';
import type { ToolCallId } from '../../core/ids.ts';
import { createFingerprinter } from '../../core/model/fingerprint.ts';
import type { Model } from '../../core/model/model.ts';
import type { Millis } from '../../core/time.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { ToolRunner } from '../../core/tools/tool.ts';
import type { OpenCall } from '../../core/tools/tool-call.ts';
import { digest } from '../../db/model-calls/digest.ts';
import { ids } from '../../platform/ids.ts';
import { checkOutput } from '../../schema/output-schema.ts';
import type { VirtualClock } from './clock.ts';
import type { MemoryContext } from './context.ts';
import type { MemoryDurable } from './durable.ts';
import { toWaitingCall, type Awaited, type People, type WaitingCall } from './people.ts';
import { isAsleep, isUnanswered, isUndecided, writeDecision, writeReply } from './replies.ts';
import type { Reports } from './reports.ts';

const FINGERPRINTS = createFingerprinter(digest);

export type MemoryParts = {
  context: MemoryContext;
  clock: VirtualClock;
  model: Model;
  tools: ToolRunner;
  reports: Reports;
  durable: MemoryDurable;
  people: People;
  team: Team;
  /** Whether a run that waits has come to its end, since nothing will end its waits. */
  isAtEnd: (waiting: Snapshot) => boolean;
};

export class MemoryWorker {
  readonly #parts: MemoryParts;
  /** The calls about which the people were asked. */
  readonly #asked = new Set<ToolCallId>();

  constructor(parts: MemoryParts) {
    this.#parts = parts;
  }

  /** When its wait ends by itself; null: it does not wait, or without an end. */
  get waitsUntil(): Millis | null {
    const { context, isAtEnd } = this.#parts;
    return context.status === 'waiting' && !isAtEnd(context.current) ? context.until : null;
  }

  /** Runs until it waits or nothing is left to do. False: no work is due. */
  async runDue(): Promise<boolean> {
    const { context, clock } = this.#parts;
    const now = clock.now();
    if (!context.isDue(now)) return false;
    const first = context.claim(now);
    if (first !== null) await this.#run(first);
    return true;
  }

  async #run(first: Snapshot): Promise<void> {
    const signals = new RunSignals();
    const ports = portsOf(this.#parts);
    const run: Run = {
      ...ports,
      signals,
      early: null,
      eager: new EagerCalls(ports, signals, first),
      aborted: new AbortedCall(),
    };
    await runLoop(run, first);
    signals.lose();
  }

  /** Asks once about each call that waits. False: there is no new answer. */
  async askPeople(): Promise<boolean> {
    const { context, people } = this.#parts;
    if (context.status !== 'waiting') return false;
    const { current } = context;
    const calls = current.calls.filter(({ id }) => !this.#asked.has(id));
    let isAnswered = false;
    for (const call of calls) {
      const asked = waitingCall(current, call);
      if (isUndecided(call)) {
        const decision = await people.decide(asked);
        if (decision !== null) writeDecision(context, call, decision);
        isAnswered ||= decision !== null;
        // An approved call may ask a question of its own.
        if (decision === null) this.#asked.add(call.id);
      } else if (isUnanswered(call) || isAsleep(call)) {
        const reply = await (isAsleep(call) ? people.wake(asked) : people.answer(asked));
        if (reply !== null) writeReply(context, call, reply);
        isAnswered ||= reply !== null;
        this.#asked.add(call.id);
      }
    }
    return isAnswered;
  }
}

/** The open calls that wait for a person or a client. */
export function awaitedIn(current: Snapshot): Awaited[] {
  return current.calls.flatMap((call): Awaited[] => {
    if (isUndecided(call)) return [{ call: waitingCall(current, call), waits_for: 'approval' }];
    return isUnanswered(call) ? [{ call: waitingCall(current, call), waits_for: 'answer' }] : [];
  });
}

function waitingCall(current: Snapshot, call: OpenCall): WaitingCall {
  const { workerName: name, role } = current;
  return { ...toWaitingCall(call.id, call.name, inputOf(current, call)), worker: { name, role } };
}

/** No time ends what it waits for. */
export function isWithoutEnd({ calls, job }: Snapshot): boolean {
  return (
    calls.length > 0 && (job?.deadline ?? null) === null && calls.every(({ wait }) => (wait?.until ?? null) === null)
  );
}

function portsOf({ context, clock, model, tools, reports, durable, team }: MemoryParts): RunPorts {
  return {
    journal: context.journal,
    model: () => ({ kind: 'open', model }),
    tools,
    report: (call) => reports.open(call),
    durable: (call) => durable.open(call),
    team,
    grants: async () => new Set(),
    checkOutput,
    clock,
    pause: async (ms) => clock.skip(ms),
    fingerprint: (sent, memory) => FINGERPRINTS.of(sent, memory),
    ids,
    random: () => 0,
    listener: () => ({ started() {}, text() {}, thinking() {}, ended() {} }),
    yields: () => false,
    log: { step() {}, stepped() {}, prompt() {}, retry() {} },
  };
}
