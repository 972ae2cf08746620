/**
 * Extracts the facts of a failure from an exception or event: SDK errors (both SDKs use the same shape), the network
 * errors beneath them, and error events of a stream.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.ts';
import { numberIn, stringIn } from './json.ts';
import type { FailureFacts } from './failure.ts';

const NOTHING: FailureFacts = { status: null, type: '', code: '', message: '', causeCode: '' };

/** For an exception; null if it is a bug in our code and not a failed call. */
export function factsOfThrown(error: unknown): FailureFacts | null {
  if (!(error instanceof Error)) return null;
  const status = memberOf(error, 'status');
  const body = memberOf(error, 'error');
  const causeCode = causeCodeOf(error);
  const bodyFacts = isJson(body) ? factsOfBody(body) : NOTHING;
  if (typeof status === 'number') return { ...bodyFacts, status, message: bodyFacts.message || error.message };
  if (causeCode === '' && !isNetworkError(error)) return null;
  return { ...bodyFacts, causeCode: causeCode || 'UNKNOWN', message: messageOf(error) };
}

/** The headers that came with an error, for Retry-After. */
export function headersOfThrown(error: unknown): Headers {
  const headers = error instanceof Error ? memberOf(error, 'headers') : undefined;
  return headers instanceof Headers ? headers : new Headers();
}

/** For a stream event; null if it is not an error. */
export function factsOfEvent(name: string, data: JsonObject): FailureFacts | null {
  const error = data['error'];
  if (name === 'error' || data['type'] === 'error') return factsOfBody(data);
  // Compatible servers send the error in place of a chunk.
  if (data['type'] === undefined && (isJsonObject(error) || typeof error === 'string')) return factsOfBody(data);
  return null;
}

/** For an error as JSON: `{error: {...}}`, `{error: "..."}`, or the error itself. A numeric code is a status. */
export function factsOfBody(body: Json): FailureFacts {
  if (typeof body === 'string') return { ...NOTHING, message: body };
  if (!isJsonObject(body)) return NOTHING;
  const inner = body['error'];
  if (typeof inner === 'string') return { ...NOTHING, message: inner };
  if (isJsonObject(inner)) return factsOfBody({ ...inner, error: null });
  return {
    ...NOTHING,
    status: statusIn(body, 'code') ?? statusIn(body, 'status'),
    type: stringIn(body, 'type'),
    code: stringIn(body, 'code'),
    message: stringIn(body, 'message'),
  };
}

function statusIn(body: JsonObject, key: string): number | null {
  const number = numberIn(body, key);
  return number !== null && number >= 400 && number < 600 ? number : null;
}

function causeCodeOf(error: Error): string {
  let at: unknown = error;
  for (let depth = 0; depth < 5 && at instanceof Error; depth++) {
    const code = memberOf(at, 'code');
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code)) return code;
    at = at.cause;
  }
  return '';
}

/** The SDKs wrap errors of `fetch`; an interrupted body is a bare `TypeError: terminated`. */
function isNetworkError(error: Error): boolean {
  return /connection error|fetch failed|terminated|request timed out/i.test(error.message);
}

/** The innermost error has the most specific message. */
function messageOf(error: Error): string {
  let at = error;
  while (at.cause instanceof Error) at = at.cause;
  return at.message === '' ? error.message : at.message;
}

function memberOf(value: object, key: string): unknown {
  return Reflect.get(value, key);
}

function isJson(value: unknown): value is Json {
  return typeof value === 'string' || isJsonObject(value);
}
