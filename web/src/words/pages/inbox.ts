/** Texts of the page Inbox. */
import type { InboxItem } from 'nightshift/client';
import { count } from '../count.ts';

/** A question of a worker is an input, and so is the result of a client tool. */
export type InboxKind = Exclude<InboxItem['kind'], 'input'> | 'question' | 'client_tool';

const one: Readonly<Record<InboxKind, string>> = {
  approval: 'Approval',
  question: 'Question',
  client_tool: 'Client tool',
  unknown_outcome: 'Unknown outcome',
};

const many: Readonly<Record<InboxKind, string>> = {
  approval: 'Approvals',
  question: 'Questions',
  client_tool: 'Client tools',
  unknown_outcome: 'Unknown outcomes',
};

export const inboxWords = {
  about:
    'Tool calls that wait for a person, newest first. A call waits until it is answered or its tool’s timeout ends.',
  one,
  many,
  filter: 'Filter by kind',
  all: 'All',
  list: 'Waiting',
  empty: 'The inbox is empty',
  emptyAbout: 'Approvals, questions of workers, client tools and calls with an unknown outcome appear here.',
  noneOfKind: 'No items of this kind',
  /** There are more than the console reads at once. */
  cut: (items: number) =>
    `The ${count(items, 'oldest item is', 'oldest items are')} shown. More appear as you answer these.`,

  card: {
    name: (kind: InboxKind, tool: string) => `${one[kind]}: ${tool}`,
    question: 'A question for you',
    where: 'in {context} · {job}',
    job: (id: string) => `job ${id}`,
    decidedElsewhere: 'Answered elsewhere, or no longer waiting',
  },
} as const;
