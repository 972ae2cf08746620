/** Errors of the service's own code may quote the credential that it was given. The log must not. */
import type { NodeRequest } from './options.ts';

/** Shorter values are no secrets, and parts of other words. */
const SHORTEST = 6;

type Logged = { error: string; stack: string };

/** Text and stack of an error, without any value of the request's headers, cookies and query. */
export function withoutSecrets(error: unknown, request: NodeRequest | Request): Logged {
  const values = valuesOf(request);
  const hide = (text: string): string => values.reduce((left, value) => left.replaceAll(value, '[removed]'), text);
  return error instanceof Error
    ? { error: hide(`${error.name}: ${error.message}`), stack: hide(error.stack ?? '') }
    : { error: hide(String(error)), stack: '' };
}

/** The longest first: one may contain another. */
function valuesOf({ headers, url = '' }: NodeRequest | Request): string[] {
  const ofHeaders = isHeaders(headers) ? [...headers.values()] : Object.values(headers).flatMap((value) => value ?? []);
  // The parts of `Bearer …` and of a list of cookies, too.
  const parts = ofHeaders.flatMap((value) => [value, ...value.split(/[\s;,=]+/)]);
  const ofQuery = [...new URLSearchParams(url.split('?')[1] ?? '').values()];
  return [...new Set([...parts, ...ofQuery])]
    .filter((value) => value.length >= SHORTEST)
    .toSorted((one, other) => other.length - one.length);
}

function isHeaders(headers: NodeRequest['headers'] | Headers): headers is Headers {
  return headers instanceof Headers;
}
