/** Texts of the timeline of a job. */
import type { CallWait, Job, JobStep, PrefixPart, SentPrompt } from 'nightshift/client';
import { count } from '../../count.ts';

/** Waits, during which the job holds no slot of a worker process, and what the label of a bar says. */
export const waitWords = {
  approval: 'Waiting for approval',
  answer: 'Waiting for an answer',
  client: 'Waiting for the client',
  outcome: 'Waiting for the outcome',
  timer: 'Waiting for a timer',
  workers: 'Waiting for workers',
  retry: 'Waiting to retry',
  throttle: 'Throttled',
} as const satisfies Record<CallWait['for'] | 'retry' | 'throttle', string>;

/** In the order of the legend. */
export const stretchWords = {
  delay: 'Delayed',
  queue: 'Queued',
  first: 'Time to first token',
  model: 'Model output',
  tool: 'Tool execution',
  failed: 'Failed',
  open: 'Not run',
  ...waitWords,
  compact: 'Compaction',
  child: 'Child worker',
} as const;

export type StretchKind = keyof typeof stretchWords;

/** The parts of the summary, in the order in which time is given to one of them if several things run at once. */
export const spentWords = {
  model: 'Model',
  tools: 'Tools',
  failed: 'Failed calls',
  throttled: 'Throttled',
  retry: 'Waiting to retry',
  people: 'Waiting for people',
  client: 'Waiting for the client',
  workers: 'Waiting for workers',
  timer: 'Waiting for a timer',
  queue: 'Queued',
  delay: 'Delayed',
  other: 'Other',
} as const;

export type SpentOn = keyof typeof spentWords;

const jobKinds: Readonly<Record<Job['kind'], string>> = {
  input: 'Answers an input',
  retry: 'Retries on the current history',
  compact: 'Compacts the context',
};

const rowKinds: Readonly<Record<JobStep['kind'] | 'child' | 'queue', string>> = {
  model: 'Model',
  tool: 'Tool',
  wait: 'Wait',
  compact: 'Compaction',
  child: 'Child worker',
  queue: 'Queue',
};

const throttledBy: Readonly<Record<NonNullable<JobStep['reason']>, string>> = {
  rate_limited: 'the provider limits the rate of calls',
  overloaded: 'the provider is overloaded',
};

/** Also for the steps of a job. */
export const decisionWords: Readonly<Record<NonNullable<JobStep['approval']>['decision'], string>> = {
  approve: 'Approved',
  deny: 'Denied',
};

/** Where the prompt differs from the prompt of the call before, which ends the provider's cached prefix. */
const lostAt: Readonly<Record<PrefixPart, string>> = {
  model: 'at the model: the previous call used another model',
  tools: 'at the tools: the list of tools changed',
  system: 'at the system prompt or the pinned texts',
  messages: 'in the messages: earlier messages were changed or removed',
};

const promptParts: Readonly<Record<SentPrompt['differs'][number], string>> = {
  tools: 'tools',
  system: 'system prompt and pinned texts',
  messages: 'messages',
  parameters: 'parameters',
};

export const timelineWords = {
  title: (id: string) => `Job ${id}`,
  jobKinds,
  childJobs: 'List of child jobs',
  cancel: {
    open: 'Cancel job',
    title: (job: string) => `Cancel job ${job}?`,
    about:
      'Its child jobs are cancelled, too, except those of detached workers. Effects of tool calls that have already run stay.',
    keep: 'Keep job',
    submit: 'Cancel job',
  },
  loadingMore: (steps: number) => `${count(steps, 'step', 'steps')} loaded, more are loading …`,

  /** Names of facts, which are also columns of the table. */
  facts: {
    status: 'Status',
    started: 'Started',
    ended: 'Ended',
    notEnded: 'not yet',
    duration: 'Duration',
    tokens: 'Tokens',
    attempt: 'Attempt',
    attemptOf: (attempt: number) => `Attempt ${attempt}`,
    prompt: 'Prompt',
    compacted: (before: string, after: string) => `${before} → ${after} tokens`,
    executions: 'Executions',
    decision: 'Decision',
    promptCache: 'Prompt cache',
    error: 'Error',
    callId: 'Tool call id',
    copyCallId: 'Copy the tool call id',
    messageId: 'Message id',
    copyMessageId: 'Copy the message id',
  },
  summary: {
    title: 'Where the time went',
    share: (percent: number) => (percent < 1 ? '< 1 %' : `${Math.round(percent)} %`),
  },

  views: { label: 'View', chart: 'Chart', table: 'Table' },
  steps: 'Steps',
  chart: {
    controls: 'Chart controls',
    legend: 'Legend',
    criticalPath: 'Critical path',
    criticalPathAbout: 'The steps that decided when the job ended',
    earlier: 'Earlier',
    later: 'Later',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    showAll: 'Show all',
    /** The axis: time since the start, in the units of the International System. */
    days: (d: number) => `${d} d`,
    hours: (h: number) => `${h} h`,
    minutes: (min: number) => `${min} min`,
  },
  table: {
    kind: 'Kind',
    kinds: rowKinds,
    startOffset: 'Start offset',
    breakdown: 'Breakdown',
    earlierRows: 'Earlier rows',
    laterRows: 'Later rows',
    shown: (from: number, to: number, all: number) => `Rows ${from} to ${to} of ${all}`,
  },

  row: {
    queue: 'Queue',
    delay: 'Delay',
    compaction: (type: string) => `Compaction (${type})`,
    attempts: (attempts: number) => `${attempts} attempts`,
    moreStretches: (stretches: number) => `${stretches} more`,
    onCriticalPath: 'On the critical path.',
    throttledBy,
    cutOff: 'The worker process ended during this execution.',
    timelineOf: (worker: string) => `Timeline of ${worker}`,
    showSteps: (worker: string) => `Show the steps of ${worker}`,
    hideSteps: (worker: string) => `Hide the steps of ${worker}`,
    /** In place of the steps of a child worker. */
    notes: {
      loading: (worker: string) => `Loading the steps of ${worker} …`,
      empty: (worker: string) => `${worker} has no steps`,
      failed: (worker: string) => `Could not load the steps of ${worker}`,
    },
  },
  details: {
    expires: (at: string) => `expires ${at}`,
    decisions: decisionWords,
    cacheLost: (at: PrefixPart) => `Lost ${lostAt[at]}`,
    log: 'Log of the tool',
    zoom: 'Zoom to row',
    showPrompt: 'Show prompt',
    showPromptOf: (attempt: number) => `Show prompt of attempt ${attempt}`,
    childTimeline: 'Timeline of the child job',
    childChat: 'Chat of the child worker',
  },
  prompt: {
    changed: (parts: SentPrompt['differs']) =>
      `Changed since the call: ${parts.map((part) => promptParts[part]).join(', ')}. ` +
      'The current values are shown instead of those sent.',
    cacheLost: (at: PrefixPart) => `The provider’s prompt cache was lost ${lostAt[at]}.`,
    /** `index`: of the first message that differs. */
    firstDifferent: (index: number) => `The first different message has the index ${index}.`,
  },
} as const;
