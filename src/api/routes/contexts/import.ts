/** Creates a context from a file: an export, question and answer pairs, or a folder of the old layout. */
import { Readable } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import type { LimitedTenant } from '../../../commands/tenants/within-quota.ts';
import { importContext } from '../../../commands/contexts/import-context.ts';
import { created } from '../../response/context-answer.ts';
import { openSource } from '../../import/open.ts';
import { spool, type Spooled } from '../../import/spool.ts';
import { makeWorker } from '../../request/make-worker.ts';
import { actingUser, type WritingCaller } from '../../access/reach.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { WriteHeaders, versioned } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { Context } from '../../schemas/contexts/context.ts';
import { ImportContext, ImportQuery } from '../../schemas/contexts/import.ts';
import { invalid } from '../../response/problem.ts';
import { createValidator } from '../../request/validation.ts';
import { audited, type AuditedBy } from '../../request/audited.ts';
import type { WriteRequest } from '../../request/write.ts';

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
        config: { access: 'configure', timeoutMs: TIMEOUT_MS },
        validatorCompiler: (part) => (part.httpPart === 'body' ? () => true : compile(part)),
        schema: {
          summary: 'Create a context from an export, from pairs, or from a folder of the old layout',
          description:
            'Imports everything or nothing. The body may be larger than other bodies (NIGHTSHIFT_IMPORT_MB). Tool calls without a result get one, so that a job can run at once.',
          operationId: 'importContext',
          tags: ['contexts'],
          querystring: ImportQuery,
          headers: WriteHeaders,
          body: ref(ImportContext),
          response: { 201: versioned(Context) },
        },
      },
      async (request, reply) => {
        const received: unknown = request.body;
        if (!(received instanceof Readable)) throw invalid('The body is missing. Send the import as application/json.');
        const body = await spool(received, ports.config.importBytes, request.id);
        try {
          return await importFrom(ports, request, reply, body);
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
  received: WriteRequest & AuditedBy & WritingCaller & LimitedTenant & { query: Static<typeof ImportQuery> },
  reply: FastifyReply,
  body: Spooled,
): Promise<Context> {
  const { tenantId, allow, limits, user: proved, method, url, headers, lateAt, query } = received;
  const source = await openSource(ports, received, body);
  const { title, config, worker, context, eventData } = source;
  const user = actingUser(received, query.user);
  const create = await makeWorker(ports, { tenantId, allow, user, ...worker, title, config, parentWorkerId: null });
  const filling = { context, eventData, entries: () => source.entries() };
  const identified = { tenantId, user: proved, method, url, headers, lateAt, body: { sha256: body.hash, ...query } };
  const request = { ...identified, limits };
  const command = importContext(ports, tenantId, create, filling);
  const recorded = audited(ports, { request: received, tenantId, user: query.user }, command, (made) => [
    { action: 'context.imported', target: made.contextId, detail: { worker_id: made.workerId } },
  ]);
  return created(ports, request, reply, { command: recorded, copies: true });
}
