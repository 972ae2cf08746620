// Requests to API processes that may not be there: each goes to any of them, and is made again until somebody says what
// became of it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from '../random.ts';
import { TIMES } from '../platform.ts';
import type { OddAnswer } from '../world/world.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `fine`: statuses that a client may have to live with here. `ifMatch`: the version that is meant. */
export type More = { fine?: readonly number[]; ifMatch?: string };

/** `status` 0: the connection broke, or nothing came in time. */
export type Answer = {
  status: number;
  text: string;
  body: Record<string, unknown>;
  /** What the server asks for before the next attempt, in milliseconds. */
  retryAfterMs: number;
  etag: string | null;
};

export type Asker = {
  /** One request, whatever comes of it. */
  once(method: Method, path: string, body?: object, key?: string, more?: More): Promise<Answer>;
  /** Until it is answered for good; null: given up, as all is over. `requests` hears of each attempt. */
  insist(method: Method, path: string, body?: object, key?: string, more?: More): Promise<Answer | null>;
  /** How often each status was answered. */
  statuses: Map<number, number>;
  odd: OddAnswer[];
};

/** What tells nobody what became of the request. */
const OPEN = [0, 429, 503];
/** Beside those: what a client may have to live with. */
const FINE = [200, 201, 202, 204, 409];
/** What these mean may be gone by the time they come. */
const GOES_AWAY: readonly Method[] = ['PATCH', 'DELETE'];
const TIMEOUT_MS = TIMES.request * 3;
const PAUSE_MS = [100, 500] as const;

export function openAsker(urls: readonly string[], dice: Dice, givenUp: AbortSignal): Asker {
  const statuses = new Map<number, number>();
  const odd: OddAnswer[] = [];
  const once: Asker['once'] = async (method, path, body, key, more = {}) => {
    const answer = await ask(`${dice.pick(urls)}${path}`, method, body, key, more.ifMatch);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const fine = [...OPEN, ...FINE, ...(GOES_AWAY.includes(method) ? [404] : []), ...(more.fine ?? [])];
    if (!fine.includes(answer.status)) {
      odd.push({ request: `${method} ${path}`, status: answer.status, body: answer.text });
    }
    return answer;
  };
  return {
    once,
    statuses,
    odd,
    async insist(method, path, body, key, more) {
      while (!givenUp.aborted) {
        const answer = await once(method, path, body, key, more);
        if (!OPEN.includes(answer.status)) return answer;
        await sleep(answer.retryAfterMs + dice.between(...PAUSE_MS));
      }
      return null;
    },
  };
}

async function ask(
  url: string,
  method: Method,
  body?: object,
  key?: string,
  ifMatch?: string,
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
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
