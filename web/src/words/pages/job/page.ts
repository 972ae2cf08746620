/** Texts of the page of a job: its head, its actions, and all tabs but the timeline. */
import type { JobStep } from 'nightshift/client';

const decisions: Readonly<Record<NonNullable<JobStep['approval']>['decision'], string>> = {
  approve: 'Approved',
  deny: 'Denied',
};

export const jobWords = {
  views: 'Views of the job',
  tabs: {
    overview: 'Overview',
    timeline: 'Timeline',
    exchange: 'Input and output',
    prompt: 'Prompt',
    steps: 'Steps',
    logs: 'Logs',
    json: 'JSON',
  },

  actions: {
    chat: 'Open context',
    tree: 'Worker tree',
    parentJob: 'Parent job',
    retry: 'Retry',
    retryFailed: 'Could not retry',
    copyLink: 'Copy link',
  },

  facts: {
    status: 'Status',
    created: 'Created',
    duration: 'Duration',
    modelCalls: 'Model calls',
    tokens: 'Tokens',
    /** When a delayed job joins the queue, and when one that was delayed was to join it. */
    starts: 'Starts',
    due: 'Due',
    started: 'Started',
    ended: 'Ended',
    notYet: 'not yet',
    none: 'none',
  },

  overview: {
    status: 'Status',
    why: 'Reason',
    childJobs: 'Child jobs',
    listChildJobs: 'List of child jobs',
    attempt: 'Attempt',
    nextAttempt: 'Next attempt',

    request: 'Request',
    kind: 'Kind',
    user: 'User',
    worker: 'Worker',
    role: 'Role',
    model: 'Model',
    context: 'Context',
    branch: 'Branch',
    id: 'Job id',
    copyId: 'Copy the job id',
    metadata: 'Metadata',

    times: 'Times',
    queued: 'Queued',
    firstToken: 'First token',
    afterStart: (duration: string) => `${duration} after the start`,
    running: 'Running',
    waiting: 'Waiting',

    usage: 'Usage',
    cost: 'Cost',
    noPrice: 'unknown: the model has no price',
    input: 'Input tokens',
    cacheRead: 'Read from the cache',
    cacheWrite: 'Written to the cache',
    cacheHits: 'Cache hit ratio',
    output: 'Output tokens',

    failures: 'Attempts and failures',
    noFailures: 'No call failed.',
    when: 'When',
    call: 'Call',
    callAttempt: 'Attempt',
    error: 'Error',
    noError: 'No error was stored.',
    allFailures: (shown: number, all: number) => `The newest ${shown} of ${all}.`,
  },

  exchange: {
    input: 'Input',
    output: 'Output',
    noInput: 'This job answers no input of its own. It runs on the history of its context.',
    noOutput: 'There is no output.',
    noOutputYet: 'There is no output yet.',
    data: 'Structured output',
    rendered: 'Rendered',
    raw: 'Raw',
    showAs: (what: string) => `Show ${what} as`,
  },

  steps: {
    empty: 'No steps yet',
    list: 'Steps',
    arguments: 'Arguments',
    edited: 'Edited arguments',
    result: 'Result',
    error: 'Error',
    /** In a text, for an image of the result. */
    image: '[image]',
    decisions,
    decidedBy: '{decision} by {actor}, {when}',
    decided: '{decision}, {when}',
    executions: (count: number) => `Executed ${count} times`,
    attempt: (attempt: number) => `attempt ${attempt}`,
    call: (n: number) => `call ${n}`,
    compacted: (before: string, after: string) => `${before} → ${after} tokens`,
    notStored: 'The answer with this call is not stored yet.',
    noResult: 'No result yet.',
    showPrompt: 'Show prompt',
    openAnswer: 'Open the answer in the chat',
    childJob: (worker: string) => `Job of ${worker}`,
    more: (left: number) => `Show more (${left} left)`,
  },

  logs: {
    title: 'Log of the tools',
    level: 'Level',
    levels: { debug: 'All entries', info: 'Info and above', warn: 'Warnings and errors', error: 'Errors' },
    empty: 'No entries',
    emptyAbout: 'The tools of this job wrote nothing to their logs at this level.',
    live: 'Updated while the job runs.',
  },

  json: {
    job: 'Job',
    steps: 'Steps',
    shown: (shown: number, all: number) => `The first ${shown} of ${all} steps.`,
    open: 'Open in the API',
  },
} as const;
