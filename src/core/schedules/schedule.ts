/** Schedules: inputs that are posted at certain times. */
import type { Actor } from '../access/actor.ts';
import type { InputBlock } from '../conversation/blocks.ts';
import type { Code } from '../errors.ts';
import type { ContextId, JobId, MessageId, ScheduleId, ScheduleRunId, TenantId } from '../ids.ts';
import type { Millis } from '../time.ts';
import type { User } from '../access/user.ts';
import type { WorkerConfig } from '../workers/settings.ts';

/** When it runs. `anchor`: the first occurrence is one interval later, and none drifts. */
export type Timing =
  | { kind: 'cron'; cron: string }
  | { kind: 'every'; everyS: number; anchor: Millis }
  | { kind: 'at'; at: Millis };

/** To which context it posts. `worker`: each run creates a worker, with a new context. */
export type ScheduleTarget = { kind: 'context'; contextId: ContextId } | { kind: 'worker'; worker: ScheduledWorker };

export type ScheduledWorker = { name: string; role: string | null; config: WorkerConfig };

/** What happens if the job of its last run is unfinished: the input is posted, skipped, or posted in place of the job. */
export const OVERLAPS = ['queue', 'skip', 'interrupt'] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** Which of the occurrences that were missed run late. */
export const CATCH_UPS = ['none', 'one', 'all'] as const;
export type CatchUp = (typeof CATCH_UPS)[number];

export const RUN_STATUSES = ['started', 'skipped', 'failed', 'missed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export type ScheduleSettings = {
  name: string;
  timing: Timing;
  /** An IANA time zone. */
  timezone: string;
  target: ScheduleTarget;
  content: string | InputBlock[];
  overlap: Overlap;
  catchUp: CatchUp;
  jitterS: number;
  paused: boolean;
};

export type Schedule = ScheduleSettings & {
  id: ScheduleId;
  tenantId: TenantId;
  /** On whose behalf its jobs run; null: that of the context. */
  user: User | null;
  actor: Actor;
  /** Counts the changes. */
  version: number;
  /** Why it paused itself; null: a client paused it, or it is not paused. */
  pausedReason: string | null;
  /** The next occurrence, without its delay; kept while it is paused. Null: there is none. */
  nextOccurrence: Millis | null;
  /** When that starts. Null: never, or it is paused. */
  nextRunAt: Millis | null;
  lastRunAt: Millis | null;
  /** The job of the last run that started one. */
  lastJobId: JobId | null;
  createdAt: Millis;
  updatedAt: Millis;
};

export type RunError = { code: Code; message: string };

/** An entry of the run log. `occurrence`: null for a manual run. Of `missed`: the first that was missed. */
export type ScheduleRun = {
  id: ScheduleRunId;
  occurrence: Millis | null;
  /** Of `missed`: the last that was missed. */
  missedUntil: Millis | null;
  at: Millis;
  status: RunStatus;
  jobId: JobId | null;
  contextId: ContextId | null;
  messageId: MessageId | null;
  error: RunError | null;
  manual: boolean;
};

export const SCHEDULE_LIMITS = {
  /** Schedules of one tenant. */
  schedules: 1_000,
  /** Entries of the run log of one schedule: the newest. */
  runs: 500,
  /** Shortest interval in seconds; the longest is ten years. */
  shortestS: 10,
  longestS: 10 * 365 * 86_400,
  /** The longest delay in seconds. */
  jitterS: 86_400,
  /** Occurrences that `catch_up: all` runs late: the newest. */
  catchUp: 100,
} as const;
