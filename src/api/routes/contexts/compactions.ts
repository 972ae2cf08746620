/** Starts compactions of a context, and lists them. */
import { ONE_JOB } from '../../quotas/room.ts';
import { compactContext } from '../../../commands/contexts/compact-context.ts';
import { listCompactions } from '../../../db/read/messages/compaction-views.ts';
import { requireNames } from '../../server/catalog.ts';
import { count, cursorOf } from '../../request/cursor.ts';
import { toIso } from '../../request/instant.ts';
import { accepted } from '../../response/accepted.ts';
import { toListing } from '../../response/page.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { PageQuery, WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { CompactAccepted, CompactContext, ContextCompactionList } from '../../schemas/contexts/compaction.ts';
import { problems } from '../../schemas/problem.ts';
import { actingUser } from '../../access/reach.ts';
import { queueOf } from '../../request/submit.ts';
import { answeredBy } from '../../request/write.ts';
import { writeWithin } from '../../request/write-within.ts';
import { IdParams, contextId, noContext } from '../params.ts';

const tags = ['contexts'];

const PLACE = cursorOf(count);

export function compactionRoutes(app: App, ports: ApiPorts): void {
  compactRoute(app, ports);
  listCompactionsRoute(app, ports);
}

function compactRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/compact',
    {
      config: { access: 'run', tokens: 'context' },
      schema: {
        summary: 'Compact a context by a job of kind compact. The job completes even if there is nothing to compact',
        operationId: 'compactContext',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        body: ref(CompactContext),
        response: { 202: ref(CompactAccepted), ...problems(429) },
      },
    },
    async (request, reply) => {
      const { token } = request;
      const { user: named, ...asked } = request.body;
      if (asked.model !== undefined) await requireNames(ports, request, { model: asked.model }, []);
      const id = contextId(request.params.id);
      const user = actingUser(request, named);
      const answer = await writeWithin(ports, request, ONE_JOB, (full) => {
        const target = queueOf(ports, request, id, full);
        const compact = compactContext(ports, { ...target, asked, user, metadata: token?.metadata ?? {} });
        return answeredBy(compact, async (_, { jobId }): Promise<CompactAccepted> => ({ job_id: jobId }));
      });
      return accepted(request, reply, answer);
    },
  );
}

function listCompactionsRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/compactions',
    {
      config: { access: 'read', tokens: 'context' },
      schema: {
        summary: 'Compactions of a context in order, with the messages that each replaces in prompts',
        operationId: 'listCompactions',
        tags,
        params: IdParams,
        querystring: PageQuery,
        response: { 200: ref(ContextCompactionList) },
      },
    },
    async ({ tenantId, params, query }, reply) => {
      const context = contextId(params.id);
      const { limit } = query;
      const [after] = PLACE.read(query.cursor) ?? [0];
      const read = readerOf(ports, reply);
      const found = await read((_, last) => listCompactions(last, tenantId, context, { after, limit: limit + 1 }));
      const page = orNotFound(found, noContext(context));
      return toListing(
        page,
        limit,
        (view) => ({
          id: view.id,
          context_id: context,
          branch: view.branch,
          seq: view.seq,
          upto_seq: view.uptoSeq,
          type: view.type,
          summary: view.summary,
          model: view.model,
          tokens_before: view.tokensBefore,
          tokens_after: view.tokensAfter,
          job_id: view.jobId,
          created_at: toIso(view.createdAt),
        }),
        ({ seq }) => PLACE.write([seq]),
      );
    },
  );
}
