/** Forks a context: the new context starts with copies of the messages. */
import { forkContext } from '../../../commands/contexts/fork-context.ts';
import { parseId, type MessageId } from '../../../core/ids.ts';
import { requireNewContexts } from '../../access/reach.ts';
import { created } from '../../response/context-answer.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { WriteHeaders, versioned } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { Context, ForkContext } from '../../schemas/contexts/context.ts';
import { IdParams, contextId } from '../params.ts';

/** Extra time for copying a long history, in milliseconds. */
const TIMEOUT_MS = 60_000;

export function forkRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/fork',
    {
      config: { access: 'run', tokens: 'context', timeoutMs: TIMEOUT_MS },
      schema: {
        summary: 'Copy a context up to a message into a new context. Usage and cost stay with the original',
        operationId: 'forkContext',
        tags: ['contexts'],
        params: IdParams,
        headers: WriteHeaders,
        body: ref(ForkContext),
        response: { 201: versioned(Context) },
      },
    },
    async (request, reply) => {
      const { tenantId, body } = request;
      requireNewContexts(request);
      const command = forkContext(ports, {
        tenantId,
        contextId: contextId(request.params.id),
        fromMessageId: body.from_message_id === undefined ? null : parseId<MessageId>(body.from_message_id),
        title: body.title,
      });
      return created(ports, request, reply, { command, copies: true });
    },
  );
}
