/**
 * Durable steps of a call: results that are stored while the call runs, so that a further execution of the same call goes
 * on where the last one was. They are stored by the run that holds the lease, for an open call of a job without a
 * stop request.
 */
import type { Json } from '../json.ts';

/** A stored result, and the bytes of its JSON. */
export type StoredStep = { value: Json; bytes: number };

/** `name`: unique within the call. */
export type NewStep = StoredStep & { name: string };

/** Whether this execution of the call has ended with a result, which may be a timeout. */
export type HasResult = () => boolean;

/**
 * The stored steps of one call. Null: nothing was read or written, because the call must not go on: another process has
 * its context, its job was told to end, or it has its result. Both wait for a database that is unavailable, until the
 * execution has its result.
 */
export type CallSteps = {
  /** What earlier executions stored, by name. */
  load(hasResult: HasResult): Promise<ReadonlyMap<string, StoredStep> | null>;
  /** Returns what is stored: the given value, unless there was one already. May be repeated. */
  store(step: NewStep, hasResult: HasResult): Promise<{ value: Json } | null>;
};
