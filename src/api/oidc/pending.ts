/**
 * A sign-in while the browser is at the provider: an encrypted cookie, so that the sign-in ends in the browser where it
 * began, in any API process, and costs no row before the provider has answered. `Lax`: the browser comes back from
 * another site.
 */
import { hkdfSync } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { JWTPayload } from 'jose';
import { once } from '../../core/once.ts';
import { isJsonObject } from '../../core/json.ts';
import type { OidcClient } from '../../config/oidc.ts';
import type { SessionHash } from '../access/session.ts';
import type { Checks } from './provider.ts';

const jose = once(() => import('jose'));

/** How long a person may take at the provider, in seconds. */
export const PENDING_S = 10 * 60;

/**
 * `tenant`: the one to enter; null: the first with a grant. `returnTo`: a path of this origin. `replaces`: the session of
 * this browser, whose cookie is not sent on the way back; null: none.
 */
export type Pending = Checks & { tenant: string | null; returnTo: string; replaces: SessionHash | null };

export type PendingCookie = {
  name: string;
  options: CookieSerializeOptions;
  seal(pending: Pending): Promise<string>;
  /** Null: this installation did not make it, or it is too old. */
  open(text: string): Promise<Pending | null>;
};

const PLAIN_COOKIE = 'nightshift_sign_in';
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
  const purpose = `nightshift sign-in: ${clientId} ${issuer}`;
  const keyOf = (secret: string): Uint8Array => new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
  const [first = clientSecret, ...older] = secrets;
  const key = keyOf(first);
  const keys = [key, ...older.map(keyOf)];
  return {
    name: secure ? `__Host-${PLAIN_COOKIE}` : PLAIN_COOKIE,
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
  const { state, nonce, verifier, tenant, returnTo, replaces } = payload;
  if (typeof state !== 'string' || typeof nonce !== 'string' || typeof verifier !== 'string') return null;
  if (typeof returnTo !== 'string' || (tenant !== null && typeof tenant !== 'string')) return null;
  if (replaces !== null && typeof replaces !== 'string') return null;
  return { state, nonce, verifier, tenant, returnTo, replaces };
}

/** In characters: browsers keep no cookie of more than 4 KB. */
const LONGEST_PATH = 1_500;

/** A path of the console, as browsers resolve it; the start page for anything else, such as another sign-in. */
export function ownPath(given: string | undefined, { publicUrl }: Pick<OidcClient, 'publicUrl'>): string {
  const url = given?.startsWith('/') === true ? URL.parse(given, publicUrl) : null;
  if (url === null || url.origin !== publicUrl || /^\/(?:\/|api\/)/.test(url.pathname)) return '/';
  const path = url.pathname + url.search + url.hash;
  return path.length > LONGEST_PATH ? '/' : path;
}
