/**
 * Runs requests that write: at most once for each `Idempotency-Key`, if the request has one. The response is read in
 * the same transaction that writes, and stored there under the key.
 */
import { createHash } from 'node:crypto';
import {
  mapOutcome,
  perform,
  performOnce,
  type AnyCommand,
  type Command,
  type Outcome,
  type RequestKey,
} from '../../commands/perform.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { Executor } from '../../db/connection/client.ts';
import { OutOfTime } from '../server/deadline.ts';
import type { User } from '../../core/access/user.ts';
import type { ApiPorts } from '../server/ports.ts';
import { RequestRefused, orRefuse } from '../response/problem.ts';

/** The parts of a request that identify it. */
export type WriteRequest = {
  tenantId: TenantId;
  /** The keys of a user that a token or session proves are apart from those of others. */
  user: User | null;
  method: string;
  url: string;
  body?: unknown;
  headers: { 'idempotency-key'?: string };
  /** Deadline on the monotonic clock, in milliseconds: then the API answers 503. */
  lateAt: number;
};

/** Without an `Idempotency-Key`: what is stored under it would contain a secret that the response shows. */
export function unstored(request: Omit<WriteRequest, 'body' | 'headers'>): WriteRequest {
  const { tenantId, user, method, url, lateAt } = request;
  return { tenantId, user, method, url, lateAt, headers: {} };
}

/** Runs `command`, then `read` in the same transaction, if it has one; the response is the result of `read`. */
export function answeredBy<Value, Answer extends object>(
  command: AnyCommand<Value>,
  read: (executor: Executor, value: Value) => Promise<Answer>,
): AnyCommand<Answer> {
  return mapOutcome(command, async (outcome, executor) =>
    outcome.kind === 'refused' ? outcome : { ...outcome, value: await read(executor, outcome.value) },
  );
}

/** Runs a command. Under a key even a command of one statement takes a transaction, because the response is stored. */
export async function write<Answer extends object>(
  ports: ApiPorts,
  request: WriteRequest,
  command: AnyCommand<Answer>,
): Promise<Answer> {
  return once(ports, keyOf(request), inTime(request, command));
}

/** Performs a command and stores its value as the response of the request, in one transaction. */
type PerformLast = <Answer extends object>(command: Command<Answer>) => Promise<Outcome<object>>;

/**
 * Runs idempotent work that does not fit in one transaction. Stores the first response under the key; all requests with
 * the same key get that response. Work that is refused once it is done, such as a deletion, performs its last
 * transaction with `performLast`: then the response is stored in the moment from which repeats would be refused.
 */
export async function writeAround<Answer extends object>(
  ports: ApiPorts,
  request: WriteRequest,
  work: (performLast: PerformLast) => Promise<{ kind: 'done'; value: Answer } | Refusal>,
): Promise<Answer> {
  const key = keyOf(request);
  if (key === null) return orRefuse(await work((command) => perform(ports, command))).value;
  const before = await answerUnder<Answer>(ports, key);
  if (before !== null) return before;
  const outcome = await work((command) => performOnce(ports, key, command, asJson));
  if (outcome.kind === 'done') {
    const { value } = outcome;
    return once(ports, key, async () => ({ kind: 'done', value, afterCommit: [] }));
  }
  // A concurrent request with the same key may have done the work first: return its response then.
  const meanwhile = await answerUnder<Answer>(ports, key);
  if (meanwhile === null) throw new RequestRefused(outcome);
  return meanwhile;
}

/**
 * Runs the first step of `writeAround` if it must not be repeated: in one transaction, once for the request's key, even
 * if no response was stored later.
 */
export async function beginOnce<Begun extends object>(
  ports: ApiPorts,
  request: WriteRequest,
  command: AnyCommand<Begun>,
): Promise<Begun> {
  return stepOnce(ports, request, 'begun', command);
}

/** The same for any step; `step` names it among those of the request. */
export async function stepOnce<Value extends object>(
  ports: ApiPorts,
  request: WriteRequest,
  step: string,
  command: AnyCommand<Value>,
): Promise<Value> {
  return once(ports, stepKeyOf(request, step), inTime(request, command));
}

/**
 * The same for a step that stores what `read` finds before its transaction, which would hold one connection while it
 * waits for another. A repeated request takes what is stored, and does not read again.
 */
export async function readOnce<Found extends object>(
  ports: ApiPorts,
  request: WriteRequest,
  step: string,
  read: () => Promise<Found>,
): Promise<Found> {
  const key = stepKeyOf(request, step);
  const before = key && (await answerUnder<Found>(ports, key));
  if (before !== null) return before;
  const value = await read();
  return once(
    ports,
    key,
    inTime(request, async () => ({ kind: 'done', value, afterCommit: [] })),
  );
}

/** Stored next to the response, under a key that no client can send. */
function stepKeyOf(request: WriteRequest, step: string): RequestKey | null {
  const key = keyOf(request);
  return key && { ...key, key: `${key.key}\n${step}` };
}

/**
 * Does not run a command after the deadline of its request: the client already got a 503, and may have repeated the
 * request under the same key.
 */
function inTime<Answer>(request: WriteRequest, command: AnyCommand<Answer>): AnyCommand<Answer> {
  const timely =
    <Result>(work: (executor: Executor) => Promise<Result>) =>
    async (executor: Executor): Promise<Result> => {
      if (performance.now() > request.lateAt)
        throw new OutOfTime('The request timed out before its transaction started.');
      return work(executor);
    };
  if (typeof command === 'function') return timely(command);
  return {
    statement: timely(async (executor) => {
      const outcome = await command.statement(executor);
      return typeof outcome === 'function' ? timely(outcome) : outcome;
    }),
  };
}

/** Without a key, simply runs the command. */
async function once<Answer extends object>(
  ports: ApiPorts,
  key: RequestKey | null,
  command: AnyCommand<Answer>,
): Promise<Answer> {
  if (key === null) return orRefuse(await perform(ports, command)).value;
  const { value } = orRefuse(await performOnce(ports, key, command, asJson));
  return asAnswer<Answer>(value);
}

/** The stored response of a key; null: none yet. Refused: the key was used for another request. */
async function answerUnder<Answer extends object>(ports: ApiPorts, key: RequestKey): Promise<Answer | null> {
  const nothing = refuse('not_found', 'No response is stored under this key.');
  const outcome = await performOnce<JsonObject>(ports, key, async () => nothing, asJson);
  return outcome === nothing ? null : asAnswer<Answer>(orRefuse(outcome).value);
}

/** Stored as text, so that a repeated request gets an identical response. */
function asJson(answer: object): JsonObject {
  return { answer: JSON.stringify(answer) };
}

/** The hash of the request ensures that the same route stored the response. */
function asAnswer<Answer extends object>({ answer }: JsonObject): Answer {
  if (typeof answer !== 'string') throw new Error('The stored idempotency key has no response.');
  return JSON.parse(answer) as Answer;
}

function keyOf({ tenantId, user, method, url, body, headers }: WriteRequest): RequestKey | null {
  const given = headers['idempotency-key'];
  if (given === undefined) return null;
  // No client can send a key with a line break.
  const key = user === null ? given : `${hashOf(user)}\n${given}`;
  const [path] = url.split('?', 1);
  return { tenantId, key, request: hashOf(`${method}\n${path}\n${canonical(body)}`) };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** JSON text that is independent of the order of members. The depth of bodies is limited (see body.ts). */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? '';
  const members = Object.entries<Json>(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
