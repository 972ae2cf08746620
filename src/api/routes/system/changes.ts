/** The event stream of a tenant, and what makes its clients read again what a request wrote. */
import { CHANGED_RESOURCES, type ChangedResource } from '../../../core/stream/change.ts';
import type { AccessControl } from '../../access/access.ts';
import { reachOf } from '../../access/reach.ts';
import type { Streams } from '../../response/streams.ts';
import { ChangeStream } from '../../schemas/system/change.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { openStream } from '../contexts/open-stream.ts';

export function changeRoutes(app: App, { streamHub }: ApiPorts, accessControl: AccessControl, streams: Streams): void {
  app.get(
    '/api/events',
    {
      config: { access: 'read', tokens: 'filtered', stream: true },
      schema: {
        summary: 'What may have changed in lists of the tenant (Server-Sent Events)',
        description:
          'Hints, not a history: without ids and cursor, at most some a second, and none is repeated. A client reads again what it shows when the stream opens and after each event. A token gets those of the contexts that it gives access to.',
        operationId: 'streamChanges',
        tags: ['system'],
        response: {
          200: {
            description: 'The stream stays open until the client or the API closes it.',
            content: { 'text/event-stream': { schema: ChangeStream } },
          },
        },
      },
    },
    async (request, reply) => {
      const join = () => streamHub.changes.join(request.tenantId, reachOf(request));
      await openStream({ request, reply, accessControl, streams, join });
      return reply;
    },
  );
}

/** By the first segment of the path after /api. */
const WRITTEN: Readonly<Record<string, ChangedResource>> = {
  ...Object.fromEntries(CHANGED_RESOURCES.map((resource) => [resource, resource])),
  workers: 'contexts',
  jobs: 'contexts',
  chat: 'contexts',
};

const READS = ['GET', 'HEAD', 'OPTIONS'];

/** Tells clients that follow the tenant what a request wrote to. */
export function tellChanges(app: App, { bus }: Pick<ApiPorts, 'bus'>): void {
  app.addHook('onResponse', async (request, { statusCode }) => {
    const { method, routeOptions, scopes, tenantId, user } = request;
    const resource = WRITTEN[routeOptions.url?.split('/')[2] ?? ''];
    if (READS.includes(method) || statusCode >= 300 || scopes === null || resource === undefined) return;
    bus.changed.resource(tenantId, user, resource);
  });
}
