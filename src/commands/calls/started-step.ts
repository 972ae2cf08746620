/**
 * What a call starts is committed together with a durable step of the call, once. Two executions of a call may try it at the
 * same time, since a process that was declared dead may still run: the later commit is refused by the key of the step.
 */
import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { addStep, findStep, lockJobOf, type RunningCall, type StartingJob } from '../../db/calls/tool-steps.ts';
import { errorCode } from '../../db/connection/database-errors.ts';
import type { Executor } from '../../db/connection/client.ts';
import { perform, type Command, type Outcome } from '../perform.ts';
import type { DispatchPorts } from '../after-commit.ts';

const UNIQUE_VIOLATION = '23505';

/** `name`: of the step. `traceParent`: where what it starts belongs in a trace; null: in none. */
export type StartingCall = RunningCall & { name: string; traceParent: TraceParent | null };

/** The call must not go on: another process has its context, or its job was told to end. What was written is rolled back. */
export class CallEnded extends Error {
  override name = 'CallEnded';
}

/** The result that an earlier execution stored, with the same function or another one; null: none has. */
export async function startedBefore(executor: Executor, call: StartingCall): Promise<{ value: Json } | null> {
  return findStep(executor, call, call.name);
}

/** Throws `CallEnded`. See `lockJobOf` for the order of locks. */
export async function holdJob(tx: Executor, call: StartingCall): Promise<StartingJob> {
  const job = await lockJobOf(tx, call);
  if (job === null) throw new CallEnded();
  return job;
}

export async function storeStarted(tx: Executor, call: StartingCall, value: JsonObject): Promise<void> {
  await addStep(tx, call, { name: call.name, value, bytes: Buffer.byteLength(JSON.stringify(value)) });
}

/** Performs a command that looks for its step first. Throws `CallEnded`. */
export async function performStart<T>(ports: DispatchPorts, command: Command<T>): Promise<Outcome<T>> {
  return perform(ports, command).catch((error: unknown) => {
    if (errorCode(error) === UNIQUE_VIOLATION) return perform(ports, command);
    throw error;
  });
}
