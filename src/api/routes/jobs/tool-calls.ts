/**
 * Single tool calls, the resolution of calls whose outcome is unknown, and results that a person or a client posts.
 */
import type { Static } from 'typebox';
import { answerCall, type CallAnswer } from '../../../commands/calls/answer-call.ts';
import { resolveCall, type Resolved } from '../../../commands/calls/resolve-call.ts';
import type { ContextId, TenantId, ToolCallId } from '../../../core/ids.ts';
import type { Executor } from '../../../db/connection/client.ts';
import { findToolCall } from '../../../db/read/jobs/tool-call-views.ts';
import { CONTENT_BYTES } from '../../request/body.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { invalid, orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { ResolveToolCall } from '../../schemas/jobs/resolve-tool-call.ts';
import { ToolCall } from '../../schemas/jobs/tool-call.ts';
import { problems } from '../../schemas/problem.ts';
import { Accepted, PostResult } from '../../schemas/messages/message.ts';
import { toAccepted } from '../../request/submit.ts';
import { toToolCall } from '../../wire/tool-call.ts';
import { audited } from '../../request/audited.ts';
import { answeredBy, write } from '../../request/write.ts';
import { ToolCallParams, contextId, toolCallId } from '../params.ts';

export function toolCallRoutes(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/tools/:tool_call_id',
    {
      config: { access: 'read', tokens: 'context' },
      schema: {
        summary: 'One tool call with its executions',
        operationId: 'getToolCall',
        tags: ['contexts'],
        params: ToolCallParams,
        response: { 200: ref(ToolCall) },
      },
    },
    async ({ tenantId, params }, reply) =>
      readerOf(ports, reply)((_, last) => answer(last, targetOf(tenantId, params))),
  );

  app.post(
    '/api/contexts/:id/tools/:tool_call_id/resolve',
    {
      config: { access: 'approve', tokens: 'context' },
      bodyLimit: CONTENT_BYTES,
      schema: {
        summary: 'Resolve a tool call whose outcome is unknown',
        operationId: 'resolveToolCall',
        tags: ['contexts'],
        params: ToolCallParams,
        headers: WriteHeaders,
        body: ref(ResolveToolCall),
        response: { 200: ref(ToolCall) },
      },
    },
    async (request, _reply) => {
      const { tenantId, params, body } = request;
      const target = targetOf(tenantId, params);
      const detail = { context_id: target.contextId, outcome: body.outcome };
      const act = { action: 'tool_call.resolved', target: target.toolCallId, detail } as const;
      const command = audited(ports, { request, tenantId }, resolveCall(ports, target, parse(body)), () => [act]);
      return write(ports, request, answeredBy(command, answer));
    },
  );

  app.post(
    '/api/contexts/:id/tools/:tool_call_id/result',
    {
      config: { access: 'run', tokens: 'context' },
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
      const posted: CallAnswer = { content: body.content, isError: body.is_error ?? false };
      const command = answerCall(ports, targetOf(tenantId, params), posted);
      reply.code(202);
      const answered = answeredBy(command, async (_, accepted) => toAccepted(accepted));
      return write(ports, request, answered);
    },
  );
}

type Target = { tenantId: TenantId; contextId: ContextId; toolCallId: ToolCallId };

function targetOf(tenantId: TenantId, params: Static<typeof ToolCallParams>): Target {
  return {
    tenantId,
    contextId: contextId(params.id),
    toolCallId: toolCallId(params.tool_call_id),
  };
}

async function answer(executor: Executor, { tenantId, contextId: of, toolCallId: id }: Target) {
  const view = await findToolCall(executor, tenantId, of, id);
  return toToolCall(orNotFound(view, `Context ${of} has no tool call ${id}.`));
}

function parse({ outcome, result }: Static<typeof ResolveToolCall>): Resolved {
  if (outcome === 'happened') return { outcome, result: result ?? null };
  if (result === undefined) return { outcome };
  throw invalid(`result is only allowed with the outcome happened, not ${outcome}.`, 'result');
}
