/** A context as a file: lossless, to read, or in pairs. Sent as it is read. */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { whole } from '../../core/branch.ts';
import type { Span } from '../../core/branch.ts';
import { readContext } from '../../db/export.ts';
import type { StoredContext, StoredMessage } from '../../db/export.ts';
import { documentOf } from '../export/document.ts';
import { markdownOf } from '../export/markdown.ts';
import { pairedOf } from '../export/paired.ts';
import { pagesOf } from '../export/stream.ts';
import type { ApiPorts, App } from '../ports.ts';
import { orNotFound } from '../problem.ts';
import { readerOf } from '../reads.ts';
import { ref } from '../schemas/common.ts';
import { ContextExport, ExportQuery, PairedExport } from '../schemas/export.ts';
import { problems } from '../schemas/problem.ts';
import { IdParams, contextId, noContext } from './params.ts';

export function exportRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/export',
    {
      schema: {
        summary: 'A context as a file',
        description:
          'As it stood when this was asked. json: all that was ever history on all branches, for import. markdown, paired: the active branch, as it stands. What is queued and jobs are not part of it. An answer that is cut off is not complete: ask again.',
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
          ...problems(),
        },
      },
    },
    async ({ tenantId, params, query }, reply) => {
      const id = contextId(params.id);
      const read = readerOf(ports, reply);
      const stored = await read((_, last) => readContext(last, tenantId, id));
      const context = orNotFound(stored, noContext(id));
      const { headSeq } = context;
      const spans = query.format === 'json' ? null : spansOf(context);
      const pages = pagesOf(read, { tenantId, contextId: id, headSeq, spans });
      const { make, type, ending } = FORMATS[query.format];
      reply.type(type).header('content-disposition', `attachment; filename="${id}.${ending}"`);
      return Readable.from(make(context, pages));
    },
  );
}

type Format = {
  make: (context: StoredContext, pages: AsyncIterable<StoredMessage[]>) => AsyncGenerator<string>;
  type: string;
  ending: string;
};

const FORMATS: Readonly<Record<'json' | 'markdown' | 'paired', Format>> = {
  json: { make: documentOf, type: 'application/json; charset=utf-8', ending: 'json' },
  markdown: { make: markdownOf, type: 'text/markdown; charset=utf-8', ending: 'md' },
  paired: { make: pairedOf, type: 'application/json; charset=utf-8', ending: 'paired.json' },
};

/** What its active branch reads. */
function spansOf({ activeBranch, branches }: StoredContext): Span[] {
  const active = branches.find(({ name }) => name === activeBranch);
  return active?.spans ?? whole(activeBranch);
}
