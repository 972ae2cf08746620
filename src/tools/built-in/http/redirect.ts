/** Where a response sends the request next, and what of the request goes along. Pure. */
import { ToolFault } from '../../tool-fault.ts';
import type { Hop } from './hop.ts';

const REDIRECTS = [301, 302, 303, 307, 308];

/** What may be told to another origin: all else may be a secret of the first. */
const HARMLESS = ['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent'];
const OF_BODY = ['content-type', 'content-encoding', 'content-language'];

/** Null: it is no redirect. Throws `ToolFault` for one that leads nowhere one may go. */
export function redirected(hop: Hop, status: number, location: string | undefined): Hop | null {
  if (!REDIRECTS.includes(status) || location === undefined) return null;
  const url = parseUrl(location, hop.url);
  const sameOrigin = url.origin === hop.url.origin;
  const rewritten =
    (status === 303 && hop.method !== 'HEAD') ||
    ((status === 301 || status === 302) && hop.method === 'POST');
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
  if (url === null) throw new ToolFault('invalid_url', 'The URL cannot be read.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ToolFault('unsupported_scheme', `Only http and https are asked, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ToolFault('invalid_url', 'A URL must hold no user and password: use a header.');
  }
  return url;
}
