/** A worker and all workers below it, with their states and jobs. */
import type { ContextId, WorkerId } from '../../../core/ids.ts';
import { workerTree, type TreeWorker } from '../../../db/read/contexts/worker-tree.ts';
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
      config: { access: 'read', tokens: 'worker' },
      schema: {
        summary: 'A worker and all workers below it, with their states and jobs',
        operationId: 'getWorkerTree',
        tags: ['workers'],
        params: IdParams,
        querystring: WorkerTreeQuery,
        response: { 200: ref(WorkerTree) },
      },
    },
    async ({ tenantId, token, params, query }, reply) => {
      const id = workerId(params.id);
      const read = readerOf(ports, reply);
      const workers = await read((_, last) => workerTree(last, tenantId, id, query.limit + 1));
      return orNotFound(toWorkerTree(reached(workers, token?.contextIds ?? null), query.limit), noWorker(id));
    },
  );
}

/** The part of the tree that a token sees which names contexts; null: all of it, which has one user. */
function reached(workers: readonly TreeWorker[], contextIds: readonly ContextId[] | null): readonly TreeWorker[] {
  if (contextIds === null) return workers;
  const seen = new Set<WorkerId>();
  return workers.filter(({ id, contextId, parentWorkerId }, at) => {
    const isSeen =
      contextIds.includes(contextId) && (at === 0 || (parentWorkerId !== null && seen.has(parentWorkerId)));
    if (isSeen) seen.add(id);
    return isSeen;
  });
}
