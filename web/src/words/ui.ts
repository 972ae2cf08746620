/** Texts of the components that all pages share. */
import { count } from './count.ts';

/** What a dialog shows once. */
export type SecretKind = 'key' | 'secret';

export const uiWords = {
  pageTitle: (title: string) => `${title} · Nightshift`,

  choices: { none: 'None available.' },
  filters: { remove: (label: string) => `Remove filter: ${label}` },
  select: { placeholder: 'Select …' },
  /** How long a secret that was replaced stays valid. */
  overlap: {
    none: 'Not at all: it ends at once',
    hour: 'One hour',
    day: 'One day',
    week: 'Seven days',
    month: '30 days',
  },

  errors: {
    title: 'Could not load the data',
    request: (id: string) => `request ${id}`,
    more: 'There are more errors.',
  },
  missingScope: {
    title: (scope: string) => `This needs the scope ${scope}`,
    ofOperator: 'Your sign-in does not have it. Sign out, and sign in with the admin key ({variable}).',
    ofTenant:
      'Your sign-in does not have it. Sign out, and sign in as a user or with an API key that has the scope {scope}.',
  },
  secret: {
    about: (what: SecretKind, about: string) => `Copy the ${what} now: it is not shown again. ${about}`,
    region: (what: SecretKind) => `The ${what}`,
    copy: (what: SecretKind) => `Copy the ${what}`,
    done: 'Done',
  },
  theme: { title: 'Theme', system: 'System', light: 'Light', dark: 'Dark' },
  zone: { title: 'Time zone', local: 'Local time', utc: 'UTC' },
  /** Below every question whether something is deleted, cancelled or revoked. */
  noUndo: 'This cannot be undone.',

  copy: { no: 'Copy', yes: 'Copied', refused: 'Not allowed to copy' },
  code: 'Code',
  json: 'JSON',
  /** In place of the members of a value of JSON. */
  object: (members: number) => `{ ${count(members, 'member', 'members')} }`,
  list: (items: number) => `[ ${count(items, 'item', 'items')} ]`,
  moreMembers: (left: number) => `Show more (${left} left)`,
  image: 'image',
  table: 'Table',
  tokens: {
    exact: (tokens: { input: string; output: string; cacheRead: string; cacheWrite: string }) =>
      `${tokens.input} input, ${tokens.output} output, ${tokens.cacheRead} cache read, ${tokens.cacheWrite} cache write`,
    input: (tokens: string) => `${tokens} in`,
    cached: (share: string) => `${share} cached`,
    output: (tokens: string) => `${tokens} out`,
  },
} as const;

/** Durations in the units of the International System. */
export const durationWords = {
  justNow: 'just now',
  inSeconds: 'in seconds',
  milliseconds: (ms: number) => `${ms} ms`,
  seconds: (s: number | string) => `${s} s`,
  minutes: (min: number, s: number) => `${min} min ${s} s`,
  hours: (h: number, min: number) => `${h} h ${min} min`,
  days: (d: number, h: number) => `${d} d ${h} h`,
} as const;
