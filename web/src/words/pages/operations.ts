/** Texts of the page Operations. */
import type { Stats, WorkerProcess } from 'nightshift/client';
import { count } from '../count.ts';
import { placeWords } from '../places.ts';

type Reason = Stats['waits'][number]['reason'];

const reasons: Readonly<Record<Reason, { name: string; about: string }>> = {
  slot: {
    name: 'A slot',
    about: 'They run once a worker process has a free slot for their tenant. Open one to see what is missing.',
  },
  approval: { name: 'An approval', about: 'A person decides in the inbox.' },
  answer: { name: 'An answer', about: 'A person answers a question, or a client posts the result of a tool.' },
  workers: { name: 'Other workers', about: 'Workers that the context spawned have not finished.' },
  throttle: {
    name: 'A throttled provider',
    about: 'The provider refused calls. Settings, Providers shows until when.',
  },
  retry: { name: 'The next attempt', about: 'A model call failed and is repeated later.' },
  timer: { name: 'A timer', about: 'A tool waits until a time that it named.' },
  unsupported: {
    name: 'Another worker process',
    about: 'None of those that tried it has its model, tools or role. Open one to see what is missing.',
  },
  recovery: { name: 'Recovery', about: 'The worker process could not continue. It is checked again soon.' },
};

const statuses: Readonly<Record<WorkerProcess['status'], string>> = {
  running: 'Running',
  paused: 'Paused',
  draining: 'Draining',
  stopped: 'Stopped',
  lost: 'Lost',
};

export const operationsWords = {
  title: placeWords.operations,
  tabs: { queue: 'Queue', processes: 'Worker processes' },

  queue: {
    lastHour: 'Last hour',
    finished: 'Finished jobs',
    finishedAbout: (perMinute: string) => `${perMinute} a minute`,
    finishedRarely: 'less than one a minute',
    queueTime: 'Queue time',
    queueTimeAbout: 'longest median of a minute, of the last five with jobs',
    oldest: 'Oldest in the queue',
    oldestAbout: 'the longest wait for a slot now',
    none: '–',
    waits: 'What contexts wait for',
    nothing: 'Nothing waits',
    nothingAbout: 'No context has work that does not run now.',
    reason: 'Waits for',
    contexts: 'Contexts',
    since: 'Oldest since',
    reasons,
    about: 'What it means',
  },

  processes: {
    live: 'Live',
    ended: 'Ended in the last 7 days',
    none: 'No worker process is running',
    noneAbout: 'Jobs stay queued until you start one: {command}.',
    noneEnded: 'None',
    host: 'Host',
    hostOf: (host: string, pid: number) => `${host}, pid ${pid}`,
    status: 'Status',
    statuses,
    /** It was asked for something that it does not do yet. */
    soon: (status: string) => `will be ${status.toLowerCase()}`,
    contexts: 'Active contexts',
    contextsOf: (running: number, concurrency: number | null) => `${running} of ${concurrency ?? '–'}`,
    serves: 'Serves',
    version: 'Version',
    started: 'Started',
    heartbeat: 'Last heartbeat',
    end: 'Ended',
    ran: 'Ran for',
    actions: 'Actions',
    drain: 'Drain',
  },
  turnFailed: {
    pause: (name: string) => `Could not pause ${name}`,
    resume: (name: string) => `Could not resume ${name}`,
  },
  pause: {
    done: (name: string) => `${name} begins no run until it is resumed`,
    doneLast: (name: string) => `${name} is paused. No other worker process begins runs: jobs stay queued`,
  },
  resume: {
    done: (name: string) => `${name} begins runs again`,
  },
  drain: {
    title: (name: string) => `Drain ${name}?`,
    about:
      'Its runs release their contexts at the next step, other worker processes continue them, and the process ends.',
    running: (running: number) =>
      running === 0 ? 'It runs nothing now.' : `It runs ${count(running, 'context', 'contexts')} now.`,
    /** It is the only one that begins runs. */
    last: 'No other worker process begins runs: jobs stay queued until another one is started.',
    supervisor: 'If a supervisor such as Kubernetes restarts it, a new process starts in its place.',
    done: (name: string) => `${name} drains`,
  },
} as const;
