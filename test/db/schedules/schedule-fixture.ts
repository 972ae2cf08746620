// Schedules of a test, and what became of them.
import { expect } from 'vitest';
import { createSchedule, type GivenSettings } from '../../../src/commands/schedules/create-schedule.ts';
import { runDue, type DueRun } from '../../../src/commands/schedules/run-due.ts';
import type { SchedulePorts } from '../../../src/commands/schedules/post-run.ts';
import { perform } from '../../../src/commands/perform.ts';
import { DEFAULT_TENANT, type ContextId, type TenantId } from '../../../src/core/ids.ts';
import type { Schedule, ScheduleRun } from '../../../src/core/schedules/schedule.ts';
import type { Millis } from '../../../src/core/time.ts';
import type { Database } from '../../../src/db/connection/client.ts';
import { dueSchedules, type DueSchedule } from '../../../src/db/schedules/due-schedules.ts';
import { listRuns } from '../../../src/db/schedules/schedule-runs.ts';
import { findSchedule } from '../../../src/db/schedules/schedules.ts';
import type { Given } from '../database-fixture.ts';

export const MINUTE = 60_000;

export function portsOf(the: Given, over: Partial<SchedulePorts> = {}, database?: Database): SchedulePorts {
  return {
    ...the.ports(database),
    queueLimit: 1_000_000,
    tenantLimits: {},
    roleOf: async () => ({ kind: 'role', role: null }),
    ...over,
  };
}

export async function schedule(
  the: Given,
  contextId: ContextId,
  over: Partial<GivenSettings> & { tenantId?: TenantId } = {},
): Promise<Schedule> {
  const settings: GivenSettings = {
    name: 's',
    timing: { kind: 'every', everyS: 60 },
    timezone: 'UTC',
    target: { kind: 'context', contextId },
    content: 'go',
    overlap: 'queue',
    catchUp: 'one',
    jitterS: 0,
    paused: false,
  };
  const actor = { kind: 'operator', id: null, user: null, onBehalfOf: null } as const;
  const given = { ...settings, tenantId: DEFAULT_TENANT, user: null, actor, ...over };
  const made = await perform(the.ports(), createSchedule(the.ports(), given));
  if (made.kind === 'refused') throw new Error(made.message);
  return made.value;
}

export function dueOf({ id, tenantId, version, target }: Schedule): DueSchedule {
  return {
    id,
    tenantId,
    allow: {},
    limits: {},
    version,
    worker: target.kind === 'worker' ? target.worker : null,
  };
}

/** The time of its first occurrence. */
export function firstOf({ nextOccurrence }: Schedule): Millis {
  if (nextOccurrence === null) throw new Error('it never runs');
  return nextOccurrence;
}

/** Runs it until it is not due any more. */
export async function runAll(ports: SchedulePorts, made: Schedule, at: Millis): Promise<DueRun[]> {
  const ran: DueRun[] = [];
  for (;;) {
    const one = await runDue(ports, dueOf(made), at);
    if (one === 'not_taken') return ran;
    ran.push(one);
  }
}

export async function current(the: Given, { tenantId, id }: Schedule): Promise<Schedule> {
  const found = await findSchedule(the.database.db, tenantId, id);
  if (found === null) throw new Error('no such schedule');
  return found;
}

/** Oldest first. */
export async function runsOf(the: Given, { tenantId, id }: Schedule): Promise<ScheduleRun[]> {
  const runs = await listRuns(the.database.db, tenantId, id, { after: null, limit: 1_000 });
  return (runs ?? []).reverse();
}

export async function statuses(the: Given, made: Schedule): Promise<string[]> {
  return (await runsOf(the, made)).map(({ status }) => status);
}

export async function jobsIn(the: Given, contextId: ContextId): Promise<number> {
  const [row] = await the.rows(`select count(*)::int as n from jobs where context_id = '${contextId}'`);
  return Number(row?.['n']);
}

export async function expectDue(the: Given, at: Millis, most = 1_000): Promise<DueSchedule[]> {
  const { due } = await dueSchedules(the.database.db, most, at);
  expect(new Set(due.map(({ id }) => id)).size).toBe(due.length);
  return due;
}
