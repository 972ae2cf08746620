/** Reads the environment variables that say who may call the API: keys, secrets, hosts, origins and proxies. */
import { isIP } from 'node:net';
import { SCOPES, isScope, type Scopes } from '../core/access/scopes.ts';
import { parsedIf, type Parsed } from './environment.ts';

/** One bearer key of the API, and the name of its tenant. */
export type ApiKey = { key: string; tenant: string; scopes: Scopes };

export function parseHosts(value: string): Parsed<string[]> {
  const hosts = items(value).map((host) => host.toLowerCase());
  const isValid = hosts.every((host) => /^[a-z0-9.-]+$/.test(host) || /^\[[0-9a-f:.]+\]$/.test(host));
  return parsedIf(isValid, hosts, 'must be a comma-separated list of host names without ports');
}

export function parseSecrets(value: string): Parsed<string[]> {
  const secrets = items(value);
  const isValid = secrets.length > 0 && secrets.every((secret) => /^[\x21-\x7E]{32,}$/.test(secret));
  return parsedIf(
    isValid,
    secrets,
    'must be at least 32 printable ASCII characters without spaces and commas; several, the current one first, are separated by commas',
  );
}

/** As a browser sends them in `Origin`. */
export function parseOrigins(value: string): Parsed<string[]> {
  const origins = items(value);
  const isOrigin = (text: string): boolean => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && url.origin === text && !text.includes('*');
  };
  return parsedIf(
    origins.length > 0 && origins.every(isOrigin),
    origins,
    'must be a comma-separated list of origins such as https://app.example.com, without a path or a wildcard',
  );
}

export function parseProxies(value: string): Parsed<string[]> {
  const proxies = items(value);
  const isValid = proxies.length > 0 && proxies.every(isNetwork);
  return parsedIf(isValid, proxies, 'must be a comma-separated list of addresses or networks (10.0.0.0/8, fd00::/8)');
}

/** `/0` is refused: any client could then claim any address. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (bits === undefined || more.length > 0) return most > 0 && more.length === 0;
  return /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= most;
}

export function parseAdminKey(value: string): Parsed<string> {
  const isValid = /^[\x21-\x7E]{16,}$/.test(value);
  return parsedIf(isValid, value, 'must be at least 16 printable ASCII characters without spaces');
}

export function parseApiKeys(value: string): Parsed<ApiKey[]> {
  const entries = items(value);
  const keys: ApiKey[] = [];
  for (const [index, entry] of entries.entries()) {
    const key = parseApiKey(entry);
    if (key === null)
      return {
        ok: false,
        fault: `must be a comma-separated list of key:tenant or key:tenant:scope+scope, with the scopes ${SCOPES.join(', ')} and no colon in a key; entry ${index + 1} is invalid`,
      };
    const double = keys.findIndex((known) => known.key === key.key);
    if (double !== -1)
      return { ok: false, fault: `contains the same key twice, in entries ${double + 1} and ${index + 1}` };
    keys.push(key);
  }
  return parsedIf(keys.length > 0, keys, 'contains no key');
}

/** A key has no colon, so that a misspelt scope is not taken for a tenant. */
function parseApiKey(entry: string): ApiKey | null {
  const [, key, tenant, names] = /^([\x21-\x39\x3B-\x7E]+):([A-Za-z0-9_.-]{1,64})(?::([a-z+]+))?$/.exec(entry) ?? [];
  if (key === undefined || tenant === undefined) return null;
  const scopes: readonly string[] = names?.split('+') ?? SCOPES;
  return scopes.every(isScope) ? { key, tenant, scopes: new Set(scopes) } : null;
}

function items(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
