/** Reads the environment variables of the sign-in with OpenID Connect. */
import { LONGEST_ISSUER } from '../core/access/oidc.ts';
import { parsedIf, type Parsed } from './environment.ts';
import { isLoopback } from './loopback.ts';

/** This installation as a client of an OpenID provider. */
export type OidcClient = {
  /** As the provider spells it. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The origin at which browsers reach the API: the provider sends them back to it. */
  publicUrl: string;
};

type Read = { [Member in keyof OidcClient]: OidcClient[Member] | null };

const NAMES = 'NIGHTSHIFT_OIDC_ISSUER, NIGHTSHIFT_OIDC_CLIENT_ID and NIGHTSHIFT_OIDC_CLIENT_SECRET';

/** Null: none of them is set. A public URL alone changes nothing. */
export function toOidcClient({ issuer, clientId, clientSecret, publicUrl }: Read, faults: string[]): OidcClient | null {
  const own = [issuer, clientId, clientSecret];
  if (own.every((value) => value === null)) return null;
  if (issuer !== null && clientId !== null && clientSecret !== null && publicUrl !== null)
    return { issuer, clientId, clientSecret, publicUrl };
  // A variable that is invalid is reported already.
  if (faults.some((fault) => /^NIGHTSHIFT_(?:OIDC|PUBLIC_URL)/.test(fault))) return null;
  faults.push(
    own.includes(null)
      ? `${NAMES} must all be set, or none of them`
      : 'NIGHTSHIFT_PUBLIC_URL must be set, because NIGHTSHIFT_OIDC_ISSUER is: browsers come back to it',
  );
  return null;
}

/** Without a query and a fragment, as OpenID Connect Discovery 1.0 requires. Not the address of its announcement. */
export function parseIssuer(value: string): Parsed<string> {
  const url = URL.parse(value);
  return parsedIf(
    url !== null && isSafe(url) && !/[?#\s]|\/\.well-known\//.test(value) && value.length <= LONGEST_ISSUER,
    value,
    `must be the https URL of an OpenID provider, with at most ${LONGEST_ISSUER} characters and without a user name, a query, a fragment and /.well-known/; http is for loopback addresses only`,
  );
}

export function parsePublicUrl(value: string): Parsed<string> {
  const url = URL.parse(value);
  return parsedIf(
    url !== null && isSafe(url) && (value === url.origin || value === `${url.origin}/`),
    url?.origin ?? value,
    'must be an https URL such as https://nightshift.example.com, without a path; http is for loopback addresses only',
  );
}

/** Without NIGHTSHIFT_SECRET_KEY, the key that encrypts the cookie of a sign-in is derived from it: it must be random. */
export function parseClientSecret(value: string): Parsed<string> {
  return parsedIf(value.length >= 16, value, 'must have at least 16 characters');
}

function isSafe({ protocol, hostname, username, password }: URL): boolean {
  const isEncrypted = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isEncrypted && username === '' && password === '';
}
