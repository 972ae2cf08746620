// The model and the tools of one conversation, scripted by the expected calls: they answer as the reference says and
// pause where it says so. An unexpected call is a fault.
import pTimeout from 'p-timeout';
import type { Append } from '../../../src/core/run/append.ts';
import type { ToolCallId } from '../../../src/core/ids.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/core/model/model.ts';
import type { PromptMessage } from '../../../src/core/conversation/prompt.ts';
import type { ToolInvocation, ToolOutcome } from '../../../src/core/tools/tool.ts';
import { NO_USAGE } from '../../../src/core/money/usage.ts';
import { aborted } from '../worker-fleet.ts';
import type { Answer } from './reference.ts';
import { marksIn } from './expected-compaction.ts';
import { padded, paddedResult, promptLines, type Call } from './entries.ts';
import type { Expected } from './expected-run.ts';

/** Tokens of every answer. The tokens of its prompt are not reported, so that they are estimated from its text. */
export const USAGE = { ...NO_USAGE, output_tokens: 7 };

/** A run that neither pauses nor ends for this long hangs. */
const STUCK_MS = 30_000;

export class ScriptedPorts {
  /** The current claim, or the last one. */
  claiming: Promise<unknown> = Promise.resolve();
  readonly faults: string[] = [];
  /** Every prompt that was sent. */
  readonly prompts: PromptMessage[][] = [];
  #expected: Expected[] = [];
  /** Of the current round of tools: those that are still to begin. */
  #tools: { left: Set<ToolCallId>; isPaused: boolean } | null = null;
  /** Of each call: its answer is stored. A call without effect begins before that. */
  readonly #stored = new Map<string, PromiseWithResolvers<void>>();
  #isAbandoned = false;
  #ready = Promise.withResolvers<void>();
  #paused = Promise.withResolvers<void>();
  #letGo = Promise.withResolvers<void>();

  constructor() {
    this.#ready.resolve();
  }

  /** Every call from here on waits until the expected calls are known. */
  pause(): void {
    this.#ready = Promise.withResolvers<void>();
  }

  resume(): void {
    this.#ready.resolve();
  }

  /** The next expected calls of a run. Every pause ends. */
  expect(expected: readonly Expected[]): void {
    this.#expected.push(...expected);
    this.#paused = Promise.withResolvers<void>();
  }

  /** The appends of a run. */
  stores({ calls }: Append): void {
    for (const change of calls) if (change.kind === 'request') this.#storing(change.call.id).resolve();
  }

  letGo(): void {
    const { resolve } = this.#letGo;
    this.#letGo = Promise.withResolvers<void>();
    resolve();
  }

  /** Pauses and comparisons are switched off: the run only has to end. */
  abandon(): void {
    this.#isAbandoned = true;
    this.resume();
    this.letGo();
  }

  /** Waits until the run is paused, or has ended. */
  async standstill(run: Promise<void>, isPaused: boolean): Promise<void> {
    const paused = this.#paused.promise.then(() => 'throttled');
    const ended = run.then(() => 'ended');
    const came = await pTimeout(Promise.race([paused, ended]), {
      milliseconds: STUCK_MS,
      fallback: () => 'hanging',
    });
    const expected = isPaused ? 'throttled' : 'ended';
    if (came !== expected) this.faults.push(`the run is ${came}, not ${expected}`);
    for (const one of this.#expected.splice(0)) this.faults.push(`the run never came to ${wordsOf(one)}`);
  }

  async model(request: ModelRequest, branch: string, signal: AbortSignal): Promise<ModelOutcome> {
    await this.#ready.promise;
    const expected = this.#expected.shift();
    if (this.#isAbandoned) return outcomeOf({ how: 'say', words: 'abandoned', calls: [] });
    if (expected === undefined || expected.kind === 'tools') {
      this.faults.push(`the model was asked in place of ${expected === undefined ? 'nothing' : wordsOf(expected)}`);
      return outcomeOf({ how: 'fail', words: '', calls: [] });
    }
    this.prompts.push([...request.messages]);
    if (expected.kind === 'model') this.#compare(request, branch, expected);
    else this.#compareSummary(request, branch, expected);
    if (expected.isPaused && !(await this.#pause(signal, Promise.resolve()))) return { kind: 'aborted' };
    return outcomeOf(expected.answer);
  }

  async execute({ id, name, input }: ToolInvocation, signal: AbortSignal): Promise<ToolOutcome> {
    await this.#ready.promise;
    if (this.#tools === null) this.#begin();
    const tools = this.#tools;
    if (tools?.left.delete(id) !== true) this.faults.push(`${name} was called in place of nothing`);
    const isLast = tools === null || tools.left.size === 0;
    if (isLast) this.#tools = null;
    if (tools?.isPaused === true && !(await this.#pause(signal, isLast ? this.#storing(id).promise : null)))
      return { kind: 'aborted' };
    return { kind: 'result', content: paddedResult(`${name} ${numberIn(input)}`), is_error: false };
  }

  #begin(): void {
    const expected = this.#expected.shift();
    if (expected?.kind !== 'tools') this.faults.push('tools were called in place of the model');
    else this.#tools = { left: new Set(expected.calls.map(({ id }) => id)), isPaused: expected.isPaused };
  }

  #storing(id: string): PromiseWithResolvers<void> {
    const storing = this.#stored.get(id) ?? Promise.withResolvers<void>();
    this.#stored.set(id, storing);
    return storing;
  }

  /** False: it was stopped meanwhile. `toldOn`: when it counts as paused; null: another call reports the pause. */
  async #pause(signal: AbortSignal, pausedOn: Promise<void> | null): Promise<boolean> {
    if (this.#isAbandoned) return true;
    const { resolve } = this.#paused;
    void pausedOn?.then(resolve);
    const goes = this.#letGo.promise.then(() => true);
    return Promise.race([goes, aborted(signal).then(() => false)]);
  }

  #compare({ messages }: ModelRequest, branch: string, expected: Extract<Expected, { kind: 'model' }>): void {
    const lines = promptLines(messages);
    if (lines.join('\n') !== expected.prompt.join('\n')) {
      this.faults.push(`the model received\n${list(lines)}\nin place of\n${list(expected.prompt)}`);
    }
    if (branch !== expected.branch) this.faults.push(`the model was asked on ${branch}, not on ${expected.branch}`);
  }

  #compareSummary({ messages }: ModelRequest, branch: string, expected: Extract<Expected, { kind: 'summary' }>): void {
    const texts = marksIn(JSON.stringify(messages)).join(', ');
    if (texts !== expected.texts.join(', ')) {
      this.faults.push(`what is to be summarised is ${texts}, not ${expected.texts.join(', ')}`);
    }
    if (branch !== `${expected.branch}/compaction`)
      this.faults.push(`a summary was asked for on ${branch}, not on ${expected.branch}`);
  }
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `    ${line}`).join('\n');
}

function wordsOf(expected: Expected): string {
  return expected.kind !== 'tools'
    ? `the model call on ${expected.branch} that says ${expected.answer.words}`
    : `the calls ${expected.calls.map(({ tool, number }) => `${tool} ${number}`).join(', ')}`;
}

function outcomeOf({ how, words, calls }: Answer): ModelOutcome {
  if (how === 'fail') return { kind: 'failed', failure: { class: 'auth', message: 'no', retryAfterMs: null } };
  return {
    kind: 'done',
    answer: {
      content: [
        // A summary is short.
        { type: 'text', text: words.startsWith('sum ') ? words : padded(words) },
        ...calls.map((call) => ({
          type: 'tool_use' as const,
          id: call.id,
          name: call.tool,
          input: inputOf(call),
        })),
      ],
      finishReason: how === 'pause' ? 'pause' : calls.length > 0 ? 'tool_use' : 'stop',
      usage: USAGE,
      modelId: 'm',
      responseId: null,
    },
  };
}

function inputOf({ tool, number }: Call) {
  return tool === 'ask_user' ? { question: `${number}?` } : { number };
}

function numberIn(input: ToolInvocation['input']): string {
  return /\d+/.exec(JSON.stringify(input))?.[0] ?? '';
}
