/** Texts of the timeline of a job. Those of its other parts follow. */
import type { CallWait } from 'nightshift/client';

/** Waits, during which the job holds no slot of a worker process, and what the label of a bar says. */
const waits = {
  approval: 'Waiting for approval',
  answer: 'Waiting for an answer',
  client: 'Waiting for the client',
  outcome: 'Waiting for the outcome',
  timer: 'Waiting for a timer',
  workers: 'Waiting for workers',
  retry: 'Waiting to retry',
  throttle: 'Throttled',
} as const satisfies Record<CallWait['for'] | 'retry' | 'throttle', string>;

const stretches = {
  delay: 'Delayed',
  queue: 'Queued',
  first: 'Time to first token',
  model: 'Model output',
  tool: 'Tool execution',
  failed: 'Failed',
  open: 'Not run',
  ...waits,
  compact: 'Compaction',
  child: 'Child worker',
} as const;

/** Why a model is throttled. */
const throttledBy = {
  rate_limited: 'the provider limits the rate of calls',
  overloaded: 'the provider is overloaded',
} as const;

/** The parts of the summary, in the order in which time is given to one of them if several things run at once. */
const spentOn = {
  model: 'Model',
  tools: 'Tools',
  failed: 'Failed calls',
  throttled: 'Throttled',
  retry: 'Waiting to retry',
  people: 'Waiting for people',
  client: 'Waiting for the client',
  workers: 'Waiting for children',
  timer: 'Waiting for a timer',
  queue: 'Queue',
  delay: 'Delayed',
  other: 'Other',
} as const;

export const timelineWords = {
  waits,
  stretches,
  throttledBy,
  spentOn,
  attempts: (count: number) => `${count} attempts`,
  cutOff: 'The process ended during this execution.',
  wait: { retry: 'Wait before retry', throttle: 'Throttled' },
  compaction: (type: string) => `Compaction (${type})`,
  spent: 'Where the time went',
  ofTotal: (percent: number) => (percent < 1 ? '< 1 %' : `${Math.round(percent)} %`),
  critical: 'Critical path',
  criticalAbout: 'The steps that decided when the job ended',
  onCritical: 'On the critical path.',
  showSteps: (name: string) => `Show the steps of ${name}`,
  hideSteps: (name: string) => `Hide the steps of ${name}`,
  loading: (name: string) => `Loading the steps of ${name} …`,
  noSteps: (name: string) => `${name} has no steps yet`,
  notRead: (name: string) => `The steps of ${name} could not be read`,
  tryAgain: 'Try again',
  moreStretches: (count: number) => `${count} more`,
  shown: (from: number, to: number, all: number) => `Rows ${from} to ${to} of ${all}`,
  earlierRows: 'Earlier rows',
  laterRows: 'Later rows',
  cancel: {
    open: 'Cancel job',
    title: (job: string) => `Cancel job ${job}?`,
    about:
      'Its child jobs are cancelled, too, except those of detached workers. Effects of tool calls that have already run stay.',
    keep: 'Keep job',
    submit: 'Cancel job',
  },
  loadingMore: (count: number) => `${count} steps loaded, more are loading …`,
} as const;
