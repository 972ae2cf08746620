/** Chat sessions. A session is a context with an idle timeout. */
import type { Static } from 'typebox';
import { unlessFull } from '../../../commands/tenants/within-quota.ts';
import { mapOutcome, type AnyCommand } from '../../../commands/perform.ts';
import { refuse, type Refusal } from '../../../core/errors.ts';
import { isAllowed, notAllowed } from '../../../core/workers/allowed-names.ts';
import { parseId, type ContextId } from '../../../core/ids.ts';
import type { Requester } from '../../access/actor.ts';
import { actingUser, requireNewContexts, sees, type WritingCaller } from '../../access/reach.ts';
import { CONTENT_BYTES } from '../../request/body.ts';
import { refusedName } from '../../server/catalog.ts';
import { makeWorker } from '../../request/make-worker.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { accepted } from '../../response/accepted.ts';
import { RequestRefused } from '../../response/problem.ts';
import { Chat, ChatAccepted } from '../../schemas/contexts/chat.ts';
import { WriteHeaders } from '../../schemas/common.ts';
import type { Accepted } from '../../schemas/messages/message.ts';
import { ref } from '../../../schema/build.ts';
import { problems } from '../../schemas/problem.ts';
import { queueOf, submitPosted, toAccepted, toBlocks, toFirstInput } from '../../request/submit.ts';
import { answeredBy } from '../../request/write.ts';
import { writeWithin } from '../../request/write-within.ts';

export function chatRoutes(app: App, ports: ApiPorts): void {
  app.post(
    '/api/chat',
    {
      config: { access: 'run', tokens: 'filtered' },
      bodyLimit: CONTENT_BYTES,
      schema: {
        summary: 'Post a message to a chat session; without session_id a new session starts',
        operationId: 'chat',
        tags: ['contexts'],
        headers: WriteHeaders,
        body: ref(Chat),
        response: { 202: ref(ChatAccepted), ...problems(404, 429) },
      },
    },
    async (request, reply) => {
      const session = sessionId(request.body.session_id);
      const adds = { queuedJobs: 1, workers: session === null ? 1 : 0, content: toBlocks(request.body.message) };
      const answer = await writeWithin(ports, request, adds, async (full) =>
        answered(
          session === null
            ? unlessFull(full, await begin(ports, request, request.body))
            : await goOn(ports, request, { contextId: session, full }, request.body),
        ),
      );
      return accepted(request, reply, answer);
    },
  );
}

/** A session always uses the default model. For another model or a role, clients create a context and post to it. */
async function begin(
  ports: ApiPorts,
  caller: WritingCaller,
  { message, user }: Static<typeof Chat>,
): Promise<AnyCommand<Accepted>> {
  requireNewContexts(caller);
  const { tenantId, allow } = caller;
  const { defaultModel: model } = ports.config;
  if (!isAllowed(allow, 'models', model)) {
    const refusalText = `A session uses the default model. ${notAllowed(allow, 'models', [model])} Create a context with another model.`;
    return async () => refuse('forbidden', refusalText);
  }
  if ((await refusedName(ports, allow, { model })) !== null) {
    const refusalText = `No live worker process serves the default model ${model}. Configure its provider, or set NIGHTSHIFT_DEFAULT_MODEL to another model.`;
    return async () => refuse('unknown_model', refusalText);
  }
  const config = { idle_timeout_s: ports.config.sessionTimeoutS };
  const wanted = {
    tenantId,
    allow,
    user: actingUser(caller, user),
    name: 'session',
    title: null,
    role: null,
    config,
    parentWorkerId: null,
  };
  const make = await makeWorker(ports, wanted, toFirstInput(caller, { content: message }));
  return answeredBy(make, async (_, created) => {
    if (created.accepted === null) throw new Error('A session was created without its first message.');
    return toAccepted(created.accepted);
  });
}

async function goOn(
  ports: ApiPorts,
  caller: WritingCaller & Requester,
  { contextId, full }: { contextId: ContextId; full: Refusal | null },
  { message, user }: Static<typeof Chat>,
): Promise<AnyCommand<Accepted>> {
  if (!(await sees(ports.database.db, caller, { kind: 'context', id: contextId })))
    throw new RequestRefused(noSession(contextId));
  const posted = { content: message, ...(user !== undefined && { user }) };
  const submit = submitPosted(ports, queueOf(ports, caller, contextId, full), posted);
  return mapOutcome(submit, async (outcome) =>
    outcome.kind === 'refused' && outcome.code === 'not_found' ? noSession(contextId) : outcome,
  );
}

function answered(command: AnyCommand<Accepted>): AnyCommand<ChatAccepted> {
  return answeredBy(command, async (_, { context_id, job_id, stream_url }) => ({
    session_id: context_id,
    job_id,
    stream_url,
  }));
}

/** Null where no id was given. Refuses a malformed id as `not_found`. */
function sessionId(text: string | undefined): ContextId | null {
  if (text === undefined) return null;
  const id = parseId<ContextId>(text);
  if (id === null) throw new RequestRefused(noSession(text));
  return id;
}

function noSession(id: string) {
  return refuse('not_found', `No session has the id ${id}. Leave session_id out to start a new one.`, 'session_id');
}
