/** The event stream of a context. */
import type { AccessControl } from '../access.ts';
import { logRequest } from '../log.ts';
import type { ApiPorts, App } from '../ports.ts';
import { orNotFound } from '../problem.ts';
import { EventStream, EventsHeaders, EventsQuery } from '../schemas/event.ts';
import { problems } from '../schemas/problem.ts';
import { STREAM_HEADERS } from '../sse.ts';
import type { Streams } from '../streams.ts';
import { IdParams, contextId, noContext } from './params.ts';

export function eventRoutes(app: App, ports: ApiPorts, accessControl: AccessControl, streams: Streams): void {
  app.get(
    '/api/contexts/:id/events',
    {
      config: { stream: true },
      schema: {
        summary: 'What happens in a context, as it happens (Server-Sent Events)',
        operationId: 'streamEvents',
        tags: ['contexts'],
        params: IdParams,
        querystring: EventsQuery,
        headers: EventsHeaders,
        response: {
          200: {
            description: 'Goes on until either side ends it.',
            content: { 'text/event-stream': { schema: EventStream } },
          },
          ...problems(),
        },
      },
    },
    async (request, reply) => {
      const { tenantId, session, params, query, headers } = request;
      const id = contextId(params.id);
      if (request.method === 'HEAD') {
        orNotFound(await ports.streamHub.join(tenantId, id, null), noContext(id)).stop();
        return reply.headers(STREAM_HEADERS).send('');
      }
      const place = streams.take();
      try {
        const last = headers['last-event-id'];
        const after = last === undefined ? (query.after ?? null) : Number(last);
        const joined = orNotFound(await ports.streamHub.join(tenantId, id, after), noContext(id));
        let forget = (): void => undefined;
        const leave = (): void => {
          forget();
          joined.stop();
          place.release();
        };
        // The answer may have been given up meanwhile, by either side.
        if (reply.sent || reply.raw.destroyed) {
          leave();
          return reply;
        }
        reply.raw.once('close', () => {
          leave();
          logRequest(request, reply);
        });
        const stream = place.open(reply, joined.position);
        forget = accessControl.whileSignedIn(session, () => stream.end());
        joined.start(stream);
      } catch (error) {
        place.release();
        throw error;
      }
      return reply;
    },
  );
}
