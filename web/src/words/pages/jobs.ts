/** Texts of the page Jobs. */
import type { Job, RetriedJob } from 'nightshift/client';
import { count, exact } from '../count.ts';

/** As option of a filter. */
const kinds: Readonly<Record<Job['kind'], string>> = { input: 'Input', retry: 'Retry', compact: 'Compaction' };

const names: Readonly<Record<Job['kind'], string>> = { input: 'Job', retry: 'Retry', compact: 'Compaction' };

const countJobs = (jobs: number): string => count(jobs, 'job', 'jobs');

const orCall = (call: string | undefined): string => call ?? 'a call';

type RetryCode = NonNullable<RetriedJob['error']>['code'];

/** Why jobs are not retried. */
const reasons: Readonly<Record<RetryCode, string>> = {
  not_found: 'deleted, or not visible to you',
  not_ended: 'not ended yet',
  completed: 'completed',
  compaction: 'a compaction',
  input_missing: 'the input is no longer in the history',
  context_busy: 'another job of the branch is unfinished',
  superseded: 'a later job ran on the branch',
  worker_stopped: 'the worker is stopped',
  queue_full: 'the queue of the context is full',
  quota_exceeded: 'the limits of the tenant allow no more',
};

const moreThan = (hasMore: boolean, jobs: number): string => `${hasMore ? 'more than ' : ''}${countJobs(jobs)}`;

export const jobsWords = {
  about: 'Each input to a worker creates a job.',
  retryFailed: 'Retry failed and incomplete',
  retryMatching: 'Retry all matching',
  cancelAll: 'Cancel all',
  cancelMatching: 'Cancel all matching',
  none: 'No jobs yet',
  noneAbout: 'Send a message to a worker: each input creates a job.',
  noMatch: 'No matching jobs',
  noMatchAbout: 'Remove some filters.',
  noMatchYet: 'No match so far',
  noMatchYetAbout: 'Show more to search more jobs.',
  left: 'The jobs shown before no longer match',
  leftAbout: 'Newer ones do. Show them with the button above.',
  showAll: 'Show all jobs',
  live: 'Show new jobs as they come',
  newer: (jobs: number) => count(jobs, 'new job', 'new jobs'),
  newestOnly: 'By tokens, cost or duration, the list has the newest 2,000 jobs that match.',

  filters: {
    label: 'Filter jobs',
    status: 'Status',
    anyStatus: 'Any status',
    /** Each stands for several statuses. */
    unfinished: 'Unfinished',
    ended: 'Ended',
    role: 'Role',
    anyRole: 'Any role',
    kind: 'Kind',
    anyKind: 'Any kind',
    kinds,
    user: 'User',
    metadata: 'Metadata',
    metadataExample: 'name=value',
    metadataFault: 'Use the form name=value.',
    search: 'Find',
    searchExample: 'input, worker, user, id',
    range: 'Created',
    anyTime: 'Any time',
    ranges: {
      hour: 'Last hour',
      today: 'Today',
      yesterday: 'Yesterday',
      week: 'Last 7 days',
      custom: 'From … until …',
    },
    order: 'Order',
    orders: {
      created: 'Newest first',
      '-created': 'Oldest first',
      cost: 'Highest cost first',
      '-cost': 'Lowest cost first',
      duration: 'Longest first',
      '-duration': 'Shortest first',
      tokens: 'Most tokens first',
      '-tokens': 'Fewest tokens first',
    },
    from: 'Created from',
    until: 'Created until',
    /** Set by links. */
    context: (name: string) => `Context ${name}`,
    worker: (name: string) => `Worker ${name}`,
    parentJob: (id: string) => `Parent job ${id}`,
  },
  views: {
    menu: 'Views',
    named: { all: 'All jobs', failedToday: 'Failed today', waiting: 'Waiting', running: 'Running' },
    saved: 'Saved views',
    shown: 'Shown now',
    save: 'Save this view…',
    saveTitle: 'Save this view',
    saveAbout: 'Filters, order and columns are kept in this browser. To share a view, copy the address of the page.',
    replaces: 'Replaces the view of this name.',
    noRoom: (views: number) =>
      `${count(views, 'view is', 'views are')} saved, the most there can be. Delete one first.`,
    manage: 'Manage views…',
    manageTitle: 'Saved views',
    manageAbout: 'They are kept in this browser.',
    nameOf: (name: string) => `Name of ${name}`,
    nameTaken: 'Another view has this name.',
    none: 'No saved views.',
  },
  columnsMenu: 'Columns',
  columns: {
    job: 'Job',
    context: 'Context',
    worker: 'Worker',
    role: 'Role',
    model: 'Model',
    user: 'User',
    status: 'Status',
    tokens: 'Tokens',
    cost: 'Cost',
    duration: 'Duration',
    created: 'Created',
  },

  job: {
    name: (kind: Job['kind'], id: string) => `${names[kind]} ${id}`,
    select: (id: string) => `Select job ${id}`,
    starts: 'starts {when}',
    queued: 'queued for {time}',
    retries: 'waits to retry',
    waits: {
      approval: (call: string | undefined) => `waits for approval of ${orCall(call)}`,
      answer: 'waits for an answer',
      result: (call: string | undefined) => `waits for the result of ${orCall(call)}`,
      worker: 'waits for another worker',
      timer: 'waits for a timer',
    },
  },
  selection: {
    all: 'Select all jobs shown',
    region: 'Selected jobs',
    selected: (jobs: number) => `${jobs} selected`,
    cancel: 'Cancel selected',
    retry: 'Retry selected',
    clear: 'Clear',
  },

  cancel: {
    matching: 'Cancel all matching jobs?',
    selected: 'Cancel the selected jobs?',
    one: (id: string) => `Cancel job ${id}?`,
    about: 'Effects of tool calls that have already run stay.',
    none: 'No unfinished jobs match',
    noneAbout: 'There is nothing to cancel.',
    /** `hasMore`: not all were counted. */
    goes: (jobs: number, hasMore: boolean) => `${hasMore ? 'more than ' : ''}${countJobs(jobs)} will be cancelled`,
    ended: (jobs: number) => `${countJobs(jobs)} ${jobs === 1 ? 'has' : 'have'} ended already`,
    keep: 'Keep jobs',
    /** Null: not counted yet. */
    submit: (jobs: number | null, hasMore: boolean) =>
      jobs === null ? 'Cancel jobs' : `Cancel ${hasMore ? 'more than ' : ''}${countJobs(jobs)}`,
    done: (jobs: number) => `Cancellation of ${countJobs(jobs)} requested`,
  },

  retry: {
    /** Without a status. */
    matching: 'Retry matching failed and incomplete jobs?',
    matchingEnded: 'Retry all matching jobs?',
    selected: 'Retry the selected jobs?',
    one: (id: string) => `Retry job ${id}?`,
    about:
      'Each retry is a new job with the same options. It goes on from the history that the job left. Limits of queues and of the tenant are checked when each job is retried.',
    none: 'No jobs can be retried',
    noneAbout: 'Only jobs that failed, are incomplete, or were stopped can be retried.',
    /** `hasMore`: not all were looked at. */
    goes: (jobs: number, hasMore: boolean) => `${moreThan(hasMore, jobs)} will be retried.`,
    refused: (jobs: number, hasMore: boolean) => `${moreThan(hasMore, jobs)} cannot be retried:`,
    reason: (reason: string, jobs: number) => `${countJobs(jobs)}: ${reason}`,
    reasons,
    noneYet: 'No job has been found yet.',
    lookOn: 'Check older jobs',
    soFar: (jobs: number, all: number, hasMore: boolean) =>
      `Retried ${exact(jobs)} of ${hasMore ? 'more than ' : ''}${exact(all)}`,
    /** After an error. */
    stopped: (retried: number, jobs: number) => `Stopped after ${countJobs(jobs)}: ${exact(retried)} retried.`,
    goOn: 'Retry the rest',
    /** Null: not counted yet. */
    submit: (jobs: number | null, hasMore: boolean) =>
      jobs === null ? 'Retry jobs' : `Retry ${moreThan(hasMore, jobs)}`,
    done: (jobs: number) => `${countJobs(jobs)} retried`,
    notRetried: (jobs: number) => `${countJobs(jobs)} could not be retried:`,
    results: 'Jobs that were not retried',
    job: (id: string) => `Job ${id}`,
    others: (jobs: number) => `And ${countJobs(jobs)} more.`,
  },
} as const;
