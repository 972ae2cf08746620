// Requests to API processes that may be down: each goes to any of them, and is repeated until its outcome is known.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { KEYS, TIMES } from '../platform.ts';
import type { OddAnswer } from '../world/world.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `fine`: statuses that a client has to expect here. `ifMatch`: the expected version. `by`: whose key is sent; of the
 * default tenant, if nothing is given. `bearer`: another key. `at`: the API process; any, if nothing is given.
 */
export type More = { fine?: readonly number[]; ifMatch?: string; by?: keyof typeof KEYS; bearer?: string; at?: string };

/** `status` 0: the connection broke, or no answer arrived in time. */
export type Answer = {
  status: number;
  text: string;
  body: Record<string, unknown>;
  /** The server's Retry-After, in milliseconds. */
  retryAfterMs: number;
  etag: string | null;
};

export type Asker = {
  /** One request, with any outcome. */
  once(method: Method, path: string, body?: object, key?: string, more?: More): Promise<Answer>;
  /** Until the final answer; null: given up, at the end of the run. `requests` receives each attempt. */
  insist(method: Method, path: string, body?: object, key?: string, more?: More): Promise<Answer | null>;
  /** Aborted once requests are no longer repeated. */
  givenUp: AbortSignal;
  /** The same, which gives up earlier or later. */
  until(givenUp: AbortSignal): Asker;
  /** How often each status was returned. */
  statuses: Map<number, number>;
  odd: OddAnswer[];
};

const OPEN = [0, 429, 503];
/** In addition: statuses that a client has to expect. */
const FINE = [200, 201, 202, 204, 409];
/** The rows that these name may be deleted by then. */
const GOES_AWAY: readonly Method[] = ['PATCH', 'DELETE'];
const TIMEOUT_MS = TIMES.request * 3;
const PAUSE_MS = [100, 500] as const;

export function openAsker(urls: readonly string[], random: Random, givenUp: AbortSignal): Asker {
  const statuses = new Map<number, number>();
  const odd: OddAnswer[] = [];
  const once: Asker['once'] = async (method, path, body, key, more = {}) => {
    const answer = await ask(`${more.at ?? random.pick(urls)}${path}`, method, body, key, more);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const fine = [...OPEN, ...FINE, ...(GOES_AWAY.includes(method) ? [404] : []), ...(more.fine ?? [])];
    if (!fine.includes(answer.status)) {
      odd.push({ request: `${method} ${path}`, status: answer.status, body: answer.text });
    }
    return answer;
  };
  const until: Asker['until'] = (over) => ({
    once,
    givenUp: over,
    until,
    statuses,
    odd,
    async insist(method, path, body, key, more) {
      while (!over.aborted) {
        const answer = await once(method, path, body, key, more);
        if (!isOpen(answer)) return answer;
        await sleep(answer.retryAfterMs + random.between(...PAUSE_MS));
      }
      return null;
    },
  });
  return until(givenUp);
}

/** The outcome of the request stays unknown. */
export function isOpen({ status }: Answer): boolean {
  return OPEN.includes(status);
}

async function ask(
  url: string,
  method: Method,
  body: object | undefined,
  key: string | undefined,
  { ifMatch, by = 'default', bearer = KEYS[by] }: More,
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
    });
    const text = await response.text();
    const retryAfterMs = Number(response.headers.get('retry-after') ?? 0) * 1_000;
    const etag = response.headers.get('etag');
    return { status: response.status, text, body: parse(text), retryAfterMs, etag };
  } catch {
    return { status: 0, text: '', body: {}, retryAfterMs: 0, etag: null };
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
