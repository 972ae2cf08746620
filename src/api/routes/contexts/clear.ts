/** Clears the history of a context. */
import { clearContext } from '../../../commands/contexts/clear-context.ts';
import { readAnswer } from '../../response/context-answer.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { VersionedHeaders, versioned } from '../../schemas/common.ts';
import { Context } from '../../schemas/contexts/context.ts';
import { isMatch, tagged } from '../../request/version.ts';
import { answeredBy, write } from '../../request/write.ts';
import { IdParams, contextId } from '../params.ts';

export function clearRoutes(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/clear',
    {
      config: { access: 'run', tokens: 'context' },
      schema: {
        summary: 'Clear a context: reset its history, all branches but main, and its counters',
        operationId: 'clearContext',
        tags: ['contexts'],
        params: IdParams,
        headers: VersionedHeaders,
        response: { 200: versioned(Context) },
      },
    },
    async (request, reply) => {
      const { tenantId, headers } = request;
      const id = contextId(request.params.id);
      const isCurrent = (version: number): boolean => isMatch(headers['if-match'], version);
      const command = clearContext(ports, { tenantId, contextId: id, isCurrent });
      const read = answeredBy(command, (executor) => readAnswer(ports, executor, tenantId, id));
      return tagged(reply, await write(ports, request, read));
    },
  );
}
