/**
 * Work that a call starts: an input to a context of its tenant, or a worker below its own. It is committed together with a
 * durable step of the call, so a further execution of the call finds it and starts nothing.
 */
import type { Refusal } from '../errors.ts';
import type { ContextId, JobId, WorkerId } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';
import type { SpawnAsk } from '../workers/worker-asks.ts';
import type { HasResult } from './steps.ts';

/** `priority`: from 1 (first) to 10. */
export type AskedInput = { contextId: ContextId; input: string; priority: number; metadata: JsonObject };

/** `metadata`: of its job. */
export type AskedWorker = SpawnAsk & { metadata: JsonObject };

/** A worker that a call created, for clients that follow the call. */
export type SpawnedChild = { name: string; workerId: WorkerId; jobId: JobId };

export function childName({ name, role }: Pick<AskedWorker, 'name' | 'role'>): string {
  return name ?? role ?? 'worker';
}

/**
 * `value`: the stored result of the step, with the ids of what was started; or what an earlier execution stored under the
 * name.
 */
export type Started = { kind: 'done'; value: Json };

/**
 * `step`: the name of the step. Null: nothing was started, because the call must not go on (see `CallSteps`, also for
 * `hasResult`).
 */
export type CallStarts = {
  enqueue(step: string, asked: AskedInput, hasResult: HasResult): Promise<Started | Refusal | null>;
  spawn(step: string, asked: AskedWorker, hasResult: HasResult): Promise<Started | Refusal | null>;
};
