/** Runs of a schedule: started by a client, and listed. */
import { noSchedule } from '../../../commands/schedules/refusals.ts';
import { runNow } from '../../../commands/schedules/run-now.ts';
import type { ScheduleRunId } from '../../../core/ids.ts';
import { listRuns } from '../../../db/schedules/schedule-runs.ts';
import { ref } from '../../../schema/build.ts';
import { cursorOf, id } from '../../request/cursor.ts';
import { schedulePorts } from '../../request/scheduled-worker.ts';
import { toAccepted } from '../../request/submit.ts';
import { audited } from '../../request/audited.ts';
import { answeredBy, write } from '../../request/write.ts';
import { accepted } from '../../response/accepted.ts';
import { toListing } from '../../response/page.ts';
import { orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { PageQuery, WriteHeaders } from '../../schemas/common.ts';
import { Accepted } from '../../schemas/messages/message.ts';
import { problems } from '../../schemas/problem.ts';
import { ScheduleRunList } from '../../schemas/schedules/schedule.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { toScheduleRun } from '../../wire/schedule.ts';
import { IdParams, scheduleId } from '../params.ts';

const tags = ['schedules'];

const PLACE = cursorOf(id<ScheduleRunId>);

export function scheduleRunRoutes(app: App, ports: ApiPorts): void {
  runScheduleRoute(app, ports);
  listRunsRoute(app, ports);
}

function runScheduleRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/schedules/:id/run',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Post the input of a schedule now, also of a paused one. The next run does not change',
        operationId: 'runSchedule',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        response: { 202: ref(Accepted), ...problems(429) },
      },
    },
    async (request, reply) => {
      const { tenantId } = request;
      const target = scheduleId(request.params.id);
      const run = await runNow(schedulePorts(ports), request, target);
      const command = audited(ports, { request, tenantId }, run, ({ jobId }) => [
        { action: 'schedule.run', target, detail: { job_id: jobId } },
      ]);
      const answered = answeredBy(command, async (_, posted) => toAccepted(posted));
      return accepted(request, reply, await write(ports, request, answered));
    },
  );
}

function listRunsRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/schedules/:id/runs',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'The run log of a schedule, newest first',
        description: 'The newest 500 runs. A row with the status missed stands for all occurrences up to missed_until.',
        operationId: 'listScheduleRuns',
        tags,
        params: IdParams,
        querystring: PageQuery,
        response: { 200: ref(ScheduleRunList) },
      },
    },
    async ({ tenantId, params, query }, reply) => {
      const schedule = scheduleId(params.id);
      const [after] = PLACE.read(query.cursor) ?? [null];
      const read = readerOf(ports, reply);
      const found = await read((_, last) => listRuns(last, tenantId, schedule, { after, limit: query.limit + 1 }));
      const items = orNotFound(found, noSchedule(schedule).message);
      return toListing({ items }, query.limit, toScheduleRun, (last) => PLACE.write([last.id]));
    },
  );
}
