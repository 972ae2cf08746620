/** Schedules: made, read, changed, deleted. */
import { changeSchedule, removeSchedule } from '../../../commands/schedules/change-schedule.ts';
import { createSchedule } from '../../../commands/schedules/create-schedule.ts';
import { noSchedule } from '../../../commands/schedules/refusals.ts';
import type { ScheduleId } from '../../../core/ids.ts';
import type { AllowedTenant } from '../../../core/access/tenant.ts';
import type { Schedule as Stored, ScheduleTarget } from '../../../core/schedules/schedule.ts';
import type { Executor } from '../../../db/connection/client.ts';
import { newestRuns } from '../../../db/schedules/schedule-runs.ts';
import { findSchedule, listSchedules } from '../../../db/schedules/schedules.ts';
import { ref } from '../../../schema/build.ts';
import { actorOf } from '../../access/actor.ts';
import { actingUser } from '../../access/reach.ts';
import { cursorOf, id } from '../../request/cursor.ts';
import { scheduledRole } from '../../request/scheduled-worker.ts';
import { audited } from '../../request/audited.ts';
import { answeredBy, write } from '../../request/write.ts';
import { toListing } from '../../response/page.ts';
import { orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { Empty, PageQuery, WriteHeaders } from '../../schemas/common.ts';
import { problems } from '../../schemas/problem.ts';
import { CreateSchedule, PatchSchedule, Schedule, ScheduleList } from '../../schemas/schedules/schedule.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { changedSettings, newSettings, toSchedule } from '../../wire/schedule.ts';
import { IdParams, scheduleId } from '../params.ts';

const tags = ['schedules'];

const PLACE = cursorOf(id<ScheduleId>);

export function scheduleRoutes(app: App, ports: ApiPorts): void {
  listSchedulesRoute(app, ports);
  createScheduleRoute(app, ports);
  getScheduleRoute(app, ports);
  patchScheduleRoute(app, ports);
  deleteScheduleRoute(app, ports);
}

function listSchedulesRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/schedules',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'Schedules, newest first',
        operationId: 'listSchedules',
        tags,
        querystring: PageQuery,
        response: { 200: ref(ScheduleList) },
      },
    },
    async ({ tenantId, query }, reply) => {
      const [after] = PLACE.read(query.cursor) ?? [null];
      const read = readerOf(ports, reply);
      const [page, runs] = await read(async (tx, last) => {
        const found = await listSchedules(tx, tenantId, { after, limit: query.limit + 1 });
        const newest = await newestRuns(
          last,
          tenantId,
          found.items.map((schedule) => schedule.id),
        );
        return [found, newest] as const;
      });
      return toListing(
        page,
        query.limit,
        (schedule) => toSchedule(schedule, runs.get(schedule.id) ?? null),
        (last) => PLACE.write([last.id]),
      );
    },
  );
}

function createScheduleRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/schedules',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Create a schedule, which posts an input at certain times',
        operationId: 'createSchedule',
        tags,
        headers: WriteHeaders,
        body: ref(CreateSchedule),
        response: { 201: ref(Schedule), ...problems(404) },
      },
    },
    async (request, reply) => {
      const { tenantId, body } = request;
      const settings = newSettings(body);
      const actor = actorOf(request, body.user);
      const user = actingUser(request, body.user);
      const refusal = await unknownNames(ports, request, settings.target);
      const create = createSchedule(ports, { ...settings, tenantId, actor, user });
      const recorded = audited(ports, { request, tenantId, user: body.user }, create, ({ id, name }) => [
        { action: 'schedule.created', target: id, detail: { name } },
      ]);
      const command = answeredBy(refusal === null ? recorded : async () => refusal, async (_, made: Stored) =>
        toSchedule(made, null),
      );
      const answer = await write(ports, request, command);
      reply.code(201).header('location', `/api/schedules/${answer.id}`);
      return answer;
    },
  );
}

function getScheduleRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/schedules/:id',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'One schedule',
        operationId: 'getSchedule',
        tags,
        params: IdParams,
        response: { 200: ref(Schedule) },
      },
    },
    async ({ tenantId, params }) => {
      const { db } = ports.database;
      const schedule = scheduleId(params.id);
      const found = orNotFound(await findSchedule(db, tenantId, schedule), noSchedule(schedule).message);
      return withLastRun(db, found);
    },
  );
}

function patchScheduleRoute(app: App, ports: ApiPorts): void {
  app.patch(
    '/api/schedules/:id',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Change, pause or resume a schedule',
        description: 'cron, every_s and at replace each other.',
        operationId: 'patchSchedule',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        body: ref(PatchSchedule),
        response: { 200: ref(Schedule) },
      },
    },
    async (request, _reply) => {
      const { tenantId, body } = request;
      const settings = changedSettings(body);
      const { target } = settings;
      const refusal = target === undefined ? null : await unknownNames(ports, request, target);
      const id = scheduleId(request.params.id);
      const act = { action: 'schedule.changed', target: id, detail: { fields: Object.keys(body) } } as const;
      const change = audited(ports, { request, tenantId }, changeSchedule(tenantId, id, settings), () => [act]);
      const command = refusal === null ? change : async () => refusal;
      return write(ports, request, answeredBy(command, withLastRun));
    },
  );
}

function deleteScheduleRoute(app: App, ports: ApiPorts): void {
  app.delete(
    '/api/schedules/:id',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Delete a schedule and its run log. Jobs that it started go on',
        operationId: 'deleteSchedule',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { tenantId } = request;
      const id = scheduleId(request.params.id);
      const act = { action: 'schedule.deleted', target: id, detail: {} } as const;
      await write(
        ports,
        request,
        audited(ports, { request, tenantId }, removeSchedule(tenantId, id), () => [act]),
      );
      reply.code(204);
      return null;
    },
  );
}

async function unknownNames(ports: ApiPorts, tenant: AllowedTenant, target: ScheduleTarget) {
  if (target.kind === 'context') return null;
  const role = await scheduledRole(ports, tenant, target.worker);
  return role.kind === 'refused' ? role : null;
}

async function withLastRun(executor: Executor, schedule: Stored): Promise<Schedule> {
  const runs = await newestRuns(executor, schedule.tenantId, [schedule.id]);
  return toSchedule(schedule, runs.get(schedule.id) ?? null);
}
