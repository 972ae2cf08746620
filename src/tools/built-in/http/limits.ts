/** What an operator says of `http_fetch`. */

/** `allow`: host names, addresses and networks (CIDR) that may be asked although they are not public. */
export type HttpFetchLimits = {
  allow: readonly string[];
  /** From the first look-up to the last byte, over all redirects. */
  timeoutMs: number;
  /** Bytes of a body that are shown; the rest is cut. */
  bodyBytes: number;
  /** Bytes of a body, unpacked or not, beyond which it is given up. */
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
