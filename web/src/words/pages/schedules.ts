/** Texts of the page Schedules. */
import type { Schedule, ScheduleRun } from 'nightshift/client';
import { count } from '../count.ts';

const runStatus: Readonly<Record<ScheduleRun['status'], string>> = {
  started: 'Started',
  skipped: 'Skipped',
  failed: 'Failed',
  missed: 'Missed',
};

const overlaps: Readonly<Record<Schedule['overlap'], string>> = {
  queue: 'Post the input',
  skip: 'Do not post',
  interrupt: 'Cancel that job, then post the input',
};

const catchUps: Readonly<Record<Schedule['catch_up'], string>> = {
  none: 'Do not run',
  one: 'One run for all',
  all: 'Run each, at most 100',
};

const units = {
  seconds: { one: 'second', many: 'seconds' },
  minutes: { one: 'minute', many: 'minutes' },
  hours: { one: 'hour', many: 'hours' },
  days: { one: 'day', many: 'days' },
} as const;

export const schedulesWords = {
  about: 'Inputs that are posted at certain times.',
  new: 'New schedule',
  empty: 'No schedules yet',
  emptyAbout:
    'A schedule posts an input to a context, or to a new worker, by a cron expression, at an interval, or once.',

  item: {
    paused: 'Paused',
    over: 'No next run',
    next: 'next {when}',
    runNow: 'Run now',
    runNowOf: (name: string) => `Run now: ${name}`,
    runs: 'Runs',
    runsOf: (name: string) => `Runs of ${name}`,
    running: (name: string) => `${name} runs now`,
    runFailed: (name: string) => `Could not run ${name}`,
    resumeFailed: (name: string) => `Could not resume ${name}`,
    pauseFailed: (name: string) => `Could not pause ${name}`,
    job: (id: string) => `Job ${id}`,
    cron: (expression: string, timezone: string) => `${expression} (${timezone})`,
    every: (amount: number, unit: keyof typeof units) => {
      const { one, many } = units[unit];
      return amount === 1 ? `every ${one}` : `every ${count(amount, one, many)}`;
    },
    once: 'once, {when}',
    context: 'context {name}',
    newWorker: (worker: string) => `each run creates a worker ${worker}`,
  },

  runs: {
    label: 'Runs',
    none: 'It has not run yet.',
    columns: { status: 'Status', at: 'Time', job: 'Job', details: 'Details' },
    status: runStatus,
    missed: 'Nothing ran for these times.',
    skipped: 'The job of the last run was unfinished.',
    manual: 'Run by hand',
  },

  form: {
    edit: (name: string) => `Edit schedule ${name}`,
    create: 'Create schedule',
    saved: (name: string) => `Schedule ${name} saved`,
    input: 'Input',
    inputHint: 'What each run posts to the worker.',
    blocksHint: 'The stored content has blocks that this form cannot show. A text replaces them.',
  },
  timing: {
    label: 'When it runs',
    kinds: { cron: 'Cron expression', every: 'Interval', at: 'Once' },
    cron: 'Cron expression',
    cronHint: 'Minute, hour, day of month, month, day of week.',
    cronExample: '0 9 * * MON-FRI',
    timezone: 'Time zone',
    timezoneHint: 'Such as Europe/Berlin, or UTC.',
    every: 'Every',
    everyHint: 'The first run is one interval after you set it.',
    everyFault: 'Enter a whole number above 0.',
    unit: 'Unit of the interval',
    units,
    at: 'At',
    atHint: (timezone: string) => `In the time zone of this browser, ${timezone}.`,
    atFault: 'Enter a day and a time.',
  },
  target: {
    label: 'Where it posts',
    kinds: { worker: 'New worker for each run', context: 'One context' },
    worker: 'Name of the worker',
    role: 'Role',
    noRole: 'No role',
    context: 'Context',
    contextHint: 'Its id. The newest contexts are suggested.',
    user: 'User',
    userHint: 'Optional: the end user on whose behalf the jobs run. It cannot be changed later.',
    userFixed: 'The user of a schedule cannot be changed.',
  },
  policy: {
    overlap: 'If the last job is unfinished',
    overlaps,
    catchUp: 'Missed runs',
    catchUps,
    jitter: 'Random delay in seconds',
    jitterHint: 'Each run starts late by a random time, at most this long.',
    jitterFault: 'Enter a whole number of seconds.',
  },

  delete: {
    title: (name: string) => `Delete schedule ${name}?`,
    about: 'Its run log is deleted too. Jobs that it started go on.',
    done: (name: string) => `Schedule ${name} deleted`,
  },
} as const;
