/** Limits of a tenant, from its row, or else from the config file (`limits.tenant`); and of an API key, beside them. */
import { refuse, type Refusal } from '../errors.ts';

/**
 * The limits by name, with the smallest and the largest value. A limit that is missing does not limit. `weight` is no
 * limit: it is a share.
 */
export const LIMIT_RANGES = {
  requests_per_s: { least: 1, most: 100_000 },
  concurrent_requests: { least: 1, most: 100_000 },
  slots: { least: 1, most: 100_000 },
  queued_jobs: { least: 1, most: 1_000_000 },
  workers: { least: 1, most: 1_000_000 },
  streams: { least: 1, most: 100_000 },
  stored_mb: { least: 1, most: 100_000_000 },
  upload_mb: { least: 1, most: 100_000 },
  sql_ms: { least: 10, most: 10_000 },
} as const;

/** Bytes of a MB, in the limits whose name ends with it. */
export const MEGABYTE = 1024 * 1024;

export type LimitName = keyof typeof LIMIT_RANGES;

/** In the order in which they are shown. */
export const LIMIT_NAMES = Object.keys(LIMIT_RANGES) as LimitName[];

export type TenantLimits = { readonly [Name in LimitName]?: number };

/** What an API key can be limited in, beside its tenant. */
export const KEY_LIMIT_NAMES = ['requests_per_s', 'concurrent_requests'] as const satisfies LimitName[];

export type KeyLimits = { readonly [Name in (typeof KEY_LIMIT_NAMES)[number]]?: number };

/** Compared by identity: `limitsOf` returns it for a tenant without limits. */
export const NO_LIMITS: TenantLimits = {};

/** The limits of a tenant: its own, and those of the config file for the others. */
export function limitsOf(own: TenantLimits, ofFile: TenantLimits): TenantLimits {
  if (Object.keys(own).length === 0) return ofFile;
  return ofFile === NO_LIMITS ? own : { ...ofFile, ...own };
}

/** Seconds after which a client should retry. */
const RETRY_S = {
  requests_per_s: 1,
  concurrent_requests: 1,
  slots: 5,
  queued_jobs: 5,
  workers: 30,
  streams: 5,
  stored_mb: 60,
  upload_mb: 60,
  sql_ms: 5,
} as const satisfies Record<LimitName, number>;

/** Waiting does not help: the request is the same, or something must be deleted. */
const NOT_RETRYABLE: readonly LimitName[] = ['upload_mb', 'workers', 'stored_mb', 'sql_ms'];

/** Whether the same request may succeed later. */
export function isRetryable(limit: string): boolean {
  return !NOT_RETRYABLE.some((one) => one === limit);
}

/** Of the name of a limit: of the tenant, or of the API key. */
export type LimitPrefix = '' | 'key_';

/** `param` of the refusal is the name of the limit, such as `slots` or `key_requests_per_s`. */
export function quotaExceeded(limit: LimitName, message: string, prefix: LimitPrefix = ''): Refusal {
  return { ...refuse('quota_exceeded', message, `${prefix}${limit}`), retryAfterS: RETRY_S[limit] };
}

/** The length in seconds of the windows in which requests are counted. A window begins with its first request. */
export const WINDOW_S = 1;

/** `count`: requests in the window, with this one. */
export type CountedRequest = { count: number; endsInMs: number };

export type RequestRates = {
  /** Counts a request under this name: of a tenant, or of an API key. */
  count(key: string): Promise<CountedRequest>;
  close(): void;
};

/** What a tenant has, of what is limited by count in PostgreSQL. `storedBytes`: of the content of its messages. */
export type Usage = { queuedJobs: number; workers: number; storedBytes: number };

/** What a command adds at most; what is missing, it does not add. */
export type Addition = Partial<Usage>;

/** How far each is counted; null: it is not counted, and 0 in the usage. `storedBytes`: whether they are measured. */
export type Counted = { queuedJobs: number | null; workers: number | null; storedBytes: boolean };

/** Null: nothing that is added is limited. A tenant is counted up to its limit: more does not matter. */
export function countedFor(limits: TenantLimits, adds: Addition): Counted | null {
  const upTo = (limit: number | undefined, added = 0): number | null => (added === 0 ? null : (limit ?? null));
  const counted = {
    queuedJobs: upTo(limits.queued_jobs, adds.queuedJobs),
    workers: upTo(limits.workers, adds.workers),
    storedBytes: upTo(limits.stored_mb, adds.storedBytes) !== null,
  };
  return counted.queuedJobs === null && counted.workers === null && !counted.storedBytes ? null : counted;
}

/** `usage`: counted up to the limits. Null: the addition is within them. */
export function overQuota(limits: TenantLimits, usage: Usage, adds: Addition): Refusal | null {
  const { workers, queued_jobs: queuedJobs, stored_mb: storedMb } = limits;
  const isOver = (used: number, added = 0, most = Infinity): boolean => added > 0 && used + added > most;
  // First, since it refuses content that joins a job too (see `isOfContent`).
  if (isOver(usage.storedBytes, adds.storedBytes, bytesOf(limits)))
    return quotaExceeded(
      'stored_mb',
      `The messages of the tenant have ${inMb(usage.storedBytes)} MB of at most ${storedMb} MB, with those that are being stored. There is no room for more, or not for so much. Delete contexts or workers that are not needed, send less, or ask the operator for a higher limit.`,
    );
  if (isOver(usage.workers, adds.workers, workers))
    return quotaExceeded(
      'workers',
      `The tenant may have ${workers} workers, and has no room for more. Delete workers that are not needed, or ask the operator for a higher limit.`,
    );
  if (isOver(usage.queuedJobs, adds.queuedJobs, queuedJobs))
    return quotaExceeded(
      'queued_jobs',
      `The tenant may have ${queuedJobs} queued and delayed jobs, and has no room for more. Wait until some of them start, or cancel some.`,
    );
  return null;
}

/** Whether it refuses content, also where that adds no job. */
export function isOfContent({ param }: Refusal): boolean {
  return param === ('stored_mb' satisfies LimitName);
}

/** Rounded up to three decimal places. */
export function inMb(bytes: number): number {
  return Math.ceil((bytes / MEGABYTE) * 1_000) / 1_000;
}

function bytesOf({ stored_mb: storedMb }: TenantLimits): number | undefined {
  return storedMb === undefined ? undefined : storedMb * MEGABYTE;
}
