/** Approval decisions, and the inbox: all calls of a tenant that wait for a person or a client. */
import type { Static } from 'typebox';
import { approveCalls, whyNot, type DecidedCall, type Judgement } from '../../../commands/calls/approve-calls.ts';
import type { AuditAct } from '../../../core/access/audit.ts';
import type { Actor } from '../../../core/access/actor.ts';
import type { ContextId, TenantId, ToolCallId } from '../../../core/ids.ts';
import { USUAL_GRANT_S } from '../../../core/run/grant.ts';
import { listInbox, type InboxItem as Item, type InboxPlace } from '../../../db/read/jobs/inbox.ts';
import { findJudgedCall } from '../../../db/calls/approvals.ts';
import { CONTENT_BYTES } from '../../request/body.ts';
import { toIso, toIsoOrNull } from '../../request/instant.ts';
import { cursorOf, id, instant } from '../../request/cursor.ts';
import { toListing } from '../../response/page.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { invalid } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { actorOf } from '../../access/actor.ts';
import { visibleTo } from '../../access/reach.ts';
import { ApproveCalls, Inbox, InboxQuery, Resolved, type InboxItem } from '../../schemas/jobs/approval.ts';
import { WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { audited } from '../../request/audited.ts';
import { answeredBy, write } from '../../request/write.ts';
import { IdParams, contextId, toolCallId } from '../params.ts';

export function approvalRoutes(app: App, ports: ApiPorts): void {
  approveRoute(app, ports);
  inboxRoute(app, ports);
}

function approveRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/tools/approve',
    {
      config: { access: 'approve', tokens: 'context' },
      bodyLimit: CONTENT_BYTES,
      schema: {
        summary: 'Approve or deny tool calls that wait for approval',
        operationId: 'approveToolCalls',
        tags: ['contexts'],
        params: IdParams,
        headers: WriteHeaders,
        body: ref(ApproveCalls),
        response: { 200: ref(Resolved) },
      },
    },
    async (request, reply) => {
      const { tenantId, params, body } = request;
      const target = { tenantId, contextId: contextId(params.id) };
      const judgement = toJudgement(body, actorOf(request, body.user));
      await refuseUnfitInput(ports, target, judgement);
      reply.code(200);
      const { user } = body;
      const actsOf = (calls: readonly DecidedCall[]) => calls.map((call) => toAct(target, judgement, call));
      const command = audited(ports, { request, tenantId, user }, approveCalls(target, judgement), actsOf);
      return write(
        ports,
        request,
        answeredBy(command, async (_, calls) => ({ resolved: calls.map(({ id: callId }) => callId) })),
      );
    },
  );
}

function toAct(
  { contextId: context_id }: { contextId: ContextId },
  { decision, remember }: Judgement,
  { id: target, tool }: DecidedCall,
): AuditAct {
  if (decision === 'approve') {
    const detail = { context_id, tool, remember_for_s: remember?.lifetimeS ?? null };
    return { action: 'tool_call.approved', target, detail };
  }
  return { action: 'tool_call.denied', target, detail: { context_id, tool, remember: remember !== null } };
}

function inboxRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/approvals',
    {
      config: { access: 'read', tokens: 'filtered' },
      schema: {
        summary: 'Calls that wait for a person or a client, oldest first',
        operationId: 'listApprovals',
        tags: ['jobs'],
        querystring: InboxQuery,
        response: { 200: ref(Inbox) },
      },
    },
    async (request, reply) => {
      const { tenantId, query } = request;
      const { kind = null, limit } = query;
      const filter = { ...visibleTo(request, query.user), kind };
      const after = readPlace(query.cursor);
      const read = readerOf(ports, reply);
      const page = await read((tx) => listInbox(tx, tenantId, filter, { after, limit: limit + 1 }));
      const cursorOf = ({ requestedAt, toolCallId: id }: Item) => PLACE.write([requestedAt, id]);
      return toListing(page, limit, toInboxItem, cursorOf);
    },
  );
}

function toJudgement(body: Static<typeof ApproveCalls>, actor: Actor): Judgement {
  const { tool_call_id: named, all, decision, reason = null, input = null } = body;
  const { remember = false, remember_for_s: lifetimeS } = body;
  if (lifetimeS !== undefined && (!remember || decision === 'deny'))
    throw invalid('remember_for_s is for an approval with remember: true.', 'remember_for_s');
  if ((named === undefined) === (all === undefined))
    throw invalid('Give exactly one of tool_call_id (one call) and all (every call that waits).', 'tool_call_id');
  if (input !== null && named === undefined)
    throw invalid('input replaces the input of one call: give its tool_call_id instead of all.', 'input');
  if (input !== null && decision === 'deny')
    throw invalid('input is only allowed with the decision approve: a denied call is not run.', 'input');
  return {
    toolCallId: named === undefined ? null : toolCallId(named),
    decision,
    reason: reason === '' ? null : reason,
    input,
    remember: remember ? { lifetimeS: lifetimeS ?? USUAL_GRANT_S } : null,
    actor,
  };
}

/**
 * Refuses an input that does not match the schema of the tool. A tool that this process does not know (of an MCP
 * server) checks its input when it runs. `approveCalls` refuses a call that does not exist or does not wait.
 */
async function refuseUnfitInput(
  { database, catalog }: ApiPorts,
  target: { tenantId: TenantId; contextId: ContextId },
  { toolCallId: id, input }: Judgement,
): Promise<void> {
  if (id === null || input === null) return;
  const call = await findJudgedCall(database.db, target, id);
  if (call === null || whyNot(call) !== null) return;
  const problemsOfInput = await catalog.checkInput(call.name, input);
  if (problemsOfInput === null || problemsOfInput.length === 0) return;
  throw invalid(`input does not match the schema of the tool ${call.name}: ${problemsOfInput.join('; ')}.`, 'input');
}

const PLACE = cursorOf(instant, id<ToolCallId>);

function readPlace(cursor: string | undefined): InboxPlace | null {
  const key = PLACE.read(cursor);
  return key === null ? null : { requestedAt: key[0], id: key[1] };
}

function toInboxItem(item: Item): InboxItem {
  return {
    kind: item.kind,
    context_id: item.contextId,
    worker_id: item.workerId,
    worker_name: item.workerName,
    job_id: item.jobId,
    input_message_id: item.inputMessageId,
    input_text: item.inputText,
    tool_call_id: item.toolCallId,
    name: item.name,
    input: item.input,
    requested_at: toIso(item.requestedAt),
    expires_at: toIsoOrNull(item.expiresAt),
  };
}
