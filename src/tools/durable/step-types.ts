/** The types of `context.step`, for authors of tools. */

/** What the function of a step gets. */
export type StepContext = {
  /** A UUID: the same at every execution of this step. Pass it to the service that the step calls. */
  idempotency_key: string;
  /** The `signal` of the call. */
  signal: AbortSignal;
};

/** What JSON drops from objects, and writes as null in lists. */
type Dropped = undefined | symbol | ((...args: never[]) => unknown);

/** A value after it was stored as JSON and read again: a `Date` is a string, and functions are gone. */
type Stored<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends { toJSON(): infer Written }
      ? Stored<Written>
      : T extends bigint | Dropped
        ? never
        : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
          ? Record<string, never>
          : T extends readonly unknown[]
            ? { [Key in keyof T]: StoredItem<T[Key]> }
            : { [Key in keyof T as T[Key] extends Exclude<Dropped, undefined> ? never : Key]: Stored<T[Key]> };

type StoredItem<T> = unknown extends T ? T : T extends Dropped ? null : Stored<T>;

/** What a step returns: the result of its function as JSON; `null` if the function returns nothing. */
export type StepResult<T> = T extends undefined | void ? null : Stored<T>;

/**
 * Runs a part of the call at most once to its end: `step('charge', ({ idempotency_key }) => …)`.
 *
 * The result of the function is stored, as JSON. If the call runs again after a crash, the step returns the stored result
 * and the function does not run. If the process dies after the function and before its result was stored, the function
 * runs again, with the same `idempotency_key`. An error of the function is thrown and not stored.
 *
 * `name`: 1 to 100 characters, unique within the call; the same at every execution. Steps may run at the same time. A
 * call may store 1,000 steps, of 1 MB of JSON each, and of 4 MB together. Throws a `ToolError` with the code
 * `step_not_allowed` (in a tool with effect `none`), `step_name_invalid`, `step_name_used`, `step_result_invalid`,
 * `step_result_too_large`, `too_many_steps` or `call_ended`. Once the call must not go on, it throws the reason of
 * `signal`, and nothing is stored.
 */
export type RunStep = <T>(name: string, work: (step: StepContext) => T | Promise<T>) => Promise<StepResult<T>>;
