/**
 * Reads JSON bodies: UTF-8 to the letter, and no deeper than everything downstream can walk. An empty body counts as
 * none.
 */
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { finished } from 'node:stream/promises';
import { refuse } from '../core/errors.ts';
import { DEEPEST_JSON } from '../core/json.ts';
import type { App } from './ports.ts';
import { RequestRefused } from './problem.ts';

/** Bytes of a body, where a route says no other limit: more is answered with 413. */
export const BODY_BYTES = 1024 * 1024;

/** Bytes of a body that carries content of messages: images and documents among it. */
export const CONTENT_BYTES = 16 * BODY_BYTES;

/** Members and items of a whole body. */
export const MOST_VALUES = 100_000;

/** Digits of a number. Reading one of millions takes longer than all else. */
export const LONGEST_NUMBER = 1_000;

/** How long a body that is refused may go on coming, in milliseconds. */
const DISCARD_MS = 5_000;

/** Bytes that are no JSON text. */
export class InvalidJson extends Error {
  override name = 'InvalidJson';
}

export function readJsonBodies(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) =>
    parseBody(body),
  );
}

/** Throws `InvalidJson` or `RequestRefused`. Others get their turn before a body is parsed that is large. */
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
 * Refuses a body that is nested too deep, or holds too many values, by its bytes alone: parsing 16 MB of `[[],[],…` would
 * hold the event loop for seconds.
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

/** Digits, `.`, signs and the `e`; a comma is none. */
function isOfNumber(sign: number): boolean {
  return (sign >= 0x2d && sign <= 0x39) || sign === 0x2b || sign === 0x45 || sign === 0x65;
}

/** Where the string that begins at `from` ends. One that does not end is not JSON: its parser says so. */
function endOfString(body: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}

export function tooComplex(how: string): RequestRefused {
  return new RequestRefused(refuse('invalid_request', `The body ${how}.`));
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new InvalidJson('The body is not JSON in UTF-8.');
  }
}

/** Reads what is still coming and throws it away, until it ends or has taken too long. */
export async function discardRest(stream: Readable): Promise<void> {
  stream.resume();
  await finished(stream, { signal: AbortSignal.timeout(DISCARD_MS) }).catch(() => undefined);
}
