/** The limits of a tenant in their order, each with its texts and the format of its values. */
import type { TenantUsage } from 'nightshift/client';
import { formatDuration } from '../ui/text/time.tsx';
import { usageWords } from '../words.ts';

export type LimitName = keyof TenantUsage['limits'];

export type LimitText = {
  name: LimitName;
  label: string;
  about: string;
  /** Of what is written in a form; undefined: it is a count. */
  unit?: string;
  format: (value: number) => string;
};

const exact = new Intl.NumberFormat('en');

export const formatExact = (value: number): string => exact.format(value);

export const formatMegabytes = (value: number): string => usageWords.megabytes(formatExact(value));

/** What grows and stays comes first, then what is used at one time. */
const FORMATS = {
  workers: formatExact,
  stored_mb: formatMegabytes,
  queued_jobs: formatExact,
  slots: formatExact,
  streams: formatExact,
  concurrent_requests: formatExact,
  requests_per_s: formatExact,
  upload_mb: formatMegabytes,
  sql_ms: formatDuration,
} as const satisfies Record<LimitName, LimitText['format']>;

const NAMES = Object.keys(FORMATS).filter((name): name is LimitName => name in FORMATS);

export const LIMIT_TEXTS: readonly LimitText[] = NAMES.map((name) => ({
  name,
  format: FORMATS[name],
  ...usageWords.limits[name],
}));
