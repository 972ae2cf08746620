/** The operator's settings of `http_fetch`; config/built-in-limits.ts documents them. */
import type { Approval } from '../../../core/run/policy.ts';

export type HttpFetchLimits = {
  /** Null: by the method. */
  approval: Approval | null;
  allow: readonly string[];
  /** From the first DNS lookup to the last byte. */
  timeoutMs: number;
  bodyBytes: number;
  /** Compressed or decompressed. */
  downloadBytes: number;
  redirects: number;
};

export const HTTP_FETCH_DEFAULTS: HttpFetchLimits = {
  approval: null,
  allow: [],
  timeoutMs: 30_000,
  bodyBytes: 100_000,
  downloadBytes: 5_000_000,
  redirects: 5,
};
