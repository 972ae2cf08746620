/** The event stream of a tenant, and what makes its clients read again what a request wrote. */
import { CHANGED_RESOURCES, type ChangedResource } from '../../../core/stream/change.ts';
import { parseId, type ContextId } from '../../../core/ids.ts';
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

/** Those that are named by the first segment of the path after /api. */
const WRITTEN: Readonly<Record<string, ChangedResource>> = {
  ...Object.fromEntries(CHANGED_RESOURCES.map((resource) => [resource, resource])),
  workers: 'contexts',
};

/** Their commands tell which context they changed. */
const TOLD = ['/api/workers/:id/messages', '/api/workers/:id/stop', '/api/workers/:id/start'];

const READS = ['GET', 'HEAD', 'OPTIONS'];

/** Tells clients that follow the tenant what a request wrote to. */
export function tellChanges(app: App, { bus }: Pick<ApiPorts, 'bus'>): void {
  app.addHook('onResponse', async (request, { statusCode }) => {
    const { method, routeOptions, scopes, tenantId, params } = request;
    const url = routeOptions.url ?? '';
    if (READS.includes(method) || statusCode >= 300 || scopes === null || TOLD.includes(url)) return;
    const context = changedContext(method, url, params);
    const resource = WRITTEN[url.split('/')[2] ?? ''];
    if (context !== null) bus.changed.context(context);
    else if (resource !== undefined) bus.changed.resource(tenantId, resource);
  });
}

/** Null: it changed no context that was there before and still is. */
function changedContext(method: string, url: string, params: unknown): ContextId | null {
  const isOfOne = url.startsWith('/api/contexts/:id') && url !== '/api/contexts/:id/fork';
  if (!isOfOne || (method === 'DELETE' && url === '/api/contexts/:id')) return null;
  return typeof params === 'object' && params !== null && 'id' in params ? parseId<ContextId>(String(params.id)) : null;
}
