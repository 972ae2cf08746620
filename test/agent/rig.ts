// The loop over ports in memory. Every call of a port is a moment, counted from 1; at one of them something may happen:
// the process dies (the call never returns), an append is refused or lost, somebody cancels, the process has to leave.
import { Attention } from '../../src/agent/attention.ts';
import { runLoop } from '../../src/agent/loop.ts';
import type { JournalOutcome, Run } from '../../src/agent/run.ts';
import { LeaseLost } from '../../src/core/errors.ts';
import type { Held } from '../../src/core/gate.ts';
import type { ToolCallId } from '../../src/core/ids.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../src/core/model.ts';
import type { ToolInvocation, ToolOutcome } from '../../src/core/tool.ts';
import { NOW, countingIds, given, id, settings, text, tool } from '../core/builders.ts';
import { Store } from './store.ts';

export type Port = 'before an append' | 'after an append' | 'the model' | 'a tool begins' | 'a tool ends';

/** What happens at a moment; `undefined`: nothing. */
export type Happening = 'dies' | void;

export type Moment = { count: number; port: Port; rig: Rig; attention: Attention };

export type RigOptions = {
  /** What stands before the model when it is asked for, counted from 1; null: nothing. */
  held?: (ask: number, rig: Rig) => Held | null;
  at?: (moment: Moment) => Happening;
  /** What an append comes to, in place of what the store says; counted from 1. */
  outcome?: (count: number, commit: () => Promise<JournalOutcome>) => Promise<JournalOutcome>;
};

const TOOLS = settings({ tools: [tool('look'), tool('mail', 'once')], maxSteps: 20 });

export class Rig {
  readonly store = new Store(TOOLS);
  /** How often each call was begun, by the name of its tool and its id. */
  readonly begun: { name: string; id: ToolCallId }[] = [];
  readonly ids = countingIds(50_000);
  readonly #options: RigOptions;
  moments = 0;
  appends = 0;
  asks = 0;
  /** Of the run that is under way. */
  attention: Attention | null = null;
  now = NOW;
  #calls = 0;

  constructor(options: RigOptions = {}) {
    this.#options = options;
  }

  /** Runs processes one after the other until nothing is left to do. How many it took. */
  async bringToRest(): Promise<number> {
    for (let runs = 1; runs <= 30; runs += 1) {
      const attention = new Attention();
      this.attention = attention;
      const first = this.store.claim(this.now);
      if (first !== null) {
        const { promise: died, resolve: die } = Promise.withResolvers<void>();
        const run = runLoop(this.#run(attention, die), first).catch((error: unknown) => {
          if (!(error instanceof LeaseLost)) throw error;
        });
        await Promise.race([run, died]);
        attention.lose();
      }
      if (this.store.status === 'idle') return runs;
      if (this.store.status === 'waiting') this.now = this.store.until;
    }
    throw new Error(`never at rest: ${this.store.status}`);
  }

  #run(attention: Attention, die: () => void): Run {
    const pass = async (port: Port): Promise<void> => {
      this.moments += 1;
      const happening = this.#options.at?.({ count: this.moments, port, rig: this, attention });
      if (happening !== 'dies') return;
      die();
      await new Promise<never>(() => undefined);
    };
    const { journal } = this.store;
    const model: Model = {
      call: async (request, _listener, signal) => {
        await pass('the model');
        return signal.aborted ? { kind: 'aborted' } : this.#answer(request);
      },
    };
    return {
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
      tools: { execute: (call, signal) => this.#execute(call, signal, pass) },
      clock: { now: () => this.now },
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
      attention,
    };
  }

  async #execute(
    call: ToolInvocation,
    signal: AbortSignal,
    pass: (port: Port) => Promise<void>,
  ): Promise<ToolOutcome> {
    this.begun.push({ name: call.name, id: call.id });
    await pass('a tool begins');
    if (signal.aborted) return { kind: 'aborted' };
    await pass('a tool ends');
    return { kind: 'result', content: `${call.name} ok`, is_error: false };
  }

  /** Two rounds of tools, one failure that is waited for, then the answer: by what the prompt holds, not by count. */
  #answer({ messages, failures }: ModelRequest): ModelOutcome {
    const last = messages.at(-1)?.content ?? [];
    const round = messages.filter(({ role }) => role === 'assistant').length;
    if (last.some((block) => block.type === 'text'))
      return this.#says(`round ${round}`, 'look', 'mail', 'look');
    if (round < 2) return this.#says(`round ${round}`, 'mail');
    if (failures === 0)
      return { kind: 'failed', failure: { class: 'overloaded', message: 'busy', retryAfterMs: 60_000 } };
    return this.#says('done');
  }

  #says(words: string, ...names: string[]): ModelOutcome {
    const calls = names.map((name) => ({
      type: 'tool_use' as const,
      id: id<ToolCallId>(90_000 + (this.#calls += 1)),
      name,
      input: {},
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
