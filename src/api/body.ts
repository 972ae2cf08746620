/**
 * Reads JSON bodies: UTF-8 to the letter, and no deeper than everything downstream can walk. An empty body counts as
 * none.
 */
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { refuse } from '../core/errors.ts';
import type { App } from './ports.ts';
import { RequestRefused } from './problem.ts';

/** 16 MB: more is answered with 413. */
export const BODY_LIMIT = 16 * 1024 * 1024;

const DEEPEST = 100;

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

/** Throws `InvalidJson` or `RequestRefused`. */
export function parseBody(body: Uint8Array): unknown {
  if (body.length === 0) return undefined;
  const value = parseJson(body);
  checkDepth(value);
  return value;
}

/** Refuses what is nested deeper than everything downstream can walk. */
export function checkDepth(value: unknown): void {
  if (!isDeeperThan(DEEPEST, value)) return;
  throw new RequestRefused(refuse('invalid_request', `The body is nested deeper than ${DEEPEST} levels.`));
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

/** Level by level: what is to be judged may be too deep for recursion. */
function isDeeperThan(most: number, value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true;
    level = level.flatMap((one): unknown[] =>
      typeof one === 'object' && one !== null ? Object.values(one).filter(isNested) : [],
    );
  }
  return false;
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
