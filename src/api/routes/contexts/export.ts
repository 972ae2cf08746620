/** Exports a context as a file: lossless JSON, Markdown, or question and answer pairs. Streams it as it is read. */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { whole, type Span } from '../../../core/conversation/branch.ts';
import { readContext, type StoredContext } from '../../../db/read/messages/export.ts';
import { documentOf } from '../../export/document.ts';
import { markdownOf } from '../../export/markdown.ts';
import { pairedOf } from '../../export/paired.ts';
import { pagesOf } from '../../export/stream.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { ref } from '../../../schema/build.ts';
import { ContextExport, ExportQuery, PairedExport } from '../../schemas/contexts/export.ts';
import { IdParams, contextId, noContext } from '../params.ts';

export function exportRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/export',
    {
      config: { access: 'read', tokens: 'context' },
      schema: {
        summary: 'Export a context as a file',
        description:
          'A snapshot of the context at the time of the request. json: the full history of all branches, for import. markdown and paired: the current history of the active branch. Queued inputs and jobs are not included. A response that breaks off is incomplete: request it again.',
        operationId: 'exportContext',
        tags: ['contexts'],
        params: IdParams,
        querystring: ExportQuery,
        response: {
          200: {
            description: 'The file.',
            headers: { 'content-disposition': Type.String() },
            content: {
              'application/json': { schema: Type.Union([ref(ContextExport), ref(PairedExport)]) },
              'text/markdown': { schema: Type.Unsafe<Readable>({ type: 'string' }) },
            },
          },
        },
      },
    },
    async ({ method, tenantId, params, query }, reply) => {
      const id = contextId(params.id);
      const read = readerOf(ports, reply);
      const stored = await read((_, last) => readContext(last, tenantId, id));
      const context = orNotFound(stored, noContext(id));
      const { headSeq } = context;
      const spans = query.format === 'json' ? null : spansOf(context);
      const pages = pagesOf(read, { tenantId, contextId: id, headSeq, spans });
      const { make, type, ending } = FORMATS[query.format];
      reply.type(type).header('content-disposition', `attachment; filename="${id}.${ending}"`);
      // A HEAD request gets the headers alone: nothing more is read for it.
      return Readable.from(method === 'HEAD' ? [] : make(context, pages));
    },
  );
}

const FORMATS = {
  json: { make: documentOf, type: 'application/json; charset=utf-8', ending: 'json' },
  markdown: { make: markdownOf, type: 'text/markdown; charset=utf-8', ending: 'md' },
  paired: { make: pairedOf, type: 'application/json; charset=utf-8', ending: 'paired.json' },
} as const;

/** The spans of messages that the active branch shows. */
function spansOf({ activeBranch, branches }: StoredContext): Span[] {
  const active = branches.find(({ name }) => name === activeBranch);
  return active?.spans ?? whole(activeBranch);
}
