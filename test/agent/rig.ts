// The loop over ports in memory. Every call of a port is a moment, counted from 1; at one of them something may happen:
// the process dies (the call never returns), an append is refused or lost, somebody cancels, the process has to leave.
import { RunSignals } from '../../src/agent/run-signals.ts';
import { EagerCalls } from '../../src/agent/calls/eager-calls.ts';
import { runLoop } from '../../src/agent/loop.ts';
import type { JournalOutcome, Run, RunPorts } from '../../src/agent/run.ts';
import { LeaseLost } from '../../src/core/errors.ts';
import { createFingerprinter } from '../../src/core/model/fingerprint.ts';
import type { ThrottledAccess } from '../../src/core/run/throttle.ts';
import type { Resolution } from '../../src/core/run/execution.ts';
import type { ToolCallId } from '../../src/core/ids.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../src/core/model/model.ts';
import type { Settings } from '../../src/core/workers/settings.ts';
import type { Snapshot } from '../../src/core/run/snapshot.ts';
import type { Reconciled, ToolInvocation, ToolOutcome } from '../../src/core/tools/tool.ts';
import { digest } from '../../src/db/model-calls/digest.ts';
import { NOW, countingIds, given, id, settings, text, tool } from '../core/builders.ts';
import { Store } from './store.ts';

const FINGERPRINTS = createFingerprinter(digest);

export type Port =
  | 'before an append'
  | 'after an append'
  | 'the model'
  | 'a tool begins'
  | 'a tool ends'
  | 'a tool is asked';

/** What happens at a moment; `undefined`: nothing. */
export type Happening = 'dies' | void;

export type Moment = { count: number; port: Port; rig: Rig; signals: RunSignals };

export type RigOptions = {
  /** The model asks a question beside the tools of its first round, and another one alone. */
  asks?: boolean;
  /** What a person says to the calls of these tools, which wait for that. */
  guards?: Readonly<Record<string, 'approve' | 'deny'>>;
  /** What stands before the model when it is asked for, counted from 1; null: nothing. */
  held?: (ask: number, rig: Rig) => ThrottledAccess | null;
  at?: (moment: Moment) => Happening;
  settings?: Settings;
  /** What the model says to a request, in place of the usual. */
  answer?: (request: ModelRequest) => ModelOutcome;
  /** What a tool gives. */
  result?: (call: ToolInvocation) => string;
  /** What a tool says of a call that lost its runner, in place of `unknown`. */
  reconcile?: (call: ToolInvocation, rig: Rig) => Reconciled;
  /** How long that person has; without it: for ever. */
  outcomeWaitMs?: number;
  /** What a person says who is asked for the outcome of a call. */
  resolve?: (call: ToolCallId, rig: Rig) => Resolution;
  /** What an append comes to, in place of what the store says; counted from 1. */
  outcome?: (count: number, commit: () => Promise<JournalOutcome>) => Promise<JournalOutcome>;
};

const TOOLS = settings({
  tools: [{ ...tool('ask_user'), answered_by: 'person' }, tool('look'), tool('mail', 'once')],
  maxSteps: 20,
});

export class Rig {
  readonly store: Store;
  /** What the model was asked, and answered. */
  readonly asked: ModelRequest[] = [];
  /** How often each call was begun, by the name of its tool and its id. */
  readonly begun: { name: string; id: ToolCallId }[] = [];
  /** The calls whose effect happened, as often as it did. */
  readonly happened: ToolCallId[] = [];
  readonly ids = countingIds(50_000);
  readonly #options: RigOptions;
  moments = 0;
  appends = 0;
  asks = 0;
  /** Of the run that is under way. */
  signals: RunSignals | null = null;
  now = NOW;
  #calls = 0;

  constructor(options: RigOptions = {}) {
    this.#options = options;
    this.store = new Store(options.settings ?? TOOLS);
  }

  /** Runs processes one after the other until nothing is left to do. How many it took. */
  async bringToRest(): Promise<number> {
    for (let runs = 1; runs <= 30; runs += 1) {
      const signals = new RunSignals();
      this.signals = signals;
      const first = this.store.claim(this.now);
      if (first !== null) {
        const { promise: died, resolve: die } = Promise.withResolvers<void>();
        const run = runLoop(this.#run(signals, die, first), first).catch((error: unknown) => {
          if (!(error instanceof LeaseLost)) throw error;
        });
        await Promise.race([run, died]);
        signals.lose();
      }
      if (this.store.status === 'idle') return runs;
      if (this.store.status === 'waiting' && !this.decide() && !this.resolve() && !this.store.answer('yes'))
        this.now = this.store.until;
    }
    throw new Error(`never at rest: ${this.store.status}`);
  }

  /** A person decides on the first call that waits for it. False: none does. */
  decide(): boolean {
    const waiting = this.store.truth.calls.find(
      ({ wait, approval }) => wait?.for === 'approval' && approval === null,
    );
    return waiting !== undefined && this.store.judge(this.#options.guards?.[waiting.name] ?? 'approve');
  }

  /** Somebody looks what became of a call. False: nobody was asked, or nobody looks. */
  resolve(): boolean {
    const { resolve } = this.#options;
    return resolve !== undefined && this.store.resolve((call) => resolve(call.id, this));
  }

  #run(signals: RunSignals, die: () => void, first: Snapshot): Run {
    const pass = async (port: Port): Promise<void> => {
      this.moments += 1;
      const happening = this.#options.at?.({ count: this.moments, port, rig: this, signals });
      if (happening !== 'dies') return;
      die();
      await new Promise<never>(() => undefined);
    };
    const { journal } = this.store;
    const model: Model = {
      call: async (request, _listener, signal) => {
        await pass('the model');
        if (signal.aborted) return { kind: 'aborted' };
        this.asked.push(request);
        return this.#options.answer?.(request) ?? this.#answer(request);
      },
    };
    const ports: RunPorts = {
      journal: {
        ...journal,
        append: async (move) => {
          await pass('before an append');
          this.appends += 1;
          const commit = () => journal.append(move);
          const outcome = await (this.#options.outcome?.(this.appends, commit) ?? commit());
          await pass('after an append');
          return outcome;
        },
      },
      model: () => {
        this.asks += 1;
        return this.#options.held?.(this.asks, this) ?? { kind: 'open', model };
      },
      team: {
        arrange: async () => [],
        recount: async () => false,
        outcomes: async () => new Map(),
      },
      tools: {
        judge: async ({ name }, ruled) =>
          ruled ?? (this.#options.guards?.[name] === undefined ? 'never' : 'always'),
        execute: (call, signal) => this.#execute(call, signal, pass),
        reconcile: async (call) => {
          await pass('a tool is asked');
          return this.#options.reconcile?.(call, this) ?? { kind: 'unknown' };
        },
        outcomeWaitMs: this.#options.outcomeWaitMs ?? null,
      },
      clock: { now: () => this.now },
      fingerprint: (sent, memory) => FINGERPRINTS.of(sent, memory),
      ids: this.ids,
      random: () => 0,
      listener: () => ({
        started: () => undefined,
        text: () => undefined,
        thinking: () => undefined,
        ended: () => undefined,
      }),
      log: {
        step: () => undefined,
        stepped: () => undefined,
        prompt: () => undefined,
        retry: () => undefined,
      },
    };
    return { ...ports, signals, early: null, eager: new EagerCalls(ports, signals, first) };
  }

  async #execute(
    call: ToolInvocation,
    signal: AbortSignal,
    pass: (port: Port) => Promise<void>,
  ): Promise<ToolOutcome> {
    this.begun.push({ name: call.name, id: call.id });
    await pass('a tool begins');
    if (signal.aborted) return { kind: 'aborted' };
    this.happened.push(call.id);
    await pass('a tool ends');
    const content = this.#options.result?.(call) ?? `${call.name} ok`;
    return { kind: 'result', content, is_error: false };
  }

  /** Two rounds of tools, one failure that is waited for, then the answer: by what the prompt holds, not by count. */
  #answer({ messages, failures }: ModelRequest): ModelOutcome {
    const last = messages.at(-1)?.content ?? [];
    const round = messages.filter(({ role }) => role === 'assistant').length;
    if (last.some((block) => block.type === 'text'))
      return this.#says(`round ${round}`, 'look', 'mail', this.#options.asks ? 'ask_user' : 'look');
    if (round < 2) return this.#says(`round ${round}`, this.#options.asks ? 'ask_user' : 'mail');
    if (failures === 0)
      return { kind: 'failed', failure: { class: 'overloaded', message: 'busy', retryAfterMs: 60_000 } };
    return this.#says('done');
  }

  #says(words: string, ...names: string[]): ModelOutcome {
    const calls = names.map((name) => ({
      type: 'tool_use' as const,
      id: id<ToolCallId>(90_000 + (this.#calls += 1)),
      name,
      input: name === 'ask_user' ? { question: 'Sure?' } : {},
    }));
    return {
      kind: 'done',
      answer: given({
        content: [text(words), ...calls],
        finishReason: calls.length > 0 ? 'tool_use' : 'stop',
      }),
    };
  }

  /** How often the `once` call that was begun most often was begun. */
  mostOnce(): number {
    const counts = new Map<ToolCallId, number>();
    for (const call of this.begun) {
      if (call.name === 'mail') counts.set(call.id, (counts.get(call.id) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values());
  }
}

/** A rig with one input, brought to rest. */
export async function play(options: RigOptions = {}): Promise<Rig> {
  const rig = new Rig(options);
  rig.store.submit('go');
  await rig.bringToRest();
  return rig;
}
