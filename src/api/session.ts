/**
 * A key, kept by a browser: what the cookie holds says when it ends, proved by a secret that is derived from the key. The
 * key cannot be read from it, and nothing is stored: every API process with the same keys verifies it, before and after a
 * restart, and it dies with its key.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { ApiKey } from '../config.ts';
import type { TenantId } from '../core/ids.ts';
import type { Millis } from '../core/time.ts';

export const SESSION_COOKIE = 'nightshift_session';

/** How long a browser stays signed in, in seconds: a week. */
export const SESSION_S = 7 * 24 * 60 * 60;

export type Sessions = {
  /** What the cookie of somebody who bears this key holds. */
  begin(key: ApiKey, now: Millis): string;
  /** Whose session a cookie tells of; null: nobody's. */
  tenantOf(value: string, now: Millis): TenantId | null;
};

export function openSessions(keys: readonly ApiKey[]): Sessions {
  const known = keys.map(({ key, tenant }) => ({ tenant, secret: secretOf(key) }));
  return {
    begin({ key, tenant }, now) {
      const end = String(Math.floor(now / 1_000) + SESSION_S);
      return `1.${end}.${proofOf(secretOf(key), tenant, end).toString('base64url')}`;
    },
    tenantOf(value, now) {
      const [, end, given] = /^1\.(\d{1,12})\.([\w-]{43})$/.exec(value) ?? [];
      if (end === undefined || given === undefined) return null;
      const proof = Buffer.from(given, 'base64url');
      const matching = known.filter((one) => timingSafeEqual(proofOf(one.secret, one.tenant, end), proof));
      return Number(end) * 1_000 > now ? (matching[0]?.tenant ?? null) : null;
    },
  };
}

function secretOf(key: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'nightshift session', 32));
}

function proofOf(secret: Buffer, tenant: TenantId, end: string): Buffer {
  return createHmac('sha256', secret).update(`${end}:${tenant}`).digest();
}

/** The key is good for whoever bears it: so no script may read the cookie, and no other site make the browser send it. */
export function cookieOptions(secure: boolean): CookieSerializeOptions {
  return { httpOnly: true, sameSite: 'strict', path: '/', secure };
}
