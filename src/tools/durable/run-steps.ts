/**
 * `context.step`, `spawn` and `enqueue` of one execution of a call. A step begins only while the execution goes on: its
 * signal is not aborted, and it has no result. A step whose function has ended is stored also after an abort, if the store
 * accepts it (`CallSteps`): the next execution need not run it again. If the store does not, the call ends as aborted, as
 * after a control signal, and the run reads what it has to do.
 */
import { parseId, type JobId, type WorkerId } from '../../core/ids.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { Refusal } from '../../core/errors.ts';
import { childName, type SpawnedChild, type Started } from '../../core/tools/starts.ts';
import type { HasResult, StoredStep } from '../../core/tools/steps.ts';
import type { CallServices, Effect, ToolInvocation } from '../../core/tools/tool.ts';
import type { ToolContext } from '../registry/tool-context.ts';
import { ToolError } from '../run/tool-error.ts';
import { stepKey } from './step-key.ts';
import { MOST_BYTES, stepValue, tooLarge } from './step-value.ts';
import { readEnqueue, readSpawn } from './start-options.ts';
import type { EnqueuedInput, EnqueueOptions, SpawnedWorker, SpawnOptions } from './start-types.ts';
import type { StepContext, StepResult } from './step-types.ts';

const MOST_STEPS = 1_000;

/** Without control characters and lone surrogates. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,100}$/u;

/** `signal`: of the execution. `hasResult`: also of a timeout; not after an abort. */
export type Execution = {
  effect: Effect;
  call: ToolInvocation;
  signal: AbortSignal;
  hasResult: HasResult;
  /** Ends the call as aborted, and aborts `signal`. */
  abandon(): void;
  /** This execution or an earlier one created a worker. */
  spawned(child: SpawnedChild): void;
};

type Work = (step: StepContext) => unknown;

type Services = Pick<CallServices, 'steps' | 'starts'>;

class StepRunner {
  readonly #of: Execution;
  readonly #services: Services;
  /** Steps that run or have ended; one that failed may be tried again under its name. */
  readonly #used = new Set<string>();
  #stored: Promise<ReadonlyMap<string, StoredStep>> | null = null;
  /** Steps of all executions: stored, and under way. */
  #count = 0;
  #bytes = 0;

  constructor(of: Execution, services: Services) {
    this.#of = of;
    this.#services = services;
  }

  run(name: string, work: Work): Promise<Json> {
    return this.#once(name, async () => {
      const { call, signal, hasResult } = this.#of;
      const returned = await work({ idempotency_key: stepKey(call.id, name), signal });
      const step = stepValue(name, returned);
      this.#reserve(name, step);
      if (hasResult()) this.#mustGoOn();
      const kept = await this.#services.steps.store({ name, ...step }, hasResult);
      return kept === null ? this.#abandon() : kept.value;
    });
  }

  async spawn(name: string, options: SpawnOptions): Promise<Json> {
    const { hasResult } = this.#of;
    const value = await this.#start(name, async ({ starts }) =>
      starts.spawn(name, await readSpawn(options), hasResult),
    );
    const child = childOf(value, options);
    if (child !== null) this.#of.spawned(child);
    return value;
  }

  enqueue(name: string, options: EnqueueOptions): Promise<Json> {
    return this.#start(name, async ({ starts }) =>
      starts.enqueue(name, await readEnqueue(options), this.#of.hasResult),
    );
  }

  /** `begin` stores the step, too. */
  #start(name: string, begin: (services: Services) => Promise<Started | Refusal | null>): Promise<Json> {
    return this.#once(name, async () => {
      const started = await begin(this.#services);
      if (started === null) return this.#abandon();
      if (started.kind === 'refused') throw new ToolError(started.message, { code: started.code });
      this.#bytes += Buffer.byteLength(JSON.stringify(started.value));
      return started.value;
    });
  }

  /** `first`: runs if nothing is stored under the name. */
  async #once(name: string, first: () => Promise<Json>): Promise<Json> {
    this.#claim(name);
    try {
      const stored = (await this.#load()).get(name);
      const value = stored === undefined ? await this.#counted(first) : stored.value;
      this.#of.signal.throwIfAborted();
      return value;
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
    this.#stored ??= this.#read().catch((error: unknown) => {
      this.#stored = null;
      throw error;
    });
    return this.#stored;
  }

  async #read(): Promise<ReadonlyMap<string, StoredStep>> {
    const stored = await this.#services.steps.load(this.#of.hasResult);
    if (stored === null) return this.#abandon();
    this.#count += stored.size;
    for (const { bytes } of stored.values()) this.#bytes += bytes;
    return stored;
  }

  async #counted(first: () => Promise<Json>): Promise<Json> {
    this.#mustGoOn();
    if (this.#count >= MOST_STEPS)
      throw new ToolError(`A call may have ${MOST_STEPS} steps.`, { code: 'too_many_steps' });
    this.#count += 1;
    try {
      return await first();
    } catch (error) {
      this.#count -= 1;
      throw error;
    }
  }

  #reserve(name: string, { bytes }: StoredStep): void {
    const after = this.#bytes + bytes;
    if (after > MOST_BYTES) throw tooLarge(name, bytes);
    this.#bytes = after;
  }

  #mustGoOn(): void {
    this.#of.signal.throwIfAborted();
    if (this.#of.hasResult()) throw new ToolError('The call has ended.', { code: 'call_ended' });
  }

  #abandon(): never {
    this.#of.abandon();
    this.#of.signal.throwIfAborted();
    throw new ToolError('The call has ended.', { code: 'call_ended' });
  }
}

/** Null: an earlier execution stored something else under the name of the step. */
function childOf(value: Json, options: SpawnOptions): SpawnedChild | null {
  if (!isJsonObject(value)) return null;
  const { worker_id, job_id } = value;
  const workerId = typeof worker_id === 'string' ? parseId<WorkerId>(worker_id) : null;
  const jobId = typeof job_id === 'string' ? parseId<JobId>(job_id) : null;
  if (workerId === null || jobId === null) return null;
  // Checked only by the execution that created it.
  const textOf = (key: keyof SpawnOptions): string | null => {
    const text: unknown = Reflect.get(Object(options), key);
    return typeof text === 'string' ? text : null;
  };
  return { name: childName({ name: textOf('name'), role: textOf('role') }), workerId, jobId };
}

/** `step`, `spawn` and `enqueue` of the context. */
export function durableOf(execution: Execution, services: Services): Pick<ToolContext, 'step' | 'spawn' | 'enqueue'> {
  const runner = new StepRunner(execution, services);
  // The stored result was made by the same tool: its type is the one that the tool gave it.
  function step<T>(name: string, work: (of: StepContext) => T | Promise<T>): Promise<StepResult<T>>;
  function step(name: string, work: Work): Promise<unknown> {
    return observed(runner.run(name, work));
  }
  function spawn(name: string, options: SpawnOptions): Promise<SpawnedWorker>;
  function spawn(name: string, options: SpawnOptions): Promise<unknown> {
    return observed(runner.spawn(name, options));
  }
  function enqueue(name: string, options: EnqueueOptions): Promise<EnqueuedInput>;
  function enqueue(name: string, options: EnqueueOptions): Promise<unknown> {
    return observed(runner.enqueue(name, options));
  }
  return { step, spawn, enqueue };
}

/** A step that no code awaits must not end the process. */
function observed<T>(step: Promise<T>): Promise<T> {
  step.catch(() => undefined);
  return step;
}
