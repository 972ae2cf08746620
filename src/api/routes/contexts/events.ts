/** The event stream of a context. */
import type { AccessControl } from '../../access/access.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { orNotFound } from '../../response/problem.ts';
import { EventStream, EventsHeaders, EventsQuery } from '../../schemas/contexts/event.ts';
import type { Streams } from '../../response/streams.ts';
import { openStream } from './open-stream.ts';
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
      await openStream({ request, reply, accessControl, streams, join });
      return reply;
    },
  );
}
