/** Messages of a context: posted, read, edited, withdrawn. */
import { ONE_JOB } from '../../quotas/room.ts';
import { changeInput, withdrawInput } from '../../../commands/inputs/change-input.ts';
import { runStatement, type OneStatement } from '../../../commands/perform.ts';
import { contextOf } from '../../../db/write/workers/workers.ts';
import { findMessage } from '../../../db/read/messages/message-views.ts';
import { refuse, type Refusal } from '../../../core/errors.ts';
import { CONTENT_BYTES } from '../../request/body.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { accepted } from '../../response/accepted.ts';
import { orNotFound } from '../../response/problem.ts';
import { Empty, WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { Accepted, Message, PatchMessage, PostJob, PostMessage } from '../../schemas/messages/message.ts';
import { problems } from '../../schemas/problem.ts';
import { withOptionsOf } from './options-of.ts';
import { queueOf, submitPosted, toBlocks } from '../../request/submit.ts';
import { toMessage } from '../../wire/message.ts';
import { answeredBy, write } from '../../request/write.ts';
import { writeWithin } from '../../request/write-within.ts';
import { listMessagesRoute } from './list-messages.ts';
import { IdParams, MessageParams, contextId, messageId, noWorker, workerId } from '../params.ts';

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
      config: { access: 'run', tokens: 'context' },
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
      const id = contextId(request.params.id);
      const adds = { queuedJobs: 1, content: toBlocks(request.body.content) };
      const body = await withOptionsOf(ports, request, request.body, (job) => job.contextId === id);
      const answer = await writeWithin(ports, request, adds, (full) =>
        submitPosted(ports, queueOf(ports, request, id, full), body),
      );
      return accepted(request, reply, answer);
    },
  );
}

function postWorkerMessageRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/workers/:id/messages',
    {
      config: { access: 'run', tokens: 'worker' },
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
      const { tenantId } = request;
      const worker = workerId(request.params.id);
      const body = await withOptionsOf(ports, request, request.body, (job) => job.workerId === worker);
      const command = (full: Refusal | null): OneStatement<Accepted> => ({
        async statement(executor) {
          const context = await contextOf(executor, tenantId, worker);
          if (context === null) return refuse('not_found', noWorker(worker));
          return runStatement(executor, submitPosted(ports, queueOf(ports, request, context, full), body));
        },
      });
      const answer = await writeWithin(ports, request, { queuedJobs: 1, content: toBlocks(body.content) }, command);
      return accepted(request, reply, answer);
    },
  );
}

function postJobRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/jobs',
    {
      config: { access: 'run', tokens: 'context' },
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
      const id = contextId(request.params.id);
      const body = await withOptionsOf(ports, request, request.body, (job) => job.contextId === id);
      const answer = await writeWithin(ports, request, ONE_JOB, (full) =>
        submitPosted(ports, queueOf(ports, request, id, full), body),
      );
      return accepted(request, reply, answer);
    },
  );
}

function getMessageRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/messages/:message_id',
    {
      config: { access: 'read', tokens: 'context' },
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
      config: { access: 'run', tokens: 'context' },
      bodyLimit: CONTENT_BYTES,
      schema: {
        summary: 'Edit a delayed or queued input, or change the position of a queued one',
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
      const change = { content, place: body.position ?? null, by: request.user };
      return writeWithin(ports, request, content === null ? {} : { content: 'unknown' }, (_full, reserve) =>
        answeredBy(changeInput(target, { ...change, reserve }), async (tx) => {
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
      config: { access: 'run', tokens: 'context' },
      schema: {
        summary: 'Withdraw a delayed or queued input and cancel its job',
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
