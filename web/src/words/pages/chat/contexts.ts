/** Texts of the list of contexts, and of the creation of a worker. */
import { count } from '../../count.ts';

export const contextsWords = {
  list: 'Contexts',
  find: 'Find a context',
  filter: 'Filter contexts',
  /** The options of the filter: a name for several states. */
  shown: {
    all: 'All',
    busy: 'Active',
    waiting: 'Waiting for me',
    failed: 'Failed',
    idle: 'Idle',
    stopped: 'Stopped',
    archived: 'Archived',
  },
  noMatch: 'No matching contexts.',
  noneShown: 'No contexts match this filter.',
  none: 'No contexts yet',
  noneAbout: 'Create a worker to start a conversation.',
  loadingMore: 'Loading more',
  searchAll: 'Search all messages',
  /** `most`: so many of the newest contexts are listed. */
  listEnds: (most: number) => `The newest ${count(most, 'context', 'contexts')}. Search finds older ones.`,

  item: {
    noMessages: 'No messages yet',
    noPreview: 'No preview',
    workersBelow: (context: string) => `Workers below ${context}`,
  },

  newWorker: {
    open: 'New worker',
    withRole: 'With a role',
    withModel: 'With a model',
    otherModel: 'Other model …',
    failed: 'Could not create the worker',
    title: 'New worker with another model',
    model: 'Model',
    anyModel: 'provider/model',
    providers: (names: string) => `Configured providers: ${names}`,
    submit: 'Create worker',
  },
} as const;
