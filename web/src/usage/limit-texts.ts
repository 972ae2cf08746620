/** The limits of a tenant in words. */
import type { TenantUsage } from 'nightshift/client';
import { formatDuration } from '../ui/text/time.tsx';

export type LimitName = keyof TenantUsage['limits'];

export type LimitText = {
  name: LimitName;
  label: string;
  about: string;
  /** Of what is written in a form; undefined: it is a count. */
  unit?: string;
  /** Of a value of the limit. */
  format?: (value: number) => string;
};

const exact = new Intl.NumberFormat('en');

export const formatExact = (value: number): string => exact.format(value);

const BY_PROCESS = 'Each API process counts only its own. This number is from the process that answered.';

/** What grows and stays comes first, then what is used at one time. */
export const LIMIT_TEXTS: readonly LimitText[] = [
  { name: 'workers', label: 'Workers', about: 'Workers that exist, also archived ones, forks and sessions.' },
  {
    name: 'stored_mb',
    label: 'Stored content',
    about: 'Of all messages. Deleting contexts or workers makes room.',
    unit: 'MB',
    format: (value) => `${formatExact(value)} MB`,
  },
  { name: 'queued_jobs', label: 'Queued jobs', about: 'Queued and delayed jobs of all contexts.' },
  { name: 'slots', label: 'Slots', about: 'Contexts that run at once, over all worker processes. Others wait.' },
  { name: 'streams', label: 'Event streams', about: `Open event streams. ${BY_PROCESS}` },
  {
    name: 'concurrent_requests',
    label: 'Concurrent requests',
    about: `Requests that are served at the same time, without event streams. ${BY_PROCESS}`,
  },
  {
    name: 'requests_per_s',
    label: 'Requests per second',
    about: 'Over all API processes.',
  },
  {
    name: 'upload_mb',
    label: 'Upload size',
    about: 'Of the body of one request.',
    unit: 'MB',
    format: (value) => `${formatExact(value)} MB`,
  },
  {
    name: 'sql_ms',
    label: 'Query time limit',
    about: 'Of one statement of a list, a search, a report or an export.',
    unit: 'ms',
    format: formatDuration,
  },
];
