/**
 * How a command is carried out: its writes in one transaction, then, once they are committed, rings and whispers. What is
 * told after the commit may be lost with its process; sweeps and readers make up for it.
 */
import { errandsDue, progressOf, summonsTo } from '../bus/bus.ts';
import type { Progress, Summons } from '../bus/bus.ts';
import type { ContextId, ProcessId, TenantId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { Executor } from '../db/client.ts';
import type { Withdrawn } from '../db/wishes.ts';
import { remember, takeKey } from '../db/idempotency.ts';
import type { Ring } from '../queue/doorbell.ts';
import type { CommandPorts } from './ports.ts';
import { wakeMet } from './wake-met.ts';

/** What carries a command out, and tells of it. */
type Carrier = Pick<CommandPorts, 'database' | 'bell' | 'bus'>;

/** Said after the commit. */
export type Tidings =
  | { kind: 'ring'; ring: Ring }
  | { kind: 'summon'; owner: ProcessId; summons: Summons }
  | { kind: 'progress'; progress: Progress }
  /** A job ended, and something is to be passed on to others. */
  | { kind: 'errand' }
  /** Contexts that waited for workers, and wait for nothing more. */
  | { kind: 'met'; contexts: ContextId[] };

/** Of an end that others waited for. */
export function metTidings(contexts: ContextId[]): Tidings[] {
  return contexts.length === 0 ? [] : [{ kind: 'met', contexts }];
}

/** Of queued jobs that were taken back. */
export function withdrawnTidings(
  contextId: ContextId,
  { headSeq, jobIds, met, errand }: Withdrawn,
): Tidings[] {
  const told = jobIds.map((jobId): Tidings => {
    const finished = { jobId, status: 'cancelled' } as const;
    return { kind: 'progress', progress: { contextId, headSeq, finished } };
  });
  return [...told, ...metTidings(met), ...(errand ? [{ kind: 'errand' } as const] : [])];
}

export type Done<T> = { kind: 'done'; value: T; tidings: Tidings[] };

/** A command's writes on `executor`: a pool for those of one statement, a transaction for all others. */
export type Command<T> = (executor: Executor) => Promise<Done<T> | Refusal>;

export function done<T>(value: T, ...tidings: Tidings[]): Done<T> {
  return { kind: 'done', value, tidings };
}

/** A command that is one statement needs no transaction around it. */
export async function performAlone<T>(ports: Carrier, command: Command<T>): Promise<Done<T> | Refusal> {
  const outcome = await command(ports.database.db);
  if (outcome.kind === 'done') tell(ports, outcome.tidings);
  return outcome;
}

/** A refusal leaves nothing behind: what the command wrote before it is rolled back. */
export async function perform<T>(ports: Carrier, command: Command<T>): Promise<Done<T> | Refusal> {
  const outcome = await ports.database.transaction(async (tx) => orThrow(await command(tx))).catch(refusalOf);
  if (outcome.kind === 'done') tell(ports, outcome.tidings);
  return outcome;
}

/** Names one request of a client: its key, and a hash of what it asks. */
export type RequestKey = { tenantId: TenantId; key: string; request: string };

/**
 * Performs a command at most once for its key: the answer is stored in the command's own transaction. A refusal is not
 * stored, so that the request may be made again once it can succeed. `toResponse` gives what a repeat is answered with.
 */
export async function performOnce<T>(
  ports: Carrier,
  { tenantId, key, request }: RequestKey,
  command: Command<T>,
  toResponse: (value: T) => JsonObject,
): Promise<Done<JsonObject> | Refusal> {
  const outcome = await ports.database
    .transaction(async (tx, last): Promise<Done<JsonObject> | Refusal> => {
      const state = await takeKey(tx, tenantId, key, request);
      if (state.kind === 'answered') {
        if (state.request === request) return done(state.response);
        return refuse('idempotency_conflict', 'This Idempotency-Key was used for another request.');
      }
      const first = orThrow(await command(tx));
      const response = toResponse(first.value);
      await remember(last, tenantId, key, response);
      return done(response, ...first.tidings);
    })
    .catch(refusalOf);
  if (outcome.kind === 'done') tell(ports, outcome.tidings);
  return outcome;
}

/** Rolls the transaction back, with the key in it. */
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

type Tellers = Pick<CommandPorts, 'database' | 'bell' | 'bus'>;

export function tell(ports: Tellers, tidings: readonly Tidings[]): void {
  const { bell, bus } = ports;
  for (const told of tidings) {
    switch (told.kind) {
      case 'ring':
        bell.ring(told.ring);
        break;
      case 'summon':
        bus.publish(summonsTo(told.owner), told.summons);
        break;
      case 'progress':
        bus.publish(progressOf(told.progress.contextId), told.progress);
        break;
      case 'errand':
        bus.publish(errandsDue(), {});
        break;
      case 'met':
        wakeMet(ports, told.contexts);
        break;
    }
  }
}
