/**
 * Edits past inputs and regenerates answers, each on a new branch. Lists the siblings of a message on other branches.
 */
import { ONE_JOB } from '../../quotas/room.ts';
import type { Static } from 'typebox';
import { editInput, regenerate, type Regeneration } from '../../../commands/inputs/regenerate.ts';
import type { AnyCommand } from '../../../commands/perform.ts';
import type { Refusal } from '../../../core/errors.ts';
import type { InputBlock } from '../../../core/conversation/blocks.ts';
import type { Requester } from '../../access/actor.ts';
import type { TracedCaller } from '../../access/reach.ts';
import { listSiblings } from '../../../db/read/contexts/branch-views.ts';
import { CONTENT_BYTES } from '../../request/body.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { accepted } from '../../response/accepted.ts';
import { orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { AcceptedOnBranch, EditMessage, Regenerate, SiblingList } from '../../schemas/contexts/branch.ts';
import { WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { problems } from '../../schemas/problem.ts';
import { queueOf, toAccepted, toBlocks, toSubmitInput } from '../../request/submit.ts';
import { toSiblings } from '../../wire/branch.ts';
import { answeredBy } from '../../request/write.ts';
import { writeWithin } from '../../request/write-within.ts';
import { MessageParams, contextId, messageId } from '../params.ts';

const tags = ['contexts'];

export function regenerateRoutes(app: App, ports: ApiPorts): void {
  editMessageRoute(app, ports);
  regenerateRoute(app, ports);
  siblingsRoute(app, ports);
}

function editMessageRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/messages/:message_id/edit',
    {
      config: { access: 'run', tokens: 'context' },
      bodyLimit: CONTENT_BYTES,
      schema: {
        summary: 'Edit a past input and answer it on a new branch',
        operationId: 'editMessage',
        tags,
        params: MessageParams,
        headers: WriteHeaders,
        body: ref(EditMessage),
        response: { 202: ref(AcceptedOnBranch), ...problems(429) },
      },
    },
    async (request, reply) => {
      const content = toBlocks(request.body.content);
      const answer = await writeWithin(ports, request, { queuedJobs: 1, content }, (full) =>
        onBranch(editInput(ports, toRegeneration(ports, request, content, full))),
      );
      return accepted(request, reply, answer);
    },
  );
}

function regenerateRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/messages/:message_id/regenerate',
    {
      config: { access: 'run', tokens: 'context' },
      schema: {
        summary: 'Regenerate the answer to an input on a new branch',
        operationId: 'regenerateMessage',
        tags,
        params: MessageParams,
        headers: WriteHeaders,
        body: ref(Regenerate),
        response: { 202: ref(AcceptedOnBranch), ...problems(429) },
      },
    },
    async (request, reply) => {
      const answer = await writeWithin(ports, request, ONE_JOB, (full) =>
        onBranch(regenerate(ports, toRegeneration(ports, request, null, full))),
      );
      return accepted(request, reply, answer);
    },
  );
}

function siblingsRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/messages/:message_id/siblings',
    {
      config: { access: 'read', tokens: 'context' },
      schema: {
        summary: 'Alternatives to a message on the branches of its context, itself included',
        operationId: 'listSiblings',
        tags,
        params: MessageParams,
        response: { 200: ref(SiblingList) },
      },
    },
    async ({ tenantId, params }, reply) => {
      const id = messageId(params.message_id);
      const context = contextId(params.id);
      const siblings = await readerOf(ports, reply)((_, last) => listSiblings(last, tenantId, context, id));
      const found = siblings.length === 0 ? null : siblings;
      return toSiblings(orNotFound(found, `No branch of context ${params.id} has the message ${id}.`));
    },
  );
}

type RegenerateRequest = TracedCaller &
  Requester & {
    params: { id: string; message_id: string };
    body: Static<typeof Regenerate>;
  };

function toRegeneration<Content extends InputBlock[] | null>(
  ports: ApiPorts,
  { params, body, ...caller }: RegenerateRequest,
  content: Content,
  full: Refusal | null,
): Regeneration & { input: { content: Content } } {
  const target = queueOf(ports, caller, contextId(params.id), full);
  const input = { ...toSubmitInput(target, body), content };
  return { messageId: messageId(params.message_id), name: body.name ?? null, input };
}

function onBranch(command: ReturnType<typeof regenerate>): AnyCommand<AcceptedOnBranch> {
  return answeredBy(command, async (_, value) => ({ ...toAccepted(value), branch: value.branch }));
}
