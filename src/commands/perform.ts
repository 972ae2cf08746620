/**
 * Performs commands. Only this file opens transactions for them, and dispatches their actions after the commit. The
 * type of a command determines whether it gets a transaction:
 * - `Command`: several statements that commit together.
 * - `OneStatement`: a statement that commits by itself. It costs one round trip, and no transaction.
 */
import { TENANT_INACTIVE } from '../core/access/tenant.ts';
import type { TenantId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import { refuse, type Refusal } from '../core/errors.ts';
import type { Database, Executor } from '../db/connection/client.ts';
import { remember, takeKey } from '../db/write/inputs/idempotency.ts';
import { dispatch, type AfterCommit, type DispatchPorts } from './after-commit.ts';

export type Done<T> = { kind: 'done'; value: T; afterCommit: AfterCommit[] };

export type Outcome<T> = Done<T> | Refusal;

export function done<T>(value: T, ...afterCommit: AfterCommit[]): Done<T> {
  return { kind: 'done', value, afterCommit };
}

/** Writes that commit together, in the transaction `tx`. A refusal rolls back what was written before it. */
export type Command<T> = (tx: Executor) => Promise<Outcome<T>>;

/**
 * At most one statement that writes, and reads around it. If they find that more must be written together, nothing is
 * written yet, and the result is the command that goes on in a transaction.
 */
export type OneStatement<T> = { statement(executor: Executor): Promise<Outcome<T> | Command<T>> };

export type AnyCommand<T> = Command<T> | OneStatement<T>;

export async function perform<T>(ports: DispatchPorts, command: AnyCommand<T>): Promise<Outcome<T>> {
  const { database } = ports;
  const outcome = await runStatement(database.db, command);
  return dispatched(ports, typeof outcome === 'function' ? await commit(database, outcome) : outcome);
}

/** Performs a command as a part of another one, in its transaction `tx`. */
export async function performWithin<T>(tx: Executor, command: AnyCommand<T>): Promise<Outcome<T>> {
  const outcome = await runStatement(tx, command);
  return typeof outcome === 'function' ? outcome(tx) : outcome;
}

/** Runs a `OneStatement`. Returns its outcome, or the command that still needs a transaction: a `Command` unchanged. */
export async function runStatement<T>(executor: Executor, command: AnyCommand<T>): Promise<Outcome<T> | Command<T>> {
  return typeof command === 'function' ? command : command.statement(executor);
}

/** The same command with another outcome. `change` runs in the transaction of the command, if it has one. */
export function mapOutcome<T, U>(
  command: AnyCommand<T>,
  change: (outcome: Outcome<T>, executor: Executor) => Promise<Outcome<U>>,
): AnyCommand<U> {
  const changed =
    (inTransaction: Command<T>): Command<U> =>
    async (tx) =>
      change(await inTransaction(tx), tx);
  if (typeof command === 'function') return changed(command);
  return {
    async statement(executor) {
      const outcome = await command.statement(executor);
      return typeof outcome === 'function' ? changed(outcome) : change(outcome, executor);
    },
  };
}

/** Identifies one request of a client: its key, and a hash of what it asks. */
export type RequestKey = { tenantId: TenantId; key: string; request: string };

/**
 * Performs a command at most once for its key: the response is stored in the command's own transaction. A refusal is
 * not stored, so that the client can repeat the request once it can succeed. `toResponse` returns the response that
 * repeats also get.
 */
export async function performOnce<T>(
  ports: DispatchPorts,
  { tenantId, key, request }: RequestKey,
  command: AnyCommand<T>,
  toResponse: (value: T) => JsonObject,
): Promise<Outcome<JsonObject>> {
  const outcome = await commit(ports.database, async (tx, last) => {
    const state = await takeKey(tx, tenantId, key, request);
    if (state.kind === 'inactive') return TENANT_INACTIVE;
    if (state.kind === 'answered') {
      if (state.request === request) return done(state.response);
      return refuse(
        'idempotency_conflict',
        'This Idempotency-Key was already used for another request. Use a new key.',
      );
    }
    const first = await performWithin(tx, command);
    if (first.kind === 'refused') return first;
    const response = toResponse(first.value);
    await remember(last, tenantId, key, response);
    return { ...first, value: response };
  });
  return dispatched(ports, outcome);
}

/** `last` sends the last statement together with the commit. */
async function commit<T>(
  database: Database,
  work: (executor: Executor, last: Executor) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  try {
    return await database.transaction(async (tx, last) => {
      const outcome = await work(tx, last);
      if (outcome.kind === 'refused') throw new Refused(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

/** Rolls back the transaction. */
class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

function dispatched<T>(ports: DispatchPorts, outcome: Outcome<T>): Outcome<T> {
  if (outcome.kind === 'done') dispatch(ports, outcome.afterCommit);
  return outcome;
}
