/** Rate limits for sign-in: wrong keys or codes per address, sessions per key or user. Each process counts for itself. */
import { isIPv6 } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { refuse, type Refusal } from '../../core/errors.ts';
import type { User } from '../../core/access/user.ts';

const MINUTE_S = 60;
/** Wrong keys per address and minute, or wrong codes of an OpenID provider. */
const WRONG = 10;
/** New sessions per key and minute, or per user of the OpenID provider. */
const SESSIONS = 30;
/** Sign-ins with OpenID Connect that begin, per address and minute. */
const BEGINS = 60;

type SignInLimits = {
  /** Null: the address may try a key. */
  refusal(address: string): Promise<Refusal | null>;
  wrong(address: string): Promise<void>;
  /** Null: the key may start another session. */
  begins(keyId: string): Promise<Refusal | null>;
};

export function signInLimits(): SignInLimits {
  const wrong = new RateLimiterMemory({ points: WRONG, duration: MINUTE_S });
  const sessions = new RateLimiterMemory({ points: SESSIONS, duration: MINUTE_S });
  return {
    async refusal(address) {
      const tried = await wrong.get(networkOf(address));
      return tried !== null && tried.consumedPoints >= WRONG
        ? tooMany(`More than ${WRONG} wrong API keys came from this address within a minute`)
        : null;
    },
    async wrong(address) {
      await consume(wrong, networkOf(address));
    },
    async begins(keyId) {
      return (await consume(sessions, keyId))
        ? null
        : tooMany(`More than ${SESSIONS} sessions were started with this API key within a minute`);
    },
  };
}

type OidcLimits = {
  /** False: the limit is reached. */
  mayBegin(address: string): Promise<boolean>;
  /**
   * Does `work` with a code that the address sent, and counts the code if it `isWrong`. Null: it was not tried, and does
   * not count. Codes that are being tried could all be wrong: with these, the address has reached the limit.
   */
  tryCode<Result>(
    address: string,
    work: () => Promise<Result>,
    isWrong: (result: Result) => boolean,
  ): Promise<Result | null>;
  /** False: the limit is reached. */
  mayEnter(user: User): Promise<boolean>;
};

export function oidcLimits(): OidcLimits {
  const begins = new RateLimiterMemory({ points: BEGINS, duration: MINUTE_S });
  const wrong = new RateLimiterMemory({ points: WRONG, duration: MINUTE_S });
  const sessions = new RateLimiterMemory({ points: SESSIONS, duration: MINUTE_S });
  const trying = countByKey();
  return {
    mayBegin: (address) => consume(begins, networkOf(address)),
    async tryCode(address, work, isWrong) {
      const network = networkOf(address);
      const running = trying.enter(network);
      try {
        const tried = await wrong.get(network);
        if (running + (tried?.consumedPoints ?? 0) > WRONG) return null;
        const result = await work();
        if (isWrong(result)) await consume(wrong, network);
        return result;
      } finally {
        trying.leave(network);
      }
    },
    mayEnter: (user) => consume(sessions, user),
  };
}

/** `enter` returns how many there are now, with the one that enters. */
function countByKey(): { enter(key: string): number; leave(key: string): void } {
  const counts = new Map<string, number>();
  return {
    enter(key) {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count;
    },
    leave(key) {
      const count = (counts.get(key) ?? 0) - 1;
      if (count > 0) counts.set(key, count);
      else counts.delete(key);
    },
  };
}

/** False: the limit is reached. */
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
  return refuse('rate_limited', `${what}. Try again in a minute.`);
}

/** An IPv6 client usually has a whole /64 network, so the limit counts by /64 network. */
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

/** Some proxies add the port, which differs for each connection. */
function withoutPort(client: string): string {
  const [, v4, v6] = /^(?:([\d.]+)|\[(.+)\])(?::\d+)?$/.exec(client) ?? [];
  return v4 ?? v6 ?? client;
}
