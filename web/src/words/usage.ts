/** Texts about the limits of a tenant. */
import type { TenantUsage } from 'nightshift/client';

type LimitText = {
  label: string;
  about: string;
  /** Of what is written in a form. */
  unit?: string;
};

const BY_PROCESS = 'Each API process counts only its own. This number is from the process that answered.';

const limits: Readonly<Record<keyof TenantUsage['limits'], LimitText>> = {
  workers: { label: 'Workers', about: 'All workers, also archived ones, forks and sessions.' },
  stored_mb: {
    label: 'Stored content',
    about: 'The size of all messages. Delete contexts or workers to make room.',
    unit: 'MB',
  },
  queued_jobs: { label: 'Queued jobs', about: 'Queued and delayed jobs of all contexts.' },
  slots: { label: 'Slots', about: 'Contexts that run at once, over all worker processes. Others wait.' },
  streams: { label: 'Event streams', about: `Open event streams. ${BY_PROCESS}` },
  concurrent_requests: {
    label: 'Concurrent requests',
    about: `Requests that are served at the same time, without event streams. ${BY_PROCESS}`,
  },
  requests_per_s: { label: 'Requests per second', about: 'Requests of all API processes together.' },
  upload_mb: { label: 'Upload size', about: 'The size of the body of one request.', unit: 'MB' },
  sql_ms: {
    label: 'Query time limit',
    about: 'How long one statement of a list, a search, a report or an export may take.',
    unit: 'ms',
  },
};

export const usageWords = {
  title: 'Usage',
  limits,
  megabytes: (amount: string) => `${amount} MB`,
  /** Null: nothing is counted, or there is no limit. */
  value: (used: string | null, limit: string | null) => {
    if (limit === null) return used === null ? 'no limit' : `${used}, no limit`;
    return used === null ? `limit ${limit}` : `${used} / ${limit}`;
  },
  bar: (used: string, limit: string) => `${used} of ${limit}`,
  nearness: { near: 'Near the limit', at: 'At the limit', above: 'Above the limit' },
  wholeNumberFault: 'Enter a whole number, or leave the field empty.',
} as const;
