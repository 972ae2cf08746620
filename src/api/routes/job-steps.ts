/** What a job did, step by step. */
import { listSteps } from '../../db/step-views.ts';
import { count, cursorOf } from '../cursor.ts';
import type { ApiPorts, App } from '../ports.ts';
import { orNotFound } from '../problem.ts';
import { ref } from '../schemas/common.ts';
import { problems } from '../schemas/problem.ts';
import { JobStepList, StepQuery } from '../schemas/step.ts';
import { toStep } from '../wire/step.ts';
import { IdParams, jobId, noJob } from './params.ts';

/** How many steps were read before: a timeline grows at its end. */
const PLACE = cursorOf(count);

export function jobStepRoutes(app: App, ports: ApiPorts): void {
  app.get(
    '/api/jobs/:id/steps',
    {
      schema: {
        summary: 'The timeline of a job: model calls, tool calls and waits',
        operationId: 'listJobSteps',
        tags: ['jobs'],
        params: IdParams,
        querystring: StepQuery,
        response: { 200: ref(JobStepList), ...problems() },
      },
    },
    async ({ tenantId, params, query }) => {
      const id = jobId(params.id);
      const { limit, cursor } = query;
      const [skip] = PLACE.read(cursor) ?? [0];
      const timeline = await listSteps(ports.database.db, tenantId, id, skip, limit + 1);
      const { steps, worker } = orNotFound(timeline, noJob(id));
      const { config, definition, role } = worker;
      const ofRole = definition ?? ports.catalog.fileRoles.get(role ?? '');
      const model = config.model ?? ofRole?.model ?? ports.config.defaultModel;
      return {
        data: steps.slice(0, limit).map((step) => toStep(step, model)),
        next_cursor: steps.length > limit ? PLACE.write([skip + limit]) : null,
      };
    },
  );
}
