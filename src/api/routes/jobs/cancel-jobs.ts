/** Cancels all unfinished jobs that match a filter. */
import type { Static } from 'typebox';
import { cancelJobs } from '../../../commands/jobs/cancel-jobs.ts';
import { refuse, type Refusal } from '../../../core/errors.ts';
import { parseId, type ContextId, type WorkerId } from '../../../core/ids.ts';
import { actorOf, type Requester } from '../../access/actor.ts';
import { visibleTo, type Caller } from '../../access/reach.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { CANCEL_FILTERS, CancelJobs, Cancelled } from '../../schemas/jobs/cancel-jobs.ts';
import { WriteHeaders } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { writeAround } from '../../request/write.ts';

/** Extra time in milliseconds: one transaction for each context. After it the API answers 503; the client retries. */
const TIMEOUT_MS = 60_000;

export function cancelJobsRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/jobs/cancel',
    {
      config: { access: 'run', tokens: 'filtered', timeoutMs: TIMEOUT_MS },
      schema: {
        summary: 'Cancel all unfinished jobs that match a filter. Safe to repeat',
        operationId: 'cancelJobs',
        tags: ['jobs'],
        headers: WriteHeaders,
        body: ref(CancelJobs),
        response: { 200: ref(Cancelled) },
      },
    },
    (request) => writeAround(ports, request, () => cancelAll(ports, request, request.body)),
  );
}

async function cancelAll(
  ports: ApiPorts,
  caller: Caller & Requester,
  body: Static<typeof CancelJobs>,
): Promise<{ kind: 'done'; value: Cancelled } | Refusal> {
  if (CANCEL_FILTERS.every((name) => body[name] === undefined)) {
    return refuse('invalid_request', `The filter is empty. Give at least one of ${CANCEL_FILTERS.join(', ')}.`);
  }
  const filter = {
    ...visibleTo(caller, body.user),
    contextId: parseId<ContextId>(body.context_id ?? ''),
    workerId: parseId<WorkerId>(body.worker_id ?? ''),
    role: body.role ?? null,
    status: body.status ?? null,
    kind: body.kind ?? null,
    metadata: body.metadata ?? null,
  };
  return {
    kind: 'done',
    value: await cancelJobs(ports, {
      tenantId: caller.tenantId,
      filter,
      reason: body.reason ?? null,
      // The user of the filter asked for nothing.
      by: actorOf(caller),
    }),
  };
}
