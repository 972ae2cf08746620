/**
 * URLs in answers name paths of this application. Where another service serves it under a path, clients need that path
 * before them.
 */
import type { App } from '../server/ports.ts';

/** The member of answers that is a URL. */
const URL_MEMBER = 'stream_url';

/** `path`: empty, or begins with a slash and does not end with one. */
export function prefixUrls(app: App, path: string): void {
  if (path === '') return;
  // Answers are stored without the path: the same request may be repeated elsewhere.
  app.addHook('preSerialization', async (_, reply, payload: unknown) => {
    const location = reply.getHeader('location');
    if (typeof location === 'string' && location.startsWith('/')) reply.header('location', `${path}${location}`);
    if (typeof payload !== 'object' || payload === null || !(URL_MEMBER in payload)) return payload;
    return { ...payload, [URL_MEMBER]: `${path}${String(payload[URL_MEMBER])}` };
  });
}
