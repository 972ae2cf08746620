/** Creates a context from a file: an export, question and answer pairs, or a folder of the old layout. */
import { Readable } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { importContext } from '../../../commands/contexts/import-context.ts';
import { readAnswer, tagged, type ContextAnswer } from '../../response/context-answer.ts';
import { withoutBody, openSource } from '../../import/open.ts';
import { spool, type Spooled } from '../../import/spool.ts';
import { makeWorker } from '../../request/make-worker.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { WriteHeaders, versioned } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { Context } from '../../schemas/contexts/context.ts';
import { ImportContext } from '../../schemas/contexts/import.ts';
import { problems } from '../../schemas/problem.ts';
import { createValidator } from '../../request/validation.ts';
import { answeredBy, write, type WriteRequest } from '../../request/write.ts';

/** Extra time for the import, in milliseconds. */
const TIMEOUT_MS = 600_000;

export function importRoute(app: App, ports: ApiPorts): void {
  // In its own Fastify scope: the body is a stream here, and is validated while it is read.
  void app.register(async (plain) => {
    const scope = plain.withTypeProvider<TypeBoxTypeProvider>();
    const compile = createValidator();
    scope.removeContentTypeParser('application/json');
    scope.addContentTypeParser('application/json', (_request, payload, done) => done(null, payload));
    scope.post(
      '/api/contexts/import',
      {
        config: { timeoutMs: TIMEOUT_MS },
        validatorCompiler: (part) => (part.httpPart === 'body' ? () => true : compile(part)),
        schema: {
          summary: 'Create a context from an export, from pairs, or from a folder of the old layout',
          description:
            'Imports everything or nothing. The body may be larger than other bodies (NIGHTSHIFT_IMPORT_MB). Tool calls without a result get one, so that a job can run at once.',
          operationId: 'importContext',
          tags: ['contexts'],
          headers: WriteHeaders,
          body: ref(ImportContext),
          response: { 201: versioned(Context), ...problems() },
        },
      },
      async (request, reply) => {
        const received: unknown = request.body;
        if (!(received instanceof Readable)) throw withoutBody();
        const body = await spool(received, ports.config.importBytes, request.id);
        try {
          const answer = await importFrom(ports, request, body);
          reply.code(201).header('location', `/api/contexts/${answer.context.id}`);
          return tagged(reply, answer);
        } finally {
          await body.remove();
        }
      },
    );
  });
}

/** The request counts as repeated if its body has the same hash. */
async function importFrom(
  ports: ApiPorts,
  { tenantId, method, url, headers, lateAt }: WriteRequest,
  body: Spooled,
): Promise<ContextAnswer> {
  const source = await openSource(ports, tenantId, body);
  const { title, config, worker, context, eventData } = source;
  const create = await makeWorker(ports, { tenantId, ...worker, title, config, parentWorkerId: null });
  const filling = { context, eventData, entries: () => source.entries() };
  return write(
    ports,
    { tenantId, method, url, headers, lateAt, body: { sha256: body.hash } },
    answeredBy(importContext(ports, tenantId, create, filling), (tx, { contextId }) =>
      readAnswer(ports, tx, tenantId, contextId),
    ),
  );
}
