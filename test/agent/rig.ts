// The agent loop over ports in memory. Port calls are counted from 1; at a chosen one the test injects an event: the
// process dies (the call never returns), an append is refused or lost, the job is cancelled, or the process has to
// leave.
import { RunSignals } from '../../src/agent/run-signals.ts';
import { EagerCalls } from '../../src/agent/calls/eager-calls.ts';
import { AbortedCall } from '../../src/agent/model/aborted-call.ts';
import { runLoop } from '../../src/agent/loop.ts';
import type { JournalOutcome, Run, RunPorts } from '../../src/agent/run.ts';
import { pause } from '../../src/agent/waits/pause.ts';
import { LeaseLost } from '../../src/core/errors.ts';
import { createFingerprinter } from '../../src/core/model/fingerprint.ts';
import { decideApproval } from '../../src/core/run/policy.ts';
import type { ThrottledAccess } from '../../src/core/run/throttle.ts';
import type { Resolution } from '../../src/core/run/execution.ts';
import type { ToolCallId } from '../../src/core/ids.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../src/core/model/model.ts';
import type { Settings } from '../../src/core/workers/settings.ts';
import type { Snapshot } from '../../src/core/run/snapshot.ts';
import type { CallServices, Reconciled, ToolInvocation, ToolOutcome } from '../../src/core/tools/tool.ts';
import type { CallSteps, StoredStep } from '../../src/core/tools/steps.ts';
import { NO_REPORT, NO_SERVICES, stepsIn } from '../tools/invoke.ts';
import { digest } from '../../src/db/model-calls/digest.ts';
import { checkOutput } from '../../src/schema/output-schema.ts';
import { NOW, countingIds, given, id, settings, text, tool } from '../core/builders.ts';
import { Store } from './store.ts';

const FINGERPRINTS = createFingerprinter(digest);

export type Port =
  | 'before an append'
  | 'after an append'
  | 'the model'
  | 'a tool begins'
  | 'a tool ends'
  | 'a tool is asked'
  | 'steps are read'
  | 'a step runs'
  | 'before a step is stored'
  | 'after a step is stored';

/** The event at a port call; `undefined`: none. */
export type Happening = 'dies' | void;

export type PortCall = { count: number; port: Port; rig: Rig; signals: RunSignals };

export type RigOptions = {
  /** The model asks a question beside the tools of its first round, and a second question alone. */
  asks?: boolean;
  /** The decision of a person on calls of these tools, which wait for approval. */
  guards?: Readonly<Record<string, 'approve' | 'deny'>>;
  /** The tools whose calls are judged as ones that fail. */
  failing?: readonly string[];
  /** What the model call waits for, by its number from 1; null: nothing. */
  throttledAccess?: (ask: number, rig: Rig) => ThrottledAccess | null;
  yields?: () => boolean;
  at?: (portCall: PortCall) => Happening;
  settings?: Settings;
  /** The answer of the model to a request, in place of the default. */
  answer?: (request: ModelRequest) => ModelOutcome;
  /** Runs each call, in place of `result`. `pass` is called where a step runs. */
  execute?: (
    call: ToolInvocation,
    signal: AbortSignal,
    services: CallServices,
    pass: (port: Port) => Promise<void>,
  ) => Promise<ToolOutcome>;
  /** The result of a tool. */
  result?: (call: ToolInvocation) => string;
  /** The outcome that a tool reports for a call that lost its runner, in place of `unknown`. */
  reconcile?: (call: ToolInvocation, rig: Rig) => Reconciled;
  /** How long that person has; without it: no limit. */
  outcomeWaitMs?: number;
  /** The outcome that a person reports for a call. */
  resolve?: (call: ToolCallId, rig: Rig) => Resolution;
  /** The outcome of an append, in place of the store's; counted from 1. */
  outcome?: (count: number, commit: () => Promise<JournalOutcome>) => Promise<JournalOutcome>;
};

const TOOLS = settings({
  tools: [{ ...tool('ask_user'), answered_by: 'person' }, tool('look'), tool('mail', 'once')],
  maxSteps: 20,
});

export class Rig {
  readonly store: Store;
  /** The requests to the model, and its answers. */
  readonly asked: ModelRequest[] = [];
  /** How often each call was started, by the name of its tool and its id. */
  readonly begun: { name: string; id: ToolCallId }[] = [];
  /** The calls that were started to fail. */
  readonly failed: ToolCallId[] = [];
  /** The calls whose effect happened, once for each time. */
  readonly happened: ToolCallId[] = [];
  /** What the steps of each call have stored, by name. */
  readonly steps = new Map<ToolCallId, Map<string, StoredStep>>();
  readonly ids = countingIds(50_000);
  readonly #options: RigOptions;
  portCalls = 0;
  appends = 0;
  asks = 0;
  /** Of the current run. */
  signals: RunSignals | null = null;
  now = NOW;
  #calls = 0;
  #claims = 0;

  constructor(options: RigOptions = {}) {
    this.#options = options;
    this.store = new Store(options.settings ?? TOOLS);
  }

  /** Runs processes one after the other until no work is left. Returns how many it took. */
  async bringToRest(): Promise<number> {
    for (let runs = 1; runs <= 30; runs += 1) {
      const signals = new RunSignals();
      this.signals = signals;
      this.#claims += 1;
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
    throw new Error(`never idle: ${this.store.status}`);
  }

  /** A person decides on the first call that waits for approval. False: none waits. */
  decide(): boolean {
    const waiting = this.store.current.calls.find(
      ({ wait, approval }) => wait?.for === 'approval' && approval === null,
    );
    return waiting !== undefined && this.store.judge(this.#options.guards?.[waiting.name] ?? 'approve');
  }

  /** A person reports the outcome of a call. False: no call waits for an outcome. */
  resolve(): boolean {
    const { resolve } = this.#options;
    return resolve !== undefined && this.store.resolve((call) => resolve(call.id, this));
  }

  #run(signals: RunSignals, die: () => void, first: Snapshot): Run {
    const pass = async (port: Port): Promise<void> => {
      this.portCalls += 1;
      const happening = this.#options.at?.({ count: this.portCalls, port, rig: this, signals });
      if (happening !== 'dies') return;
      die();
      await new Promise<never>(() => undefined);
    };
    const { journal } = this.store;
    const model: Model = {
      isLoaded: () => true,
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
      checkOutput,
      yields: () => this.#options.yields?.() ?? false,
      model: () => {
        this.asks += 1;
        return this.#options.throttledAccess?.(this.asks, this) ?? { kind: 'open', model };
      },
      team: {
        arrange: async () => [],
        recount: async () => false,
        outcomes: async () => new Map(),
      },
      grants: async () => new Set(),
      tools: {
        mayAsk: ({ name }) => this.#options.guards?.[name] !== undefined,
        judge: async ({ name }, ruled) =>
          this.#options.failing?.includes(name) === true
            ? 'fails'
            : decideApproval(ruled, this.#options.guards?.[name] === undefined ? 'never' : 'always'),
        execute: (call, signal, services) => this.#execute(call, signal, services, pass),
        reconcile: async (call) => {
          await pass('a tool is asked');
          return this.#options.reconcile?.(call, this) ?? { kind: 'unknown' };
        },
        outcomeWaitMs: this.#options.outcomeWaitMs ?? null,
      },
      report: () => NO_REPORT,
      durable: (call) => ({ ...NO_SERVICES, steps: this.#stepsOf(call, this.#claims, pass) }),
      clock: { now: () => this.now },
      pause,
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
    return { ...ports, signals, early: null, eager: new EagerCalls(ports, signals, first), aborted: new AbortedCall() };
  }

  /** They are refused once another run has claimed the context, or the job was told to end. */
  #stepsOf({ id: callId }: ToolInvocation, claim: number, pass: (port: Port) => Promise<void>): CallSteps {
    const stored = this.steps.get(callId) ?? new Map<string, StoredStep>();
    this.steps.set(callId, stored);
    const kept = stepsIn(stored);
    const mayGoOn = (): boolean => this.#claims === claim && this.store.current.job?.stopRequest === null;
    return {
      load: async (hasResult) => {
        await pass('steps are read');
        return mayGoOn() ? kept.load(hasResult) : null;
      },
      store: async (step, hasResult) => {
        await pass('before a step is stored');
        const result = mayGoOn() ? await kept.store(step, hasResult) : null;
        await pass('after a step is stored');
        return result;
      },
    };
  }

  async #execute(
    call: ToolInvocation,
    signal: AbortSignal,
    services: CallServices,
    pass: (port: Port) => Promise<void>,
  ): Promise<ToolOutcome> {
    this.begun.push({ name: call.name, id: call.id });
    if (call.mustFail === true) this.failed.push(call.id);
    const { execute } = this.#options;
    if (execute !== undefined) return execute(call, signal, services, pass);
    await pass('a tool begins');
    if (signal.aborted) return { kind: 'aborted' };
    this.happened.push(call.id);
    await pass('a tool ends');
    const content = this.#options.result?.(call) ?? `${call.name} ok`;
    return { kind: 'result', content, is_error: false };
  }

  /**
   * Two rounds of tools, one failure with a wait, then the answer: chosen by the content of the prompt, not by count.
   */
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

  #says(answerText: string, ...names: string[]): ModelOutcome {
    const calls = names.map((name) => ({
      type: 'tool_use' as const,
      id: id<ToolCallId>(90_000 + (this.#calls += 1)),
      name,
      input: name === 'ask_user' ? { question: 'Sure?' } : {},
    }));
    return {
      kind: 'done',
      answer: given({
        content: [text(answerText), ...calls],
        finishReason: calls.length > 0 ? 'tool_use' : 'stop',
      }),
    };
  }

  /** The largest number of starts of one `once` call. */
  mostOnce(): number {
    const counts = new Map<ToolCallId, number>();
    for (const call of this.begun) {
      if (call.name === 'mail') counts.set(call.id, (counts.get(call.id) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values());
  }
}

/** A rig with one input, run until idle. */
export async function play(options: RigOptions = {}): Promise<Rig> {
  const rig = new Rig(options);
  rig.store.submit('go');
  await rig.bringToRest();
  return rig;
}
