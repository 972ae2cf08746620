/** The event stream of a context. */
import { whenClosed } from '../../response/when-closed.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Joined } from '../../../events/stream-hub.ts';
import type { AccessControl } from '../../access/access.ts';
import { logRequest } from '../../server/log.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { orNotFound } from '../../response/problem.ts';
import { EventStream, EventsHeaders, EventsQuery } from '../../schemas/contexts/event.ts';
import { STREAM_HEADERS } from '../../response/sse.ts';
import type { Place, Streams } from '../../response/streams.ts';
import { IdParams, contextId, noContext } from '../params.ts';

export function eventRoutes(app: App, ports: ApiPorts, accessControl: AccessControl, streams: Streams): void {
  app.get(
    '/api/contexts/:id/events',
    {
      config: { access: 'read', tokens: 'context', stream: true },
      schema: {
        summary: 'Live events of a context (Server-Sent Events)',
        operationId: 'streamEvents',
        tags: ['contexts'],
        params: IdParams,
        querystring: EventsQuery,
        headers: EventsHeaders,
        response: {
          200: {
            description: 'The stream stays open until the client or the API closes it.',
            content: { 'text/event-stream': { schema: EventStream } },
          },
        },
      },
    },
    async (request, reply) => {
      const { tenantId, params, query, headers } = request;
      const id = contextId(params.id);
      const last = headers['last-event-id'];
      const after = last === undefined ? (query.after ?? null) : Number(last);
      const join = async () => orNotFound(await ports.streamHub.join(tenantId, id, after), noContext(id));
      if (request.method === 'HEAD') {
        (await join()).stop();
        return reply.headers(STREAM_HEADERS).send('');
      }
      const place = streams.take(request);
      try {
        startStream({ request, reply, accessControl, place }, await join());
      } catch (error) {
        place.release();
        throw error;
      }
      return reply;
    },
  );
}

type Opening = { request: FastifyRequest; reply: FastifyReply; accessControl: AccessControl; place: Place };

function startStream({ request, reply, accessControl, place }: Opening, joined: Joined): void {
  let forget = (): void => undefined;
  const leave = (): void => {
    forget();
    joined.stop();
    place.release();
  };
  // The client may have disconnected, or the request may have timed out, while this process joined the feed.
  if (reply.sent || reply.raw.destroyed) return leave();
  whenClosed(reply, () => {
    leave();
    logRequest(request, reply);
  });
  const stream = place.open(reply, joined.position);
  forget = accessControl.whileValid(request.credential, () => stream.end());
  joined.start(stream);
}
