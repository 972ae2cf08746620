/** The operator's settings of `http_fetch`; config/built-in-limits.ts documents them. */
export type HttpFetchLimits = {
  allow: readonly string[];
  /** From the first DNS lookup to the last byte. */
  timeoutMs: number;
  bodyBytes: number;
  /** Compressed or decompressed. */
  downloadBytes: number;
  redirects: number;
};

export const HTTP_FETCH_DEFAULTS: HttpFetchLimits = {
  allow: [],
  timeoutMs: 30_000,
  bodyBytes: 100_000,
  downloadBytes: 5_000_000,
  redirects: 5,
};
