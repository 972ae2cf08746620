/** Texts of the chat. Those of its other parts follow. */
import type { Retraction } from 'nightshift/client';
import { count } from '../count.ts';

const why: { readonly [Cause in Retraction['cause']]: string } = {
  cancel: 'Stopped',
  stop: 'Stopped',
  interrupt: 'Stopped',
  deadline: 'Stopped at the deadline of its job',
  refused: 'Refused by the model',
  failed: 'Not finished: the model call failed',
};

export const chatWords = {
  retracted: {
    answer: 'Retracted answer',
    input: 'Retracted input',
    why,
    unknown: 'Retracted',
    by: (actor: string) => `by ${actor}`,
    timeline: 'Timeline',
  },
  steered: 'Steered',
  steeredHint: 'This input joined a running job.',

  /** `most`: so many of the newest contexts are listed. */
  listEnds: (most: number) => `The newest ${count(most, 'context', 'contexts')}. Search finds older ones.`,
  workersBelow: (context: string) => `Workers below ${context}`,

  clear: {
    title: 'Clear history?',
    titleOf: (context: string) => `Clear history of “${context}”?`,
    about: 'The worker and its settings are kept. It deletes:',
    messages: (messages: number) => `${count(messages, 'message', 'messages')} and all summaries`,
    /** `branches`: without the branch `main`. */
    branches: (branches: number) => `${count(branches, 'branch', 'branches')} besides main`,
    counters: 'The counters of turns, requests and tokens',
    submit: 'Clear history',
    done: 'History cleared',
  },
  delete: {
    title: 'Delete context?',
    titleOf: (context: string) => `Delete context “${context}”?`,
    about: 'It deletes:',
    messages: (messages: number) =>
      `${count(messages, 'message', 'messages')} and all delayed and queued inputs; a running job is cancelled`,
    /** `name`: undefined while it is not loaded. */
    worker: (name: string | undefined) =>
      `${name === undefined ? 'Its worker' : `The worker ${name}`}, with its settings`,
    /** `isCut`: the tree was not read as a whole. */
    below: (workers: number, isCut: boolean) =>
      `${count(workers, 'worker', 'workers')}${isCut ? ' or more' : ''} below it, with their contexts. Detached workers are kept.`,
    done: 'Context deleted',
  },
  deleteBranch: {
    open: (branch: string) => `Delete ${branch} …`,
    title: (branch: string) => `Delete branch ${branch}?`,
    about: 'It deletes the messages that only this branch has. Branches that share its messages keep them.',
  },
} as const;
