/** A worker and all workers below it, with their states and jobs. */
import { workerTree } from '../../../db/read/contexts/worker-tree.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { ref } from '../../../schema/build.ts';
import { WorkerTree, WorkerTreeQuery } from '../../schemas/workers/worker-tree.ts';
import { toWorkerTree } from '../../wire/worker-tree.ts';
import { IdParams, noWorker, workerId } from '../params.ts';

export function workerTreeRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/workers/:id/tree',
    {
      config: { access: 'read' },
      schema: {
        summary: 'A worker and all workers below it, with their states and jobs',
        operationId: 'getWorkerTree',
        tags: ['workers'],
        params: IdParams,
        querystring: WorkerTreeQuery,
        response: { 200: ref(WorkerTree) },
      },
    },
    async ({ tenantId, params, query }, reply) => {
      const id = workerId(params.id);
      const read = readerOf(ports, reply);
      const workers = await read((_, last) => workerTree(last, tenantId, id, query.limit + 1));
      return orNotFound(toWorkerTree(workers, query.limit), noWorker(id));
    },
  );
}
