/** Where a request comes from, as browsers tell: pages of other origins may not use the credentials of this one. */
import { isLoopback } from '../../config/loopback.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import type { AccessHeaders } from './access-request.ts';

export const ELSEWHERE = refuse(
  'forbidden',
  'The request comes from a web page of another origin. Call the API from its own origin, or from a server.',
);

export function hostRefusal({ host: given = '' }: AccessHeaders, allowedHosts: readonly string[]): Refusal | null {
  const host = hostnameOf(given);
  if (host !== null && (isLoopback(host) || allowedHosts.includes(host))) return null;
  return refuse(
    'forbidden',
    `The host ${JSON.stringify(given.slice(0, 100))} is not allowed. Add it to NIGHTSHIFT_ALLOWED_HOSTS, or set NIGHTSHIFT_API_KEYS, NIGHTSHIFT_ADMIN_KEY or NIGHTSHIFT_OIDC_ISSUER.`,
  );
}

export function changes(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/**
 * Whether a request with a cookie comes from a page of this origin. Pages of other origins cannot read the response, so
 * for a request that changes nothing the absence of cross-origin headers is enough.
 */
export function isOfOwnPage(headers: AccessHeaders, method: string): boolean {
  const isGiven = headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin';
  return !crossOrigin(headers) && (isGiven || !changes(method));
}

/** Trusts `same-origin` without comparing `Host`: behind a proxy, `Host` may be an internal name. */
export function crossOrigin(headers: AccessHeaders): boolean {
  return headers['sec-fetch-site'] !== 'same-origin' && isFromElsewhere(headers);
}

/** Whether the browser's headers name a page of another origin. */
export function isFromElsewhere({ host, origin, 'sec-fetch-site': site }: AccessHeaders): boolean {
  if (site === 'cross-site' || site === 'same-site') return true;
  if (origin === undefined) return false;
  const url = URL.parse(origin);
  return url === null || url.host !== URL.parse(`${url.protocol}//${host ?? ''}`)?.host;
}

/** Lower-case, without the port; null for an invalid host. */
function hostnameOf(host: string): string | null {
  return /^[^/?#@\\\s]+$/.test(host) ? (URL.parse(`http://${host}`)?.hostname ?? null) : null;
}
