/** Results of tool calls that a person or a client answers. */
import { answerCall, type CallAnswer } from '../../../commands/calls/answer-call.ts';
import { CONTENT_BYTES } from '../../request/body.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { Accepted, PostResult } from '../../schemas/messages/message.ts';
import { problems } from '../../schemas/problem.ts';
import { toAccepted } from '../../request/submit.ts';
import { answeredBy, write } from '../../request/write.ts';
import { ToolCallParams, contextId, toolCallId } from '../params.ts';

export function toolResultRoutes(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/tools/:tool_call_id/result',
    {
      bodyLimit: CONTENT_BYTES,
      schema: {
        summary: 'Answer a question, or post the result of a client tool',
        operationId: 'postToolResult',
        tags: ['contexts'],
        params: ToolCallParams,
        headers: WriteHeaders,
        body: ref(PostResult),
        response: { 202: ref(Accepted), ...problems(429) },
      },
    },
    async (request, reply) => {
      const { tenantId, params, body } = request;
      const target = {
        tenantId,
        contextId: contextId(params.id),
        toolCallId: toolCallId(params.tool_call_id),
      };
      const answer: CallAnswer = { content: body.content, isError: body.is_error ?? false };
      const command = answerCall(ports, target, answer);
      reply.code(202);
      return write(
        ports,
        request,
        answeredBy(command, async (_, accepted) => toAccepted(accepted)),
      );
    },
  );
}
