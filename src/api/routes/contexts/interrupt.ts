/** Interrupts the current job of a context. */
import { interruptContext } from '../../../commands/contexts/interrupt-context.ts';
import { findInterruption } from '../../../db/run/receipts.ts';
import { actorOf } from '../../access/actor.ts';
import { toIsoOrNull } from '../../request/instant.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { orNotFound } from '../../response/problem.ts';
import { WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { Interrupt, Interruption, TIMEOUT_MS } from '../../schemas/contexts/interrupt.ts';
import { signalOf } from '../../response/signal.ts';
import { beginOnce, writeAround } from '../../request/write.ts';
import { untilArrived } from '../jobs/jobs.ts';
import { IdParams, contextId, noJob } from '../params.ts';

const NOTHING: Interruption = {
  job_id: null,
  status: null,
  removed_messages: [],
  effects: [],
  requested_at: null,
  stopped_at: null,
};

export function interruptRoutes(app: App, ports: ApiPorts): void {
  app.post(
    '/api/contexts/:id/interrupt',
    {
      config: { access: 'run', tokens: 'context' },
      schema: {
        summary: 'Interrupt the current job, and retract or keep its messages',
        operationId: 'interruptContext',
        tags: ['contexts'],
        params: IdParams,
        headers: WriteHeaders,
        body: ref(Interrupt),
        response: { 200: ref(Interruption) },
      },
    },
    async (request, reply) => {
      const { tenantId, body } = request;
      const context = contextId(request.params.id);
      const { mode = 'discard', wait_ms: waitMs = TIMEOUT_MS } = body;
      return writeAround(ports, request, async () => {
        const command = interruptContext(ports, { tenantId, contextId: context, mode, by: actorOf(request) });
        // A repeated request must not interrupt the next job.
        const { jobId } = await beginOnce(ports, request, command);
        if (jobId === null) return { kind: 'done', value: NOTHING };
        const place = { tenantId, contextId: context, jobId };
        const job = { tenantId, jobId, until: 'end' } as const;
        await untilArrived(ports, { job, ms: waitMs, signal: signalOf(reply) });
        const { status, requestedAt, stoppedAt, removed, effects } = orNotFound(
          await findInterruption(ports.database.db, tenantId, place),
          noJob(jobId),
        );
        return {
          kind: 'done',
          value: {
            job_id: jobId,
            status,
            removed_messages: removed,
            effects: effects.map(({ id, ...call }) => ({ tool_call_id: id, ...call })),
            requested_at: toIsoOrNull(requestedAt),
            stopped_at: toIsoOrNull(stoppedAt),
          },
        };
      });
    },
  );
}
