/**
 * Who may ask. With keys: whoever bears one, and sees its tenant only. Without: whoever is on this machine and is not a
 * web page of somewhere else; DNS rebinding is met by the Host, cross-site requests by the Origin.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { ApiKey } from '../config.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import { DEFAULT_TENANT } from '../core/ids.ts';
import type { TenantId } from '../core/ids.ts';

/** The headers that access depends on. */
export type AccessHeaders = {
  authorization?: string | undefined;
  host?: string | undefined;
  origin?: string | undefined;
  'sec-fetch-site'?: string | string[] | undefined;
};

export type Access = { kind: 'granted'; tenantId: TenantId } | Refusal;
export type Gate = (headers: AccessHeaders) => Access;

export function openGate(keys: readonly ApiKey[], allowedHosts: readonly string[]): Gate {
  return keys.length > 0 ? bearerGate(keys) : loopbackGate(allowedHosts);
}

/** Every key is compared, in constant time. */
function bearerGate(keys: readonly ApiKey[]): Gate {
  const known = keys.map(({ key, tenant }) => ({ hash: hashOf(key), tenant }));
  return ({ authorization }) => {
    const [, given] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    if (given === undefined) return refuse('unauthorized', 'Authorization: Bearer <key> is needed.');
    const hash = hashOf(given);
    const matching = known.filter((one) => timingSafeEqual(one.hash, hash));
    const [match] = matching;
    return match === undefined
      ? refuse('unauthorized', 'This key is not known here.')
      : { kind: 'granted', tenantId: match.tenant };
  };
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function loopbackGate(allowedHosts: readonly string[]): Gate {
  return (headers) => {
    const host = hostnameOf(headers.host ?? '');
    if (host === null || !(isLoopback(host) || allowedHosts.includes(host))) {
      return refuse(
        'forbidden',
        'This Host is not allowed: see NIGHTSHIFT_ALLOWED_HOSTS and NIGHTSHIFT_API_KEYS.',
      );
    }
    return isFromElsewhere(headers)
      ? refuse('forbidden', 'A web page of another origin may not drive this API.')
      : { kind: 'granted', tenantId: DEFAULT_TENANT };
  };
}

/** Whether a browser says that a page of another origin asks. */
function isFromElsewhere({ host, origin, 'sec-fetch-site': site }: AccessHeaders): boolean {
  if (site === 'cross-site' || site === 'same-site') return true;
  if (origin === undefined) return false;
  const url = URL.parse(origin);
  return url === null || url.host !== URL.parse(`${url.protocol}//${host ?? ''}`)?.host;
}

/** Lower-case, without the port; null for what is no host. */
function hostnameOf(host: string): string | null {
  return /^[^/?#@\\\s]+$/.test(host) ? (URL.parse(`http://${host}`)?.hostname ?? null) : null;
}

/** Whether a host name or address means this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  switch (isIP(name)) {
    case 4:
      return name.startsWith('127.');
    case 6:
      return name === '::1' || name.startsWith('::ffff:7f') || name.startsWith('::ffff:127.');
    default:
      return name === 'localhost' || name.endsWith('.localhost');
  }
}
