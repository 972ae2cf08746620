/** Texts of the branches of a context. */
import { commonWords } from '../../common.ts';
import { count } from '../../count.ts';

export const branchWords = {
  active: (branch: string) => `Branch: ${branch}`,
  choice: 'Branch',
  switchFailed: 'Could not switch the branch',
  new: 'New branch …',
  /** The menu lists only some of them. */
  all: (branches: number) => `All ${branches} branches …`,
  manage: 'Manage branches …',

  dialog: {
    title: 'Branches',
    about: 'Each branch shares the messages before its fork point with its parent branch.',
    list: 'Branches',
    showMore: (branches: number) => `${commonWords.showMore} (${branches})`,
    active: 'Active',
    messages: (messages: number) => count(messages, 'message', 'messages'),
    switch: 'Switch',
    switchTo: (branch: string) => `Switch to ${branch}`,
    root: 'Root branch',
    from: (parent: string) => `From ${parent}`,
    fromNothing: (parent: string) => `From ${parent}, no shared messages`,
    /** `turn`: null if the last shared message is a note. */
    fromAfter: (parent: string, turn: string | null) => `From ${parent} after ${turn ?? 'a note'}`,
  },
  create: {
    title: 'New branch',
    /** Null: the active branch is not loaded yet. */
    withAll: (branch: string | null) => `Starts with all completed messages of ${branch ?? 'the active branch'}.`,
    withMessagesTo: 'Starts with all messages up to this one.',
    nameExample: 'alternative',
    nameHint: 'Letters, digits, dots, dashes and underscores.',
    activate: 'Switch to the new branch',
    submit: 'Create branch',
    done: (branch: string) => `Branch ${branch} created`,
    switched: (branch: string) => `Switched to branch ${branch}`,
  },
  delete: {
    open: (branch: string) => `Delete ${branch} …`,
    title: (branch: string) => `Delete branch ${branch}?`,
    about: 'It deletes the messages that only this branch has. Branches that share its messages keep them.',
  },

  /** Alternative inputs or answers at one place, each on its branch. */
  versions: {
    label: 'Versions',
    previous: 'Previous version',
    next: 'Next version',
    place: (at: number, of: number) => `Version ${at} of ${of}`,
  },
} as const;
