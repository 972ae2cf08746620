/** The API as a function from `Request` to `Response`. */
import { identifierOf } from '../callers.ts';
import type { EmbeddedApi } from '../embedded-api.ts';
import type { Authenticate, FetchHandler } from '../options.ts';
import { within } from './path.ts';
import { BODY_READ, NOT_UNDER_PATH, toResponse } from './refusals.ts';

export function toFetchHandler(
  api: EmbeddedApi,
  path: string,
  authenticate: Authenticate<Request> | undefined,
): FetchHandler {
  const identify = identifierOf(authenticate, api.log);
  return async (request) => {
    const { pathname, search, host, protocol } = new URL(request.url);
    const url = within(path, pathname + search);
    if (url === null) return toResponse(NOT_UNDER_PATH);
    if (request.bodyUsed) {
      api.log.error(BODY_READ.message);
      return toResponse(BODY_READ);
    }
    const headers = new Headers(request.headers);
    if (!headers.has('host')) headers.set('host', host);
    if (protocol === 'https:' && !headers.has('x-forwarded-proto')) headers.set('x-forwarded-proto', 'https');
    const { method, body, signal } = request;
    return api.carry({ method, url, headers, body, signal }, () => identify(request));
  };
}
