/**
 * How a request that writes is carried out: at most once for its `Idempotency-Key`, where it has one. What it is answered
 * with is read in the transaction that writes, and stored there under the key.
 */
import { createHash } from 'node:crypto';
import { perform, performAlone, performOnce } from '../commands/perform.ts';
import type { Command, RequestKey } from '../commands/perform.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { TenantId } from '../core/ids.ts';
import { isJsonObject } from '../core/json.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Executor } from '../db/client.ts';
import { OutOfTime } from './deadline.ts';
import type { ApiPorts } from './ports.ts';
import { RequestRefused, orRefuse } from './problem.ts';

/** What of a request makes it the same as another. */
export type WriteRequest = {
  tenantId: TenantId;
  method: string;
  url: string;
  body?: unknown;
  headers: { 'idempotency-key'?: string };
  /** Of the monotonic clock, in milliseconds: when it is answered with 503 at the latest. */
  lateAt: number;
};

/** `command`, answered with what is read right after it, in the same transaction. */
export function answeredBy<Value, Answer extends object>(
  command: Command<Value>,
  read: (executor: Executor, value: Value) => Promise<Answer>,
): Command<Answer> {
  return async (executor) => {
    const outcome = await command(executor);
    if (outcome.kind === 'refused') return outcome;
    return { ...outcome, value: await read(executor, outcome.value) };
  };
}

/** In one transaction. */
export async function write<Answer extends object>(
  ports: ApiPorts,
  request: WriteRequest,
  command: Command<Answer>,
): Promise<Answer> {
  const key = keyOf(request);
  const timely = inTime(request, command);
  if (key !== null) return once(ports, key, timely);
  return orRefuse(await perform(ports, timely)).value;
}

/** A command that is one statement: without a key it needs no transaction. */
export async function writeAlone<Answer extends object>(
  ports: ApiPorts,
  request: WriteRequest,
  command: Command<Answer>,
): Promise<Answer> {
  const key = keyOf(request);
  if (key !== null) return once(ports, key, inTime(request, command));
  return orRefuse(await performAlone(ports, command)).value;
}

/**
 * For work that does not fit in one transaction and does no harm when it is done twice: the first answer is stored when
 * it is there, and all who ask with the same key get that one.
 */
export async function writeAround<Answer extends object>(
  ports: ApiPorts,
  request: WriteRequest,
  work: () => Promise<{ kind: 'done'; value: Answer } | Refusal>,
): Promise<Answer> {
  const key = keyOf(request);
  if (key === null) return orRefuse(await work()).value;
  const before = await answerUnder<Answer>(ports, key);
  if (before !== null) return before;
  const outcome = await work();
  if (outcome.kind === 'done') {
    const { value } = outcome;
    return once(ports, key, async () => ({ kind: 'done', value, afterCommit: [] }));
  }
  // An equal request may have been faster: what it left to do for this one is nothing.
  const meanwhile = await answerUnder<Answer>(ports, key);
  if (meanwhile === null) throw new RequestRefused(outcome);
  return meanwhile;
}

/**
 * What the work of `writeAround` begins with, where beginning it again would do harm: in one transaction, once for the
 * request's key, whether or not an answer came of it.
 */
export async function beginOnce<Begun extends object>(
  ports: ApiPorts,
  request: WriteRequest,
  command: Command<Begun>,
): Promise<Begun> {
  const key = keyOf(request);
  const timely = inTime(request, command);
  if (key === null) return orRefuse(await perform(ports, timely)).value;
  // Beside the answer, under a key that no client can send.
  return once(ports, { ...key, key: `${key.key}\nbegun` }, timely);
}

/**
 * A request that was given up is not carried out when its turn comes at last: whoever made it was told to ask again, and
 * may have been answered otherwise under the same key by then.
 */
function inTime<Answer>({ lateAt }: WriteRequest, command: Command<Answer>): Command<Answer> {
  return async (executor) => {
    if (performance.now() > lateAt) throw new OutOfTime('The request was given up before its turn came.');
    return command(executor);
  };
}

async function once<Answer extends object>(
  ports: ApiPorts,
  key: RequestKey,
  command: Command<Answer>,
): Promise<Answer> {
  const { value } = orRefuse(await performOnce(ports, key, command, asJson));
  return asAnswer<Answer>(value);
}

/** What was answered under a key; null: nothing so far. Refused: the key was used for something else. */
async function answerUnder<Answer extends object>(ports: ApiPorts, key: RequestKey): Promise<Answer | null> {
  const nothing = refuse('not_found', 'Nothing was answered under this key.');
  const outcome = await performOnce<JsonObject>(ports, key, async () => nothing, asJson);
  return outcome === nothing ? null : asAnswer<Answer>(orRefuse(outcome).value);
}

/** As text, so that a repeat is answered to the letter. */
function asJson(answer: object): JsonObject {
  return { answer: JSON.stringify(answer) };
}

/** Under a key and a request's hash stands what the same route stored there. */
function asAnswer<Answer extends object>({ answer }: JsonObject): Answer {
  if (typeof answer !== 'string') throw new Error('An idempotency key holds no answer.');
  return JSON.parse(answer) as Answer;
}

function keyOf({ tenantId, method, url, body, headers }: WriteRequest): RequestKey | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  const [path] = url.split('?', 1);
  const request = createHash('sha256')
    .update(`${method}\n${path}\n${canonical(body)}`)
    .digest('base64url');
  return { tenantId, key, request };
}

/** JSON text that does not depend on the order of members. Bodies are not deep (see body.ts). */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? '';
  const members = Object.entries<Json>(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
