/**
 * Reads JSON bodies in strict UTF-8. Limits depth and size, so that later code can walk them. An empty body counts as
 * no body.
 */
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { finished } from 'node:stream/promises';
import { DEEPEST_JSON } from '../../core/json.ts';
import type { App } from '../server/ports.ts';
import { invalid, type RequestRefused } from '../response/problem.ts';

/** Default limit of a body in bytes. Larger bodies are answered with 413. */
export const BODY_BYTES = 1024 * 1024;

/** Limit in bytes of bodies with message content, which may include images and documents. */
export const CONTENT_BYTES = 16 * BODY_BYTES;

/** Maximum number of members and items in a whole body. */
export const MOST_VALUES = 100_000;

/** Maximum number of digits of a number: parsing a number of millions of digits is slow. */
export const LONGEST_NUMBER = 1_000;

/** How long the API reads on after it refused a body, in milliseconds. */
const DISCARD_MS = 5_000;

/** The body is not valid JSON. */
export class InvalidJson extends Error {
  override name = 'InvalidJson';
}

export function readJsonBodies(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) =>
    parseBody(body),
  );
}

/** Throws `InvalidJson` or `RequestRefused`. Yields to the event loop before it parses a large body. */
async function parseBody(body: Uint8Array): Promise<unknown> {
  if (body.length === 0) return undefined;
  checkShape(body);
  if (body.length > BODY_BYTES) await setImmediate();
  return parseJson(body);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Refuses a body that is nested too deep or has too many values, without parsing it: parsing 16 MB of `[[],[],…` would
 * block the event loop for seconds.
 */
function checkShape(body: Uint8Array): void {
  let depth = 0;
  let values = 0;
  let digits = 0;
  for (let at = 0; at < body.length; at += 1) {
    const sign = body[at] ?? 0;
    digits = isOfNumber(sign) ? digits + 1 : 0;
    switch (sign) {
      case QUOTE:
        at = endOfString(body, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        values += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        break;
      default:
    }
    if (depth > DEEPEST_JSON) throw tooComplex(`is nested deeper than ${DEEPEST_JSON} levels`);
    if (values > MOST_VALUES) throw tooComplex(`holds more than ${MOST_VALUES} values`);
    if (digits > LONGEST_NUMBER) throw tooComplex(`holds a number of more than ${LONGEST_NUMBER} digits`);
  }
}

/** Digits, `.`, signs and `e`; not a comma. */
function isOfNumber(sign: number): boolean {
  return (sign >= 0x2d && sign <= 0x39) || sign === 0x2b || sign === 0x45 || sign === 0x65;
}

/** The index where the string that starts at `from` ends. `JSON.parse` refuses a string without an end. */
function endOfString(body: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}

export function tooComplex(how: string): RequestRefused {
  return invalid(`The body ${how}.`);
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new InvalidJson('The body is not valid JSON in UTF-8.');
  }
}

/** Reads and discards the rest of the stream, until it ends or `DISCARD_MS` has passed. */
export async function discardRest(stream: Readable): Promise<void> {
  // A pipe whose reader has stopped would hold it up.
  stream.unpipe();
  stream.resume();
  await finished(stream, { signal: AbortSignal.timeout(DISCARD_MS) }).catch(() => undefined);
}
