/**
 * The API as a plugin: it passes each request on as it was received. The service's application keeps its parsers,
 * validators, error handler and 404 handler; its hooks run for these requests, too.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { identifierOf } from '../callers.ts';
import type { EmbeddedApi } from '../embedded-api.ts';
import type { Authenticate, FastifyPlugin, NodeRequest } from '../options.ts';
import { parsePath, within } from './path.ts';

/** `open` opens the API for a path. */
export function toFastifyPlugin(
  open: (path: string) => Promise<EmbeddedApi>,
  authenticate: Authenticate<NodeRequest> | undefined,
): FastifyPlugin {
  return async (given) => {
    if (!isFastify(given))
      throw new TypeError('Register the plugin of Nightshift with Fastify 5: app.register(plugin).');
    const path = parsePath(given.prefix === '' ? undefined : given.prefix);
    const api = await open(path);
    const identify = identifierOf(authenticate, api.log);
    const pass = (request: FastifyRequest, reply: FastifyReply): void => {
      const { raw } = request;
      raw.url = within(path, raw.url ?? '/') ?? '/';
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) reply.raw.setHeader(name, value);
      reply.hijack();
      api.dispatch(raw, reply.raw, () => identify(request));
    };
    given.removeAllContentTypeParsers();
    // The body stays on the connection, where the API reads it.
    given.addContentTypeParser('*', (_request, _payload, done) => done(null));
    given.route({ method: [...given.supportedMethods], url: '/*', handler: pass });
    // Open streams would keep the application from closing.
    given.addHook('preClose', () => api.close());
  };
}

function isFastify(instance: object): instance is FastifyInstance {
  return ['removeAllContentTypeParsers', 'addContentTypeParser', 'route', 'addHook', 'supportedMethods'].every(
    (member) => member in instance,
  );
}
