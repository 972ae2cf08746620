/** Rate limits of sign-in: wrong keys by address, sessions by key. Counted in this process. */
import { isIPv6 } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';

const MINUTE_S = 60;
/** Wrong keys from one address in a minute. */
const WRONG = 10;
/** Sessions of one key in a minute. */
const SESSIONS = 30;

export type SignInLimits = {
  /** Null: a key may be tried. */
  refusal(address: string): Promise<Refusal | null>;
  wrong(address: string): Promise<void>;
  /** Null: one more session may begin with this key. */
  begins(keyId: string): Promise<Refusal | null>;
};

export function signInLimits(): SignInLimits {
  const wrong = new RateLimiterMemory({ points: WRONG, duration: MINUTE_S });
  const sessions = new RateLimiterMemory({ points: SESSIONS, duration: MINUTE_S });
  return {
    async refusal(address) {
      const tried = await wrong.get(networkOf(address));
      return tried !== null && tried.consumedPoints >= WRONG
        ? tooMany('Too many wrong keys came from this address')
        : null;
    },
    async wrong(address) {
      await consume(wrong, networkOf(address));
    },
    async begins(keyId) {
      return (await consume(sessions, keyId)) ? null : tooMany('Too many sessions were begun with this key');
    },
  };
}

/** False: there was none left. */
async function consume(limiter: RateLimiterMemory, key: string): Promise<boolean> {
  try {
    await limiter.consume(key);
    return true;
  } catch (error) {
    if (error instanceof RateLimiterRes) return false;
    throw error;
  }
}

function tooMany(what: string): Refusal {
  return refuse('rate_limited', `${what}: try again in a minute.`);
}

/** An IPv6 client usually has a whole /64 network, so that network is counted. */
function networkOf(client: string): string {
  const address = withoutPort(client);
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = [], tail = []] = address.split('::').map(groupsOf);
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':');
}

/** Some proxies name the port of a connection, too; each connection has another one. */
function withoutPort(client: string): string {
  const [, v4, v6] = /^(?:([\d.]+)|\[(.+)\])(?::\d+)?$/.exec(client) ?? [];
  return v4 ?? v6 ?? client;
}
