/** The text of a thrown value: its message and its causes', never a stack. Takes any value. */
import { truncate } from './truncate.ts';

/** Characters. A message may hold a whole response body. */
export const LONGEST_FAULT = 4_000;

/** How many causes are followed: `fetch failed` alone helps nobody. */
const DEPTH = 4;

/** How many places of a stack are told. */
const FRAMES = 20;

/** Never throws. */
export function faultText(thrown: unknown): string {
  try {
    return truncate(chain(thrown).join(': '), LONGEST_FAULT);
  } catch {
    return 'it threw something that cannot be read';
  }
}

/** The name of an error, for a log: holds no text of anybody's. Never throws. */
export function faultName(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.name : typeof thrown;
  } catch {
    return typeof thrown;
  }
}

/** Where an error was made, and its causes, for a log: names of functions and files, and no text of anybody's. Never throws. */
export function faultFrames(thrown: unknown): string[] {
  try {
    return causesOf(thrown).flatMap(framesOf).slice(0, FRAMES);
  } catch {
    return [];
  }
}

/** The message stands before the frames, and may hold anything: only what looks like a frame behind it is one. */
function framesOf(thrown: unknown): string[] {
  if (!(thrown instanceof Error)) return [];
  const { stack = '', message, name } = thrown;
  const head = `${name}: ${message}`;
  const frames = stack.startsWith(head) ? stack.slice(head.length) : '';
  return frames.split('\n').flatMap((line) => /^\s+at (.+)$/.exec(line)?.[1] ?? []);
}

function chain(thrown: unknown): string[] {
  const messages = causesOf(thrown).map(messageOf);
  return messages.filter((message, at) => message !== messages[at - 1]);
}

/** Itself first. */
function causesOf(thrown: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let next = thrown; causes.length < DEPTH && next !== undefined;) {
    causes.push(next);
    next = next instanceof Error ? next.cause : undefined;
  }
  return causes;
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') {
    return thrown.errors.slice(0, DEPTH).map(messageOf).join('; ');
  }
  if (thrown instanceof Error) return thrown.message === '' ? thrown.name : thrown.message;
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return String(thrown.message);
  return String(thrown);
}
