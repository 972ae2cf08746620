/** Texts of the form for a new API key. */
import type { ApiKey } from 'nightshift/client';
import { usageWords } from './usage.ts';

const scopes: Readonly<Record<ApiKey['scopes'][number], string>> = {
  read: 'read everything except prompts, for all users',
  run: 'create and delete workers and contexts, post inputs, cancel jobs, answer questions',
  configure: 'change roles, settings, schedules and webhooks; import contexts; read prompts',
  approve: 'decide on tool calls, remove grants, resolve unknown outcomes',
  keys: 'create and revoke keys, create and revoke tokens of any user, read the audit log',
};

const limits: Readonly<Record<keyof ApiKey['limits'], { label: string; value: (limit: number) => string }>> = {
  requests_per_s: {
    label: usageWords.limits.requests_per_s.label,
    value: (limit) => `${limit} requests per second`,
  },
  concurrent_requests: {
    label: usageWords.limits.concurrent_requests.label,
    value: (limit) => `${limit} concurrent requests`,
  },
};

export const apiKeysWords = {
  new: 'New API key',
  firstOf: (tenant: string) => `First key of ${tenant}`,
  firstAbout: 'With it, the tenant creates its other keys.',
  create: 'Create key',
  nameHint: 'Who or what uses it, such as “billing service”.',

  scopes: {
    label: 'Scopes',
    allows: scopes,
    firstHint: 'The first key needs the scope keys.',
    ownHint: 'Only scopes that your own key has are listed.',
  },
  limits: {
    of: limits,
    none: 'no limit of its own',
    canMakeOthers: 'A key with the scope keys has no limits of its own.',
    atMost: (limits: readonly string[]) => `At most ${limits.join(', ')}`,
  },
  expiry: {
    label: 'Expires',
    lastDay: 'Last day',
    options: {
      '30': 'In 30 days',
      '90': 'In 90 days',
      '365': 'In a year',
      day: 'At the end of a day …',
      never: 'Never',
    },
  },
  created: {
    title: (name: string) => `API key ${name}`,
    about: 'Anyone who has it can do what its scopes allow.',
    firstAbout:
      'Anyone who has it can do what its scopes allow. From now on the API needs a key: sign in with this one.',
  },
} as const;
