/** Failures of the protocol as values. Errors of the library may contain tokens: only their names and codes are kept. */
import { AnswerTooLong } from './bounded-fetch.ts';
import { library } from './library.ts';

/**
 * `unavailable`: the provider did not answer. `busy`: too many sign-ins at once. `denied`: the provider, or the person,
 * refused. `wrong_code`: the provider did not give the code, or not to this browser. `failed`: the answer is not valid.
 * `detail`: for the log, no secret.
 */
export type Failure = { kind: 'unavailable' | 'busy' | 'denied' | 'wrong_code' | 'failed'; detail: string };

export async function failureOf(error: unknown): Promise<Failure> {
  const { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } = await library();
  if (error instanceof AuthorizationResponseError)
    return { kind: ANSWERS.get(error.error) ?? 'failed', detail: codeIn(error.error) };
  if (error instanceof ResponseBodyError) {
    const kind = error.error === 'invalid_grant' ? 'wrong_code' : 'failed';
    return { kind: error.status >= 500 ? 'unavailable' : kind, detail: codeIn(error.error) };
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    const code = error.cause.map(({ parameters }) => parameters.error).find((text) => text !== undefined);
    return { kind: error.status >= 500 ? 'unavailable' : 'failed', detail: codeIn(code ?? error.code) };
  }
  return failureIn(withCauses(error));
}

/** RFC 6749, section 4.1.2.1. */
const ANSWERS: ReadonlyMap<string, Failure['kind']> = new Map([
  ['access_denied', 'denied'],
  ['server_error', 'unavailable'],
  ['temporarily_unavailable', 'unavailable'],
]);

/** The provider, or a link, chose the text. */
function codeIn(error: string): string {
  return /^[A-Za-z_]{1,50}$/.test(error) ? error : 'unknown error';
}

/** What an error is caused by, and what that is caused by: the error first. */
function withCauses(error: unknown): object[] {
  const found: object[] = [];
  let next: unknown = error;
  while (typeof next === 'object' && next !== null && !found.includes(next)) {
    found.push(next);
    next = 'cause' in next ? next.cause : null;
  }
  return found;
}

function failureIn(errors: readonly object[]): Failure {
  if (errors.some(isTimeout)) return { kind: 'unavailable', detail: 'timeout' };
  if (errors.some((error) => error instanceof AnswerTooLong)) return { kind: 'failed', detail: 'answer too long' };
  const codes = errors.map((error) => textIn(error, 'code')).filter((code) => code !== null);
  if (errors.some(isNoAnswer)) return { kind: 'unavailable', detail: codes.at(-1) ?? 'no answer' };
  const [code] = codes;
  const names = [code ?? textIn(errors[0] ?? {}, 'name') ?? 'unknown error', ...errors.map(claimIn)];
  const isUnreached = code !== undefined && UNREACHED.has(code);
  return { kind: isUnreached ? 'unavailable' : 'failed', detail: names.filter((name) => name !== null).join(' ') };
}

/** Something else answered. */
const UNREACHED: ReadonlySet<string> = new Set(['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON']);

/** Also while it reads the body of an answer. */
function isTimeout(error: object): boolean {
  return error instanceof DOMException && (error.name === 'TimeoutError' || error.name === 'AbortError');
}

/** `fetch` throws it where it gets no answer, or not all of it. A `TypeError` of the library has a code. */
function isNoAnswer(error: object): boolean {
  return error instanceof TypeError && !('code' in error) && error.cause instanceof Error;
}

/** The claim of an ID token that is wrong. */
function claimIn(error: object): string | null {
  return textIn(error, 'claim');
}

/** A name or a code: never a text that may have content. */
function textIn(error: object, member: 'code' | 'name' | 'claim'): string | null {
  const value: unknown = Reflect.get(error, member);
  return typeof value === 'string' && /^\w{1,60}$/.test(value) ? value : null;
}
