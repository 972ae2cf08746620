/** The operator's settings of `http_fetch`. */

/** `allow`: host names, addresses and networks (CIDR) that are permitted although they are not public. */
export type HttpFetchLimits = {
  allow: readonly string[];
  /** From the first DNS lookup to the last byte, including all redirects. */
  timeoutMs: number;
  /** Bytes of a body that are shown; the rest is truncated. */
  bodyBytes: number;
  /** Maximum bytes of a body, compressed or decompressed; larger ones fail. */
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
