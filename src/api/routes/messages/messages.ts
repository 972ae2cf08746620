/** Messages of a context: posted, listed, edited, withdrawn. */
import type { Static } from 'typebox';
import { noBranch } from '../../../commands/inputs/refusals.ts';
import { changeInput, withdrawInput } from '../../../commands/inputs/change-input.ts';
import { runStatement, type OneStatement } from '../../../commands/perform.ts';
import { contextOf } from '../../../db/write/workers/workers.ts';
import { findMessage, listMessages, type Place } from '../../../db/read/messages/message-views.ts';
import { inputTurn, answerTurn, parseTurn, type Turn } from '../../../core/conversation/turn.ts';
import { refuse } from '../../../core/errors.ts';
import type { ContextId, TenantId } from '../../../core/ids.ts';
import { CONTENT_BYTES } from '../../request/body.ts';
import { writePlace, readPlace, placeAfter } from '../../request/message-place.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { accepted } from '../../response/accepted.ts';
import { RequestRefused, invalid, orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { Empty, WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import {
  Accepted,
  Message,
  MessageList,
  MessageQuery,
  PatchMessage,
  PostJob,
  PostMessage,
} from '../../schemas/messages/message.ts';
import { problems } from '../../schemas/problem.ts';
import { queueOf, submitPosted, toBlocks } from '../../request/submit.ts';
import { toMessage } from '../../wire/message.ts';
import { answeredBy, write } from '../../request/write.ts';
import { IdParams, MessageParams, contextId, messageId, noContext, noWorker, workerId } from '../params.ts';

const tags = ['contexts'];

export function messageRoutes(app: App, ports: ApiPorts): void {
  postMessageRoute(app, ports);
  postWorkerMessageRoute(app, ports);
  postJobRoute(app, ports);
  listMessagesRoute(app, ports);
  getMessageRoute(app, ports);
  patchMessageRoute(app, ports);
  deleteMessageRoute(app, ports);
}

function postMessageRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/messages',
    {
      bodyLimit: CONTENT_BYTES,
      schema: {
        summary: 'Post an input message. A 202 response means that the message is committed',
        operationId: 'postMessage',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        body: ref(PostMessage),
        response: { 202: ref(Accepted), ...problems(429) },
      },
    },
    async (request, reply) => {
      const context = contextId(request.params.id);
      const command = submitPosted(ports, queueOf(ports, request.tenantId, context), request.body);
      return accepted(request, reply, await write(ports, request, command));
    },
  );
}

function postWorkerMessageRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/workers/:id/messages',
    {
      bodyLimit: CONTENT_BYTES,
      schema: {
        summary: "Post an input message to a worker's context",
        operationId: 'postWorkerMessage',
        tags: ['workers'],
        params: IdParams,
        headers: WriteHeaders,
        body: ref(PostMessage),
        response: { 202: ref(Accepted), ...problems(429) },
      },
    },
    async (request, reply) => {
      const { tenantId, body } = request;
      const worker = workerId(request.params.id);
      const command: OneStatement<Accepted> = {
        async statement(executor) {
          const context = await contextOf(executor, tenantId, worker);
          if (context === null) return refuse('not_found', noWorker(worker));
          const submit = submitPosted(ports, queueOf(ports, tenantId, context), body);
          return runStatement(executor, submit);
        },
      };
      return accepted(request, reply, await write(ports, request, command));
    },
  );
}

function postJobRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/jobs',
    {
      schema: {
        summary: 'Start a job on the existing history, without a new input',
        operationId: 'postJob',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        body: ref(PostJob),
        response: { 202: ref(Accepted), ...problems(429) },
      },
    },
    async (request, reply) => {
      const context = contextId(request.params.id);
      const command = submitPosted(ports, queueOf(ports, request.tenantId, context), request.body);
      return accepted(request, reply, await write(ports, request, command));
    },
  );
}

function listMessagesRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/messages',
    {
      schema: {
        summary: 'Messages in order; queued inputs last',
        operationId: 'listMessages',
        tags,
        params: IdParams,
        querystring: MessageQuery,
        response: { 200: ref(MessageList) },
      },
    },
    async ({ tenantId, params, query }, reply) => {
      const context = contextId(params.id);
      const { limit, order } = query;
      const from = query.from === undefined ? null : await placeBefore(ports, { tenantId, context }, query.from, query);
      const { place: before, branch } = from ?? readPlace(query.cursor, query.branch ?? null);
      const turn = query.turn === undefined ? null : toTurn(query.turn);
      const include = query.include?.split(',') ?? [];
      const range = {
        branch,
        turn,
        order,
        retracted: include.includes('retracted'),
        compacted: include.includes('compacted'),
        after: before,
        limit: limit + 1,
      };
      const found = await readerOf(ports, reply)((_, last) => listMessages(last, tenantId, context, range));
      const { branch: read, messages, more } = orNotFound(found, noContext(context));
      if (messages === null) throw new RequestRefused(noBranch(read));
      const page = messages.slice(0, limit);
      const next = more || messages.length > limit ? writePlace(placeAfter(page, before), read) : null;
      return { data: page.map(toMessage), next_cursor: next };
    },
  );
}

function getMessageRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/messages/:message_id',
    {
      schema: {
        summary: 'One message',
        operationId: 'getMessage',
        tags,
        params: MessageParams,
        response: { 200: ref(Message) },
      },
    },
    async ({ tenantId, params }) => {
      const context = contextId(params.id);
      const id = messageId(params.message_id);
      const found = await findMessage(ports.database.db, tenantId, context, id);
      return toMessage(orNotFound(found, `Context ${context} has no message ${id}.`));
    },
  );
}

function patchMessageRoute(app: App, ports: ApiPorts): void {
  app.patch(
    '/api/contexts/:id/messages/:message_id',
    {
      bodyLimit: CONTENT_BYTES,
      schema: {
        summary: 'Edit a queued input, or change its position in the queue',
        operationId: 'patchMessage',
        tags,
        params: MessageParams,
        headers: WriteHeaders,
        body: ref(PatchMessage),
        response: { 200: ref(Message) },
      },
    },
    async (request, _reply) => {
      const { tenantId, params, body } = request;
      const target = { tenantId, contextId: contextId(params.id), messageId: messageId(params.message_id) };
      const content = body.content === undefined ? null : toBlocks(body.content);
      const command = changeInput(target, { content, place: body.position ?? null });
      return write(
        ports,
        request,
        answeredBy(command, async (tx) => {
          const view = await findMessage(tx, tenantId, target.contextId, target.messageId);
          return toMessage(orNotFound(view, `No message has the id ${target.messageId}.`));
        }),
      );
    },
  );
}

function deleteMessageRoute(app: App, ports: ApiPorts): void {
  app.delete(
    '/api/contexts/:id/messages/:message_id',
    {
      schema: {
        summary: 'Withdraw a queued input and cancel its job',
        operationId: 'deleteMessage',
        tags,
        params: MessageParams,
        headers: WriteHeaders,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { tenantId, params } = request;
      const target = { tenantId, contextId: contextId(params.id), messageId: messageId(params.message_id) };
      await write(ports, request, withdrawInput(ports, target));
      reply.code(204);
      return null;
    },
  );
}

function toTurn(text: string): Turn | null {
  const turn = parseTurn(text);
  if (turn === null) return null;
  return turn.side === 'u' ? inputTurn(turn.number) : answerTurn(turn.number);
}

/** The place just before the message `from`: the list starts with that message. */
async function placeBefore(
  ports: ApiPorts,
  { tenantId, context }: { tenantId: TenantId; context: ContextId },
  from: string,
  { cursor, order, branch }: Static<typeof MessageQuery>,
): Promise<{ place: Place; branch: string | null }> {
  if (cursor !== undefined) throw invalid('from and cursor exclude each other. Give one of them.', 'from');
  const id = messageId(from);
  const found = await findMessage(ports.database.db, tenantId, context, id);
  const { seq } = orNotFound(found, `Context ${context} has no message ${id}.`);
  if (seq === null)
    throw invalid(
      'from is the id of a queued message, which has no place in history yet. Use a completed message.',
      'from',
    );
  return { place: { seq: order === 'asc' ? seq - 1 : seq + 1, queue: null }, branch: branch ?? null };
}
