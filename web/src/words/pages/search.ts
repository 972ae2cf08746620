/** Texts of the page Search. */
import type { SearchResult } from 'nightshift/client';
import { count } from '../count.ts';

const ofOne: Readonly<Record<SearchResult['role'], string>> = { user: 'Input', assistant: 'Answer' };
const ofMany: Readonly<Record<SearchResult['role'], string>> = { user: 'Inputs', assistant: 'Answers' };

export const searchWords = {
  about: 'Search the messages of all contexts.',
  field: 'Search all messages',
  context: (name: string) => `Context ${name}`,
  worker: (name: string) => `Worker ${name}`,
  message: ofOne,

  filters: {
    label: 'Filter results',
    messageType: 'Message type',
    messages: ofMany,
    anyMessage: 'Inputs and answers',
    role: 'Worker role',
    anyRole: 'Any role',
  },
  hints: {
    title: 'Enter a search term',
    both: '{example} finds messages with both words',
    bothExample: 'invoice overdue',
    phrase: '{example} finds the phrase',
    phraseExample: '"second reminder"',
    either: '{example} finds either',
    eitherExample: 'invoice or bill',
    without: '{example} excludes messages with {word}',
    withoutExample: 'invoice -paid',
    withoutWord: 'paid',
  },
  results: 'Results',
  found: (results: number, hasMore: boolean) =>
    `${hasMore ? 'More than ' : ''}${count(results, 'result', 'results')}, best match first`,
  none: 'No results',
  noneAbout: 'Try fewer words or filters. New messages can be found after their job has ended.',
} as const;
