/** What of a request decides who asks. */

/** The headers that access depends on. */
export type AccessHeaders = {
  authorization?: string | undefined;
  host?: string | undefined;
  origin?: string | undefined;
  'sec-fetch-site'?: string | string[] | undefined;
  'x-forwarded-proto'?: string | string[] | undefined;
};

/** What of a request access depends on. */
export type Asked = {
  headers: AccessHeaders;
  method: string;
  cookies: Readonly<Record<string, string | undefined>>;
};
