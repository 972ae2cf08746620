/** The log of a job: what its tools wrote while they ran. */
import { parseId, type ToolCallId } from '../../../core/ids.ts';
import { listLog } from '../../../db/calls/tool-reports.ts';
import { count, cursorOf, small } from '../../request/cursor.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { toListing } from '../../response/page.ts';
import { orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { ref } from '../../../schema/build.ts';
import { LogEntryList, LogQuery } from '../../schemas/jobs/log.ts';
import { toEntryPlace, toLogEntry } from '../../wire/log.ts';
import { IdParams, jobId, noJob } from '../params.ts';

/** The place of the last entry of a page. */
const PLACE = cursorOf(count, small);

export function jobLogRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/jobs/:id/logs',
    {
      config: { access: 'read', tokens: 'job' },
      schema: {
        summary: 'The log that the tools of a job wrote, oldest entry first',
        operationId: 'listJobLogs',
        tags: ['jobs'],
        params: IdParams,
        querystring: LogQuery,
        response: { 200: ref(LogEntryList) },
      },
    },
    async ({ tenantId, params, query }, reply) => {
      const id = jobId(params.id);
      const { limit, level = 'debug' } = query;
      const [epoch, number] = PLACE.read(query.cursor) ?? [null];
      const first = query.after === undefined ? null : toEntryPlace(query.after);
      const after = epoch === null ? first : { epoch, number };
      const toolCallId = parseId<ToolCallId>(query.tool_call_id ?? '');
      const read = readerOf(ports, reply);
      const found = await read((_, last) =>
        listLog(last, tenantId, id, { level, toolCallId, after, limit: limit + 1 }),
      );
      const items = orNotFound(found, noJob(id));
      return toListing(
        { items },
        limit,
        (entry) => toLogEntry(id, entry),
        (entry) => PLACE.write([entry.epoch, entry.number]),
      );
    },
  );
}
