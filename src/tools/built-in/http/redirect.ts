/** Computes the next request after a redirect. Pure. */
import { ToolFault } from '../../run/tool-fault.ts';
import type { Hop } from './hop.ts';

const REDIRECTS = [301, 302, 303, 307, 308];

/** Headers that may be sent to another origin. All others may contain secrets of the first origin. */
const HARMLESS = ['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent'];
const OF_BODY = ['content-type', 'content-encoding', 'content-language'];

/** Null: the response is not a redirect. Throws `ToolFault` if the target URL is not allowed. */
export function redirected(hop: Hop, status: number, location: string | undefined): Hop | null {
  if (!REDIRECTS.includes(status) || location === undefined) return null;
  const url = parseUrl(location, hop.url);
  const sameOrigin = url.origin === hop.url.origin;
  const rewritten =
    (status === 303 && hop.method !== 'HEAD') || ((status === 301 || status === 302) && hop.method === 'POST');
  const headers = Object.fromEntries(
    Object.entries(hop.headers).filter(
      ([name]) => (sameOrigin || HARMLESS.includes(name)) && !(rewritten && OF_BODY.includes(name)),
    ),
  );
  return rewritten ? { url, method: 'GET', headers, body: null } : { ...hop, url, headers };
}

/** Throws `ToolFault`. */
export function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw new ToolFault('invalid_url', `The URL ${JSON.stringify(text.slice(0, 200))} is invalid.`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ToolFault('unsupported_scheme', `Only http and https URLs are supported, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ToolFault(
      'invalid_url',
      'The URL contains a user name or password. Use the authorization header instead.',
    );
  }
  return url;
}
