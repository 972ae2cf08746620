/** Texts of the page of a worker tree. */
import { count } from '../count.ts';

export const treeWords = {
  title: 'Worker tree',
  titleOf: (worker: string) => `Worker tree of ${worker}`,
  parent: 'Parent worker',
  /** `isCut`: the tree was not read as a whole. */
  workers: (workers: number, isCut: boolean) =>
    isCut ? `${workers} or more workers` : count(workers, 'worker', 'workers'),
  active: (workers: number) => `${workers} active`,
  tokens: (tokens: string) => `${tokens} tokens`,
  tree: 'Workers',
  detached: 'detached',
  detachedAbout: 'Detached: continues after its parent ends',

  panel: {
    role: 'Role',
    noRole: 'none',
    created: 'Created',
    id: 'Id',
    copyId: 'Copy the worker id',
    lastFailure: 'Last failure',
    openChat: 'Open chat',
    timeline: 'Timeline',
    jobs: 'Jobs',
    start: 'Start subtree',
    stop: 'Stop subtree',
    startFailed: (worker: string) => `Could not start ${worker}`,
    stopFailed: (worker: string) => `Could not stop ${worker}`,
  },
  cancel: {
    open: 'Cancel jobs of subtree',
    title: (worker: string) => `Cancel the jobs of ${worker} and all workers below?`,
    about:
      'Cancels every unfinished job of this worker and of all workers below it, including delayed ones. Messages are kept.',
    keep: 'Keep jobs',
    submit: 'Cancel jobs',
    done: (jobs: number) => `Cancellation of ${count(jobs, 'job', 'jobs')} requested`,
  },
} as const;
