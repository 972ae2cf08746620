/** What was said in a context, and what a client says. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Command } from '../../commands/perform.ts';
import { contextOf } from '../../db/workers.ts';
import { findMessage, listMessages } from '../../db/message-views.ts';
import type { MessageView, Place } from '../../db/message-views.ts';
import { inputTurn, answerTurn, parseTurn } from '../../core/turn.ts';
import type { Turn } from '../../core/turn.ts';
import { refuse } from '../../core/errors.ts';
import { decodeCursor, encodeCursor, notOurs } from '../page.ts';
import type { ApiPorts, App } from '../ports.ts';
import { orNotFound } from '../problem.ts';
import { WriteHeaders, ref } from '../schemas/common.ts';
import { Accepted, Message, MessageList, MessageQuery, PostJob, PostMessage } from '../schemas/message.ts';
import { problems } from '../schemas/problem.ts';
import { submitPosted } from '../submit.ts';
import { toMessage } from '../wire/message.ts';
import { writeAlone } from '../write.ts';
import { IdParams, MessageParams, contextId, messageId, noContext, noWorker, workerId } from './params.ts';

const tags = ['contexts'];

export function messageRoutes(app: App, ports: ApiPorts): void {
  postMessageRoute(app, ports);
  postWorkerMessageRoute(app, ports);
  postJobRoute(app, ports);
  listMessagesRoute(app, ports);
  getMessageRoute(app, ports);
}

function postMessageRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/messages',
    {
      schema: {
        summary: 'Post an input message: accepted is committed',
        operationId: 'postMessage',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        body: ref(PostMessage),
        response: { 202: ref(Accepted), ...problems },
      },
    },
    async (request, reply) => {
      const context = contextId(request.params.id);
      const command = submitPosted(ports, ports.config.queueLimit, request.tenantId, context, request.body);
      return accepted(request, reply, await writeAlone(ports, request, command));
    },
  );
}

function postWorkerMessageRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/workers/:id/messages',
    {
      schema: {
        summary: "Post an input message to a worker's context",
        operationId: 'postWorkerMessage',
        tags: ['workers'],
        params: IdParams,
        headers: WriteHeaders,
        body: ref(PostMessage),
        response: { 202: ref(Accepted), ...problems },
      },
    },
    async (request, reply) => {
      const { tenantId, body } = request;
      const worker = workerId(request.params.id);
      const command: Command<Accepted> = async (executor) => {
        const context = await contextOf(executor, tenantId, worker);
        if (context === null) return refuse('not_found', noWorker(worker));
        return submitPosted(ports, ports.config.queueLimit, tenantId, context, body)(executor);
      };
      return accepted(request, reply, await writeAlone(ports, request, command));
    },
  );
}

function postJobRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/jobs',
    {
      schema: {
        summary: 'Run on what stands, without a new input',
        operationId: 'postJob',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        body: ref(PostJob),
        response: { 202: ref(Accepted), ...problems },
      },
    },
    async (request, reply) => {
      const context = contextId(request.params.id);
      const command = submitPosted(ports, ports.config.queueLimit, request.tenantId, context, request.body);
      return accepted(request, reply, await writeAlone(ports, request, command));
    },
  );
}

function accepted(request: FastifyRequest, reply: FastifyReply, answer: Accepted): Accepted {
  request.madeJob = answer.job_id;
  reply.code(202);
  return answer;
}

function listMessagesRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/messages',
    {
      schema: {
        summary: 'Messages in order; queued inputs come last',
        operationId: 'listMessages',
        tags,
        params: IdParams,
        querystring: MessageQuery,
        response: { 200: ref(MessageList), ...problems },
      },
    },
    async ({ tenantId, params, query }) => {
      const context = contextId(params.id);
      const { limit, order } = query;
      const before = parsePlace(query.cursor);
      const turn = query.turn === undefined ? null : toTurn(query.turn);
      const range = { branch: 'main', turn, order, after: before, limit: limit + 1 };
      const found = await listMessages(ports.database.db, tenantId, context, range);
      const messages = orNotFound(found, noContext(context));
      const page = messages.slice(0, limit);
      const next = messages.length > limit ? formatPlace(placeAfter(page, before)) : null;
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
        response: { 200: ref(Message), ...problems },
      },
    },
    async ({ tenantId, params }) => {
      const context = contextId(params.id);
      const id = messageId(params.message_id);
      const found = await findMessage(ports.database.db, tenantId, context, id);
      return toMessage(orNotFound(found, `There is no message ${id} in context ${context}.`));
    },
  );
}

function toTurn(text: string): Turn | null {
  const turn = parseTurn(text);
  if (turn === null) return null;
  return turn.side === 'u' ? inputTurn(turn.number) : answerTurn(turn.number);
}

function placeAfter(page: readonly MessageView[], before: Place): Place {
  return page.reduce(
    (place, { status, seq, position }) => (status === 'queued' ? { ...place, position } : { ...place, seq }),
    before,
  );
}

function formatPlace({ seq, position }: Place): string {
  return encodeCursor([seq, position]);
}

function parsePlace(cursor: string | undefined): Place {
  if (cursor === undefined) return { seq: null, position: null };
  const [seq, position] = decodeCursor(cursor);
  if (!isNumber(seq) || !isNumber(position)) throw notOurs();
  return { seq, position };
}

function isNumber(value: unknown): value is number | null {
  return value === null || Number.isSafeInteger(value);
}
