/** Single tool calls, and the resolution of calls whose outcome is unknown. */
import type { Static } from 'typebox';
import { resolveCall, type Resolved } from '../../../commands/calls/resolve-call.ts';
import { refuse } from '../../../core/errors.ts';
import type { ContextId, TenantId, ToolCallId } from '../../../core/ids.ts';
import type { Executor } from '../../../db/connection/client.ts';
import { findToolCall } from '../../../db/read/jobs/tool-call-views.ts';
import { CONTENT_BYTES } from '../../request/body.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { RequestRefused, orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { problems } from '../../schemas/problem.ts';
import { ResolveToolCall, ToolCall } from '../../schemas/jobs/tool-call.ts';
import { toToolCall } from '../../wire/tool-call.ts';
import { answeredBy, write } from '../../request/write.ts';
import { ToolCallParams, contextId, toolCallId } from '../params.ts';

export function toolCallRoutes(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/tools/:tool_call_id',
    {
      schema: {
        summary: 'One tool call with its executions',
        operationId: 'getToolCall',
        tags: ['contexts'],
        params: ToolCallParams,
        response: { 200: ref(ToolCall), ...problems() },
      },
    },
    async ({ tenantId, params }, reply) =>
      readerOf(ports, reply)((_, last) => answer(last, targetOf(tenantId, params))),
  );

  app.post(
    '/api/contexts/:id/tools/:tool_call_id/resolve',
    {
      bodyLimit: CONTENT_BYTES,
      schema: {
        summary: 'Resolve a tool call whose outcome is unknown',
        operationId: 'resolveToolCall',
        tags: ['contexts'],
        params: ToolCallParams,
        headers: WriteHeaders,
        body: ref(ResolveToolCall),
        response: { 200: ref(ToolCall), ...problems() },
      },
    },
    async (request, _reply) => {
      const command = resolveCall(ports, targetOf(request.tenantId, request.params), parse(request.body));
      return write(ports, request, answeredBy(command, answer));
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
  throw new RequestRefused(
    refuse('invalid_request', `result is only allowed with the outcome happened, not ${outcome}.`, 'result'),
  );
}
