/**
 * `context.step` of one execution of a call. A step begins and is stored only while the call goes on: its signal is not
 * aborted, it has not ended, and the store accepts it (`CallSteps`). Otherwise the call ends as aborted, as after a control
 * signal, and the run reads what it has to do.
 */
import type { Json } from '../../core/json.ts';
import type { CallSteps, StoredStep } from '../../core/tools/steps.ts';
import type { Effect, ToolInvocation } from '../../core/tools/tool.ts';
import { ToolError } from '../run/tool-error.ts';
import { stepKey } from './step-key.ts';
import { stepValue } from './step-value.ts';
import type { RunStep, StepContext, StepResult } from './step-types.ts';

const MOST_STEPS = 1_000;
const MOST_STEP_BYTES = 1024 * 1024;
const MOST_BYTES = 4 * 1024 * 1024;

/** Without control characters and lone surrogates. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,100}$/u;

/** `signal`: of the execution. */
export type Execution = {
  effect: Effect;
  call: ToolInvocation;
  signal: AbortSignal;
  isOver(): boolean;
  /** Ends the call as aborted, and aborts `signal`. */
  abandon(): void;
};

type Work = (step: StepContext) => unknown;

class StepRunner {
  readonly #of: Execution;
  readonly #steps: CallSteps;
  /** Steps that run or have ended; one that failed may be tried again under its name. */
  readonly #used = new Set<string>();
  #stored: Promise<ReadonlyMap<string, StoredStep>> | null = null;
  /** Steps of all executions: stored, and under way. */
  #count = 0;
  #bytes = 0;

  constructor(of: Execution, steps: CallSteps) {
    this.#of = of;
    this.#steps = steps;
  }

  async run(name: string, work: Work): Promise<Json> {
    this.#claim(name);
    try {
      const stored = (await this.#load()).get(name);
      if (stored !== undefined) return stored.value;
      return await this.#first(name, work);
    } catch (error) {
      this.#used.delete(name);
      throw error;
    }
  }

  #claim(name: unknown): void {
    const { effect, call } = this.#of;
    this.#mustGoOn();
    if (effect === 'none')
      throw new ToolError(
        `The tool ${call.name} has the effect none: its calls may begin before they are stored, so they have no steps. Give it the effect idempotent or once.`,
        { code: 'step_not_allowed' },
      );
    if (typeof name !== 'string' || !NAME.test(name))
      throw new ToolError('The name of a step has 1 to 100 characters, without control characters.', {
        code: 'step_name_invalid',
      });
    if (this.#used.has(name))
      throw new ToolError(
        `This call has a step ${JSON.stringify(name)} already. Each step of a call needs a name of its own.`,
        { code: 'step_name_used' },
      );
    this.#used.add(name);
  }

  #load(): Promise<ReadonlyMap<string, StoredStep>> {
    this.#stored ??= this.#read();
    return this.#stored;
  }

  async #read(): Promise<ReadonlyMap<string, StoredStep>> {
    const stored = await this.#steps.load();
    if (stored === null) return this.#abandon();
    this.#count += stored.size;
    for (const { bytes } of stored.values()) this.#bytes += bytes;
    return stored;
  }

  async #first(name: string, work: Work): Promise<Json> {
    const { call, signal } = this.#of;
    this.#mustGoOn();
    if (this.#count >= MOST_STEPS)
      throw new ToolError(`A call may have ${MOST_STEPS} steps.`, { code: 'too_many_steps' });
    this.#count += 1;
    try {
      const returned = await work({ idempotency_key: stepKey(call.id, name), signal });
      const step = stepValue(name, returned);
      this.#reserve(name, step);
      this.#mustGoOn();
      const kept = await this.#steps.store({ name, ...step });
      return kept === null ? this.#abandon() : kept.value;
    } catch (error) {
      this.#count -= 1;
      throw error;
    }
  }

  #reserve(name: string, { bytes }: StoredStep): void {
    const after = this.#bytes + bytes;
    if (bytes > MOST_STEP_BYTES || after > MOST_BYTES)
      throw new ToolError(
        `The step ${JSON.stringify(name)} returned ${bytes} bytes of JSON. A step may store ${MOST_STEP_BYTES}, and all steps of a call ${MOST_BYTES}. Return a reference, such as an id, instead.`,
        { code: 'step_result_too_large' },
      );
    this.#bytes = after;
  }

  #mustGoOn(): void {
    this.#of.signal.throwIfAborted();
    if (this.#of.isOver()) throw new ToolError('The call has ended.', { code: 'call_ended' });
  }

  #abandon(): never {
    this.#of.abandon();
    this.#of.signal.throwIfAborted();
    throw new ToolError('The call has ended.', { code: 'call_ended' });
  }
}

export function stepsOf(execution: Execution, steps: CallSteps): RunStep {
  const runner = new StepRunner(execution, steps);
  function step<T>(name: string, work: (of: StepContext) => T | Promise<T>): Promise<StepResult<T>>;
  function step(name: string, work: Work): Promise<unknown> {
    const result = runner.run(name, work);
    // A step that no code awaits must not end the process.
    result.catch(() => undefined);
    return result;
  }
  return step;
}
