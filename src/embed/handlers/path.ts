/** The path under which a service serves the API. */
import { invalidOptions } from '../start-error.ts';

/** Empty: the root. Throws `NightshiftStartError`. */
export function parsePath(path: unknown): string {
  if (path === undefined || path === '/') return '';
  if (typeof path === 'string' && /^(?:\/[A-Za-z0-9._~-]+)*$/.test(path)) return path;
  throw invalidOptions('The path of the API', [
    'path must begin with a slash and not end with one, such as /agents, without parameters and wildcards',
  ]);
}

/** Path and query behind `path`. Null: the URL is not under it. */
export function within(path: string, url: string): string | null {
  if (!url.startsWith(path)) return null;
  const rest = url.slice(path.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : null;
}
