/** Texts of the menu of a context, and of its dialogs. */
import { count } from '../../count.ts';

export const contextMenuWords = {
  label: 'Context actions',
  compact: {
    open: 'Compact now',
    done: 'Compaction queued',
    failed: 'Could not compact the context',
  },
  exports: { json: 'Export as JSON', markdown: 'Export as Markdown', paired: 'Export as pairs' },
  worker: {
    stop: 'Stop worker',
    stopFailed: 'Could not stop the worker',
    stopped: (name: string) => `Worker ${name} stopped`,
    started: (name: string) => `Worker ${name} started`,
  },
  settings: 'Settings …',

  jump: {
    open: 'Go to a date …',
    title: 'Go to a date',
    day: 'Day',
    /** `first`: the day of the first message. */
    range: (first: string, last: string) => `The messages of this branch are from ${first} to ${last}.`,
    submit: 'Go to the day',
    first: 'First message',
    newest: 'Newest',
    none: 'There is no message on this day or later. Choose an earlier day.',
    noDay: 'Choose a day.',
    empty: 'There are no messages yet.',
  },
  rename: {
    open: 'Rename …',
    title: 'Rename',
    field: 'Title',
    submit: 'Rename',
  },
  details: {
    open: 'Details …',
    title: 'Details',
    state: 'State',
    worker: 'Worker',
    /** After the name of the worker. */
    role: (name: string, version: number | null) => (version === null ? `(${name})` : `(${name} v${version})`),
    user: 'User',
    messages: 'Messages',
    onAllBranches: (messages: string) => `${messages} on all branches`,
    turns: 'Turns',
    onBranch: (turns: string, branch: string) => `${turns} on ${branch}`,
    requests: 'Model requests',
    tokens: 'Tokens',
    created: 'Created',
    lastUsed: 'Last used',
    archived: 'Archived',
    ids: {
      context: { name: 'Context id', copy: 'Copy the context id' },
      worker: { name: 'Worker id', copy: 'Copy the worker id' },
      job: { name: 'Job id', copy: 'Copy the job id' },
      source: { name: 'Forked from', copy: 'Copy the id of the source' },
    },
    links: {
      label: 'Context links',
      currentJob: 'Timeline of the current job',
      source: 'Source of the fork',
    },
  },
  fork: {
    open: 'Fork into a new context …',
    title: 'Fork into a new context',
    /** Null: the branch is not loaded yet. */
    about: (branch: string | null) =>
      `Copies all completed messages of ${branch ?? 'the active branch'} into a new context, with a new worker that has the same settings.`,
    field: 'Title',
    submit: 'Fork',
  },
  import: {
    open: 'Import …',
    title: 'Import a context',
    about:
      'Choose a Nightshift export (JSON or pairs), or a folder with metadata.json, message_index.json and messages. If the import fails, nothing is created.',
    file: 'File to import',
    folder: 'Folder to import',
    chooseFile: 'Choose file …',
    chooseFolder: 'Choose folder …',
    progress: 'Import',
    uploading: (share: string) => `Uploading: ${share}`,
    importing: 'Importing …',
    done: 'Imported',
    failed: 'Nothing was imported.',
  },
  clear: {
    open: 'Clear history …',
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
    open: 'Delete …',
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
} as const;
