/**
 * A sign-in while the browser is at the provider: an encrypted cookie, so that the sign-in ends in the browser where it
 * began, in any API process, and costs no row before the provider has answered. Each sign-in has a cookie of its own, so
 * that several tabs can sign in. `Lax`: the browser comes back from another site.
 */
import { hkdfSync } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { JWTPayload } from 'jose';
import { once } from '../../core/once.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { OidcClient } from '../../config/oidc.ts';
import type { SessionHash } from '../access/session.ts';
import { isConsolePage } from '../server/console.ts';
import type { Checks } from './provider.ts';

const jose = once(() => import('jose'));

/** How long a person may take at the provider, in seconds. */
export const PENDING_S = 10 * 60;

/**
 * `tenant`: the one to enter; null: the first with a grant. `returnTo`: a path of this origin. `replaces`: the session of
 * this browser, whose cookie is not sent on the way back; null: none. `begunAt`: by the clock of the database.
 */
export type Pending = Checks & {
  tenant: string | null;
  returnTo: string;
  replaces: SessionHash | null;
  begunAt: Millis;
};

export type PendingCookie = {
  /** Of the sign-in with this state. */
  nameFor(state: string): string;
  /** Of those cookies that a browser sent: which to remove before another one is set, the oldest first. */
  toRemove(cookies: Readonly<Record<string, unknown>>): string[];
  options: CookieSerializeOptions;
  seal(pending: Pending): Promise<string>;
  /** Null: this installation did not make it, or it is too old. */
  open(text: string): Promise<Pending | null>;
};

const PLAIN_COOKIE = 'nightshift_sign_in_';
/** Sign-ins under way that a browser keeps. Proxies refuse a request with more than about 8 KB of cookies. */
const MOST_COOKIES = 3;
/** Characters of the state in the name of its cookie. */
const STATE_IN_NAME = 8;
const TYPE = 'nightshift-sign-in+jwt';

/**
 * `secrets`: of NIGHTSHIFT_SECRET_KEY. The first one encrypts; all decrypt, so that the secret can be changed. Without
 * them, the client secret does.
 */
export function pendingCookie(
  { clientId, clientSecret, issuer, publicUrl }: OidcClient,
  secrets: readonly string[],
): PendingCookie {
  const secure = publicUrl.startsWith('https:');
  const prefix = secure ? `__Host-${PLAIN_COOKIE}` : PLAIN_COOKIE;
  const purpose = `nightshift sign-in: ${clientId} ${issuer}`;
  const keyOf = (secret: string): Uint8Array => new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
  const [first = clientSecret, ...older] = secrets;
  const key = keyOf(first);
  const keys = [key, ...older.map(keyOf)];
  return {
    nameFor: (state) => prefix + state.slice(0, STATE_IN_NAME),
    toRemove(cookies) {
      // Browsers send the oldest first (RFC 6265, section 5.4).
      const names = Object.keys(cookies).filter((name) => name.startsWith(prefix));
      return names.slice(0, Math.max(0, names.length - (MOST_COOKIES - 1)));
    },
    options: { httpOnly: true, sameSite: 'lax', path: '/', secure },
    async seal({ ...claims }) {
      const { EncryptJWT } = await jose();
      return new EncryptJWT(claims)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: TYPE })
        .setIssuedAt()
        .setExpirationTime(`${PENDING_S}s`)
        .encrypt(key);
    },
    async open(text) {
      for (const one of keys) {
        const payload = await decrypted(text, one);
        if (payload !== null) return parsePending(payload);
      }
      return null;
    },
  };
}

async function decrypted(text: string, key: Uint8Array): Promise<JWTPayload | null> {
  const { errors, jwtDecrypt } = await jose();
  try {
    const { payload } = await jwtDecrypt(text, key, {
      typ: TYPE,
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    });
    return payload;
  } catch (error) {
    // A header that is no JSON is a `TypeError`.
    if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
    throw error;
  }
}

function parsePending(payload: unknown): Pending | null {
  if (!isJsonObject(payload)) return null;
  const { state, nonce, verifier, tenant, returnTo, replaces, begunAt } = payload;
  if (typeof state !== 'string' || typeof nonce !== 'string' || typeof verifier !== 'string') return null;
  if (typeof returnTo !== 'string' || (tenant !== null && typeof tenant !== 'string')) return null;
  if (replaces !== null && typeof replaces !== 'string') return null;
  if (typeof begunAt !== 'number') return null;
  return { state, nonce, verifier, tenant, returnTo, replaces, begunAt };
}

/** In characters: browsers keep no cookie of more than 4 KB. */
const LONGEST_PATH = 1_500;

/** A page of the console, as browsers resolve the path; the start page for anything else, such as another sign-in. */
export function ownPath(given: string | undefined, { publicUrl }: Pick<OidcClient, 'publicUrl'>): string {
  const url = given?.startsWith('/') === true ? URL.parse(given, publicUrl) : null;
  if (url === null || url.origin !== publicUrl || !isConsolePage(url.pathname)) return '/';
  const path = url.pathname + url.search + url.hash;
  return path.length > LONGEST_PATH ? '/' : path;
}
