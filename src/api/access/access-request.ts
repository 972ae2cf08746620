/** The parts of a request that access control reads. */
export type AccessHeaders = {
  authorization?: string | undefined;
  host?: string | undefined;
  origin?: string | undefined;
  'sec-fetch-site'?: string | string[] | undefined;
  'x-forwarded-proto'?: string | string[] | undefined;
};

export type AccessRequest = {
  /** Node's own request. */
  raw: object;
  headers: AccessHeaders;
  method: string;
  cookies: Readonly<Record<string, string | undefined>>;
};

/** The key in the header `Authorization`. */
export function bearerOf(authorization: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}
