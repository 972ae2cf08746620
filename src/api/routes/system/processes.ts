/** Worker processes and their history, for the operator: listed, paused, resumed, drained. */
import { perform } from '../../../commands/perform.ts';
import { requestStatus } from '../../../commands/processes/request-status.ts';
import type { AuditAction } from '../../../core/access/audit.ts';
import type { ProcessId } from '../../../core/ids.ts';
import type { ProcessStatus } from '../../../core/process-status.ts';
import { listProcesses } from '../../../db/read/installation/process-views.ts';
import { ref } from '../../../schema/build.ts';
import { audited } from '../../request/audited.ts';
import { cursorOf, id } from '../../request/cursor.ts';
import { toListing } from '../../response/page.ts';
import { orRefuse } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { problems } from '../../schemas/problem.ts';
import { ProcessQuery, RequestedProcess, WorkerProcessList } from '../../schemas/system/process.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { FIGURES } from '../../wire/system/figures.ts';
import { toProcess } from '../../wire/system/process.ts';
import { IdParams, processId } from '../params.ts';

const tags = ['system'];
const config = { access: 'operator' } as const;

const PLACE = cursorOf(id<ProcessId>);

export function processRoutes(app: App, ports: ApiPorts): void {
  app.get(
    '/api/processes',
    {
      config,
      schema: {
        summary: 'Worker processes, newest first: those that are alive, and those that ended in the last days',
        operationId: 'listProcesses',
        tags,
        querystring: ProcessQuery,
        response: { 200: ref(WorkerProcessList) },
      },
    },
    async ({ query }, reply) => {
      const [before] = PLACE.read(query.cursor) ?? [null];
      const { limit } = query;
      const filter = { isLive: query.live ?? null, before, limit: limit + 1, figure: FIGURES.slots };
      const read = readerOf(ports, reply);
      const items = await read((_, last) => listProcesses(last, ports.times, filter));
      return toListing({ items }, limit, toProcess, (last) => PLACE.write([last.id]));
    },
  );
  for (const request of REQUESTS) requestRoute(app, ports, request);
}

type StatusRequest = { path: string; status: ProcessStatus; operationId: string; summary: string; action: AuditAction };

const REQUESTS: readonly StatusRequest[] = [
  {
    path: 'pause',
    status: 'paused',
    operationId: 'pauseProcess',
    summary: 'Let a worker process begin no run until it is resumed; its runs go on to the end of their jobs',
    action: 'process.paused',
  },
  {
    path: 'resume',
    status: 'running',
    operationId: 'resumeProcess',
    summary: 'Let a paused worker process begin runs again',
    action: 'process.resumed',
  },
  {
    path: 'drain',
    status: 'draining',
    operationId: 'drainProcess',
    summary: 'Let a worker process release its runs at their next step, for other processes, and then end',
    action: 'process.drained',
  },
];

function requestRoute(app: App, ports: ApiPorts, { path, status, operationId, summary, action }: StatusRequest): void {
  app.post(
    `/api/processes/:id/${path}`,
    {
      config,
      schema: {
        summary,
        operationId,
        tags,
        params: IdParams,
        response: { 202: ref(RequestedProcess), ...problems(404, 409) },
      },
    },
    async (request, reply) => {
      const id = processId(request.params.id);
      const command = audited(ports, { request, tenantId: null }, requestStatus(id, status), ({ changed }) =>
        changed ? [{ action, target: id, detail: {} }] : [],
      );
      orRefuse(await perform(ports, command));
      reply.code(202);
      return { id, requested_status: status };
    },
  );
}
