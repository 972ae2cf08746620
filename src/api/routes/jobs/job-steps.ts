/** The steps of a job, and the prompts it sent. */
import { Type } from 'typebox';
import { findSentCall } from '../../../db/model-calls/model-calls.ts';
import { listSteps } from '../../../db/read/jobs/step-views.ts';
import { count, cursorOf } from '../../request/cursor.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { modelOf } from '../../response/roles.ts';
import { readSentPrompt } from '../../response/sent-prompt.ts';
import { PageQuery, Uuid } from '../../schemas/common.ts';
import { ref, strict } from '../../../schema/build.ts';
import { JobStepList, SentPrompt } from '../../schemas/jobs/step.ts';
import { toSentPrompt, toStep } from '../../wire/step.ts';
import { IdParams, jobId, noJob } from '../params.ts';

/** The cursor is the number of steps already read: a timeline only grows at its end. */
const PLACE = cursorOf(count);

export function jobStepRoutes(app: App, ports: ApiPorts): void {
  listStepsRoute(app, ports);
  promptRoute(app, ports);
}

function listStepsRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/jobs/:id/steps',
    {
      config: { access: 'read', tokens: 'job' },
      schema: {
        summary: 'The timeline of a job: model calls, tool calls and waits',
        operationId: 'listJobSteps',
        tags: ['jobs'],
        params: IdParams,
        querystring: PageQuery,
        response: { 200: ref(JobStepList) },
      },
    },
    async ({ tenantId, params, query }, reply) => {
      const id = jobId(params.id);
      const { limit, cursor } = query;
      const [skip] = PLACE.read(cursor) ?? [0];
      const read = readerOf(ports, reply);
      const timeline = await read((_, last) => listSteps(last, tenantId, id, { after: skip, limit: limit + 1 }));
      const { steps, worker } = orNotFound(timeline, noJob(id));
      const { config, definition, role } = worker;
      const named = config.model ?? definition?.model ?? null;
      const model = modelOf(ports, { model: named, role, ofFile: definition === null });
      return {
        data: steps.slice(0, limit).map((step) => toStep(step, model)),
        next_cursor: steps.length > limit ? PLACE.write([skip + limit]) : null,
      };
    },
  );
}

function promptRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/jobs/:id/steps/:n/prompt',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Prompt of one model call of a job, and where its prefix differs from the call before',
        operationId: 'getStepPrompt',
        tags: ['jobs'],
        params: CallParams,
        response: { 200: ref(SentPrompt) },
      },
    },
    async ({ tenantId, params }, reply) => {
      const id = jobId(params.id);
      const { n } = params;
      const read = readerOf(ports, reply);
      const found = await read((_, last) => findSentCall(last, tenantId, id, n));
      const { call, ...of } = orNotFound(found, noJob(id));
      const made = orNotFound(
        call,
        `Job ${id} has no stored prompt for model call ${n}. Use the n of a step of kind model.`,
      );
      const sent = await readSentPrompt(read, { ...of, tenantId, jobId: id }, made, ports.catalog);
      return toSentPrompt(id, n, sent);
    },
  );
}

const CallParams = strict({
  id: Uuid,
  n: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description: 'The number of the model call, from 1: `n` of its step.',
  }),
});
