/**
 * Performs commands: the writes in one transaction and, after the commit, wake-ups and bus messages. These after-commit
 * actions can be lost if the process dies; sweeps and the polling of stream hubs replace them.
 */
import { followUpsDue, progressOf, controlSignalsTo } from '../bus/bus.ts';
import type { Progress, ControlSignal } from '../bus/bus.ts';
import type { ContextId, ProcessId, TenantId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { Executor } from '../db/connection/client.ts';
import type { Withdrawn } from '../db/run/stop-requests.ts';
import { remember, takeKey } from '../db/write/inputs/idempotency.ts';
import type { WakeUp } from '../queue/wake-queue.ts';
import type { CommandPorts } from './ports.ts';
import { wakeMet } from './jobs/wake-met.ts';

/** Dependencies to perform a command and dispatch its after-commit actions. */
type PerformPorts = Pick<CommandPorts, 'database' | 'wakeQueue' | 'bus'>;

/** Dispatched after the commit. */
export type AfterCommit =
  | { kind: 'wake_up'; wakeUp: WakeUp }
  | { kind: 'control_signal'; owner: ProcessId; signal: ControlSignal }
  | { kind: 'progress'; progress: Progress }
  /** A job ended, and its end requires follow-ups in other contexts. */
  | { kind: 'follow_up' }
  /** Contexts whose calls no longer wait for any worker. */
  | { kind: 'met'; contexts: ContextId[] };

/** Actions after the end of a job that other contexts waited for. */
export function wakeMetContexts(contexts: ContextId[]): AfterCommit[] {
  return contexts.length === 0 ? [] : [{ kind: 'met', contexts }];
}

/** Actions after queued jobs were withdrawn. */
export function withdrawnActions(
  contextId: ContextId,
  { headSeq, jobIds, met, followUp }: Withdrawn,
): AfterCommit[] {
  const action = jobIds.map((jobId): AfterCommit => {
    const finished = { jobId, status: 'cancelled' } as const;
    return { kind: 'progress', progress: { contextId, headSeq, finished } };
  });
  return [...action, ...wakeMetContexts(met), ...(followUp ? [{ kind: 'follow_up' } as const] : [])];
}

export type Done<T> = { kind: 'done'; value: T; afterCommit: AfterCommit[] };

/** A command's writes on `executor`: a pool for a command of one statement, a transaction for all others. */
export type Command<T> = (executor: Executor) => Promise<Done<T> | Refusal>;

export function done<T>(value: T, ...afterCommit: AfterCommit[]): Done<T> {
  return { kind: 'done', value, afterCommit };
}

/** A command that is one statement needs no transaction around it. */
export async function performAlone<T>(ports: PerformPorts, command: Command<T>): Promise<Done<T> | Refusal> {
  const outcome = await command(ports.database.db);
  if (outcome.kind === 'done') dispatch(ports, outcome.afterCommit);
  return outcome;
}

/** A refusal rolls back what the command wrote before it. */
export async function perform<T>(ports: PerformPorts, command: Command<T>): Promise<Done<T> | Refusal> {
  const outcome = await ports.database.transaction(async (tx) => orThrow(await command(tx))).catch(refusalOf);
  if (outcome.kind === 'done') dispatch(ports, outcome.afterCommit);
  return outcome;
}

/** Identifies one request of a client: its key, and a hash of what it asks. */
export type RequestKey = { tenantId: TenantId; key: string; request: string };

/**
 * Performs a command at most once for its key: the response is stored in the command's own transaction. A refusal is
 * not stored, so that the client can repeat the request once it can succeed. `toResponse` returns the response that
 * repeats also get.
 */
export async function performOnce<T>(
  ports: PerformPorts,
  { tenantId, key, request }: RequestKey,
  command: Command<T>,
  toResponse: (value: T) => JsonObject,
): Promise<Done<JsonObject> | Refusal> {
  const outcome = await ports.database
    .transaction(async (tx, last): Promise<Done<JsonObject> | Refusal> => {
      const state = await takeKey(tx, tenantId, key, request);
      if (state.kind === 'answered') {
        if (state.request === request) return done(state.response);
        return refuse(
          'idempotency_conflict',
          'This Idempotency-Key was already used for another request. Use a new key.',
        );
      }
      const first = orThrow(await command(tx));
      const response = toResponse(first.value);
      await remember(last, tenantId, key, response);
      return done(response, ...first.afterCommit);
    })
    .catch(refusalOf);
  if (outcome.kind === 'done') dispatch(ports, outcome.afterCommit);
  return outcome;
}

/** Rolls back the transaction, including the stored key. */
class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

function orThrow<T>(outcome: Done<T> | Refusal): Done<T> {
  if (outcome.kind === 'refused') throw new Refused(outcome);
  return outcome;
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refused) return error.refusal;
  throw error;
}

export function dispatch(ports: PerformPorts, afterCommit: readonly AfterCommit[]): void {
  const { wakeQueue, bus } = ports;
  for (const action of afterCommit) {
    switch (action.kind) {
      case 'wake_up':
        wakeQueue.notify(action.wakeUp);
        break;
      case 'control_signal':
        bus.publish(controlSignalsTo(action.owner), action.signal);
        break;
      case 'progress':
        bus.publish(progressOf(action.progress.contextId), action.progress);
        break;
      case 'follow_up':
        bus.publish(followUpsDue(), {});
        break;
      case 'met':
        wakeMet(ports, action.contexts);
        break;
    }
  }
}
