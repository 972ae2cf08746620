/** Reads one worker, with the settings that apply to it if the request asks for them. */
import { findWorker } from '../../../db/read/contexts/worker-views.ts';
import { orNotFound } from '../../response/problem.ts';
import { versioned } from '../../schemas/common.ts';
import { ReadWorker, ReadWorkerQuery } from '../../schemas/workers/worker.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { tagged, withVersion } from '../../request/version.ts';
import { toWorker } from '../../wire/worker.ts';
import { IdParams, noWorker, workerId } from '../params.ts';
import { effectiveOfWorker, requireNoToken } from './effective.ts';

export function getWorkerRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/workers/:id',
    {
      config: { access: 'read', tokens: 'worker' },
      schema: {
        summary: 'One worker',
        operationId: 'getWorker',
        tags: ['workers'],
        params: IdParams,
        querystring: ReadWorkerQuery,
        response: { 200: versioned(ReadWorker) },
      },
    },
    async (request, reply) => {
      const { tenantId, params, query } = request;
      const id = workerId(params.id);
      if (query.include !== undefined) requireNoToken(request);
      const view = orNotFound(await findWorker(ports.database.db, tenantId, id), noWorker(id));
      const included = query.include === undefined ? {} : { effective: await effectiveOfWorker(ports, request, view) };
      return tagged(reply, withVersion({ ...toWorker(view), ...included }, view.version));
    },
  );
}
