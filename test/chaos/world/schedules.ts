// What clients did with schedules, and what is stored of them. Times are of the wall clock, which PostgreSQL has too, in
// milliseconds.
import type { Script } from '../clients/inputs.ts';
import { all, withDatabase } from './database.ts';

/** From the answer to the pause until the resumption was requested. */
export type Pause = { from: number; to: number };

export type MadeSchedule = {
  id: string;
  tenant: 'default' | 'paused';
  catchUp: 'none' | 'one' | 'all';
  overlap: 'queue' | 'skip' | 'interrupt';
  /** Of one that runs once, in the default tenant; null: it recurs. */
  input: { tag: string; script: Script } | null;
  pauses: Pause[];
  /** The jobs of the manual runs that were accepted. */
  manual: string[];
};

export type StoredSchedule = {
  id: string;
  /** Null: it runs once. */
  every_s: number | null;
  anchor_at: number | null;
  once_at: number | null;
  jitter_s: number;
  next_occurrence: number | null;
};

export type StoredRun = {
  schedule_id: string;
  occurrence: number | null;
  missed_until: number | null;
  at: number;
  status: 'started' | 'skipped' | 'failed' | 'missed';
  job_id: string | null;
  code: string | null;
};

/** The job of a run. */
export type RunJob = { id: string; status: string; created_at: number };

export type Schedules = {
  made: MadeSchedule[];
  /** None was due at this time; null: some were when the time was up. */
  quietAt: number | null;
  stored: StoredSchedule[];
  runs: StoredRun[];
  jobs: RunJob[];
};

const ms = (column: string, as: string): string => `(extract(epoch from ${column}) * 1000)::float8 as ${as}`;

/** Before their tenants are deleted. */
export async function readSchedules(databaseUrl: string): Promise<Pick<Schedules, 'stored' | 'runs' | 'jobs'>> {
  return withDatabase(databaseUrl, async (db) => ({
    stored: await all<StoredSchedule>(
      db,
      `select id, every_s, ${ms('anchor_at', 'anchor_at')}, ${ms('once_at', 'once_at')}, jitter_s,
        ${ms('next_occurrence', 'next_occurrence')} from schedules`,
    ),
    runs: await all<StoredRun>(
      db,
      `select schedule_id, ${ms('occurrence', 'occurrence')}, ${ms('missed_until', 'missed_until')}, ${ms('at', 'at')},
        status, job_id, error->>'code' as code from schedule_runs`,
    ),
    jobs: await all<RunJob>(
      db,
      `select j.id, j.status, ${ms('j.created_at', 'created_at')} from jobs j
        where exists (select 1 from schedule_runs r where r.job_id = j.id)`,
    ),
  }));
}
