/**
 * Sends requests with `fetch`: typed by the OpenAPI document, with timeouts and safe retries. Every write has an
 * `Idempotency-Key`, the same for each attempt, so a retry after a lost response does not repeat the write.
 */
import { NightshiftError, toError } from './errors.ts';
import { backoff, pause, retryAfter } from './pause.ts';
import type { Operations } from './schema.ts';

/** Which API a client calls, and how. */
export type ClientOptions = {
  /** URL of the API, such as `http://127.0.0.1:3000`. */
  url: string;
  /** An API key or a token. Without one, requests have no `Authorization`. */
  apiKey?: string | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
  /** Maximum number of retries of a request. Default: 4. */
  retries?: number;
  /** Timeout of one attempt in milliseconds, plus its `wait_ms`. Default: 30,000. */
  timeoutMs?: number;
};

/** Options of one request. */
export type RequestOptions = {
  /** When it aborts, the promise rejects with its reason. */
  signal?: AbortSignal;
  /** Timeout of one attempt in milliseconds, plus its `wait_ms`, in place of that of the client. */
  timeoutMs?: number;
  /** Maximum number of retries, in place of that of the client. */
  retries?: number;
  /** For writes: replaces the generated key. */
  idempotencyKey?: string;
  /**
   * For writes: the `ETag` of the version to change. The API refuses with `version_conflict` if there is a newer
   * version.
   */
  ifMatch?: string;
  /** Called with the `ETag` of the response, if it has one. */
  onEtag?: (etag: string) => void;
};

type Operation = keyof Operations;
/** The methods of HTTP that the API has. */
export type Method = Operation extends `${infer M} ${string}` ? M : never;
/** The paths that the API has for a method. */
export type PathOf<M extends Method> = Extract<Operation, `${M} ${string}`> extends `${M} ${infer P}` ? P : never;
type OperationOf<M extends Method, P extends PathOf<M>> = Operations[Extract<Operation, `${M} ${P}`>];

type Part<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : undefined extends Value
    ? { [N in Name]?: Value }
    : { [N in Name]: Value };
type Query<Value> = [Value] extends [undefined] ? unknown : { query?: Value };
/** The arguments of an operation: `path`, `query` and `body`, as far as it has them. */
type Given<O extends Operations[Operation]> = RequestOptions &
  Part<'path', O['path']> &
  Query<O['query']> &
  Part<'body', O['body']>;

type Needed<T> = Partial<T> extends T ? [given?: T] : [given: T];

/** Resolves with the parsed response; rejects with a `NightshiftError`, or with the reason of the signal. */
export type Request = <M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  ...given: Needed<Given<OperationOf<M, P>>>
) => Promise<OperationOf<M, P>['answer']>;

/** Sends one attempt and returns the raw response: for streams. */
export type Open = (path: string, headers: Record<string, string>, signal: AbortSignal) => Promise<Response>;

export type Transport = { request: Request; open: Open };

type Loose = RequestOptions & { path?: object; query?: object; body?: unknown };

/** If the API asks for a longer wait, the request fails instead of retrying. */
const LONGEST_PAUSE_MS = 60_000;
const TIMEOUT_MS = 30_000;
const RETRIES = 4;
/** Statuses to retry, including those of proxies while the API is unavailable. */
const AGAIN = [429, 502, 503, 504];

export function openTransport(options: ClientOptions): Transport {
  const base = options.url.replace(/\/+$/, '');
  const send = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const access = options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` };

  const request = async (method: string, path: string, given: Loose = {}): Promise<unknown> => {
    const url = `${base}${fill(path, given.path)}${queryOf(given.query)}`;
    const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9', ...access };
    if (method !== 'GET') headers['idempotency-key'] = given.idempotencyKey ?? makeKey();
    if (given.ifMatch !== undefined) headers['if-match'] = given.ifMatch;
    if (given.body !== undefined) headers['content-type'] = 'application/json';
    const body = given.body === undefined ? null : JSON.stringify(given.body);
    const retries = given.retries ?? options.retries ?? RETRIES;
    const timeoutMs = (given.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS) + waitOf(given);
    for (let failures = 0; ; failures += 1) {
      const attempt = await tryOnce(base, () => send(url, init({ method, headers, body }, timeoutMs, given.signal)));
      given.signal?.throwIfAborted();
      if (attempt.kind === 'answer') {
        if (attempt.etag !== null) given.onEtag?.(attempt.etag);
        return attempt.value;
      }
      const ms = attempt.after ?? backoff(failures, 250, 8_000);
      if (!attempt.again || failures >= retries || ms > LONGEST_PAUSE_MS) throw attempt.error;
      await pause(ms, given.signal);
      given.signal?.throwIfAborted();
    }
  };
  return {
    request: request as Request,
    open: (path, headers, signal) => send(`${base}${path}`, { headers: { ...access, ...headers }, signal }),
  };
}

function init(request: RequestInit, timeoutMs: number, signal?: AbortSignal): RequestInit {
  const late = AbortSignal.timeout(timeoutMs);
  return { ...request, signal: signal === undefined ? late : AbortSignal.any([signal, late]) };
}

type Attempt =
  | { kind: 'answer'; value: unknown; etag: string | null }
  /** `after`: the delay that the API asks for, in milliseconds. */
  | { kind: 'failed'; error: NightshiftError; again: boolean; after: number | null };

async function tryOnce(base: string, send: () => Promise<Response>): Promise<Attempt> {
  try {
    const response = await send();
    if (response.ok) return { kind: 'answer', value: await read(response), etag: response.headers.get('etag') };
    const again = AGAIN.includes(response.status) && response.headers.get('x-should-retry') !== 'false';
    return { kind: 'failed', error: await toError(response), again, after: retryAfter(response) };
  } catch (cause) {
    return { kind: 'failed', error: unreached(cause, base), again: true, after: null };
  }
}

/** The error for a missing response. `base`: URL of the API; empty: the origin of the page. */
export function unreached(cause: unknown, base = ''): NightshiftError {
  if (cause instanceof NightshiftError) return cause;
  const late = cause instanceof Error && cause.name === 'TimeoutError';
  const api = base === '' ? 'The API' : `The API at ${base}`;
  return late
    ? new NightshiftError('timed_out', `${api} did not answer in time.`, {
        cause,
      })
    : new NightshiftError('unreachable', `${api} could not be reached.`, { cause });
}

async function read(response: Response): Promise<unknown> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  if (!type.includes('json')) return text === '' ? undefined : text;
  return JSON.parse(text);
}

function fill(path: string, values: object = {}): string {
  const byName = new Map(Object.entries(values));
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(byName.get(name))));
}

export function queryOf(query: object = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** The `wait_ms` of the request. */
function waitOf({ query, body }: Loose): number {
  for (const part of [query, body]) {
    if (typeof part !== 'object' || part === null || !('wait_ms' in part)) continue;
    if (typeof part.wait_ms === 'number') return part.wait_ms;
  }
  return 0;
}

/** `crypto.randomUUID` is not available on pages without TLS. */
function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
