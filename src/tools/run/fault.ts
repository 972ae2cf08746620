/** The text of a thrown value: its message and those of its causes, without a stack. Accepts any value. */
import { truncate } from './truncate.ts';

/** Maximum characters. A message may contain a whole response body. */
export const LONGEST_FAULT = 4_000;

/** Maximum number of causes: `fetch failed` alone is not helpful. */
const DEPTH = 4;

/** Maximum number of stack frames. */
const FRAMES = 20;

const UNREADABLE = 'it threw a value that cannot be converted to text';

/** Never throws. */
export function faultText(thrown: unknown): string {
  try {
    return truncate(chain(thrown).join(': '), LONGEST_FAULT);
  } catch {
    return UNREADABLE;
  }
}

/** The message alone, without the causes, of any length. Never throws. */
export function ownMessage(thrown: unknown): string {
  try {
    return messageOf(thrown);
  } catch {
    return UNREADABLE;
  }
}

/** The name of an error for the log, without its message. Never throws. */
export function faultName(thrown: unknown): string {
  try {
    return thrown instanceof Error ? textsOf(thrown).name : typeof thrown;
  } catch {
    return typeof thrown;
  }
}

/** The stack frames of an error and its causes for the log: only functions and files, no messages. Never throws. */
export function faultFrames(thrown: unknown): string[] {
  try {
    return causesOf(thrown).flatMap(framesOf).slice(0, FRAMES);
  } catch {
    return [];
  }
}

/** Extracts frames only after the message, because a message may contain text that looks like frames. */
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

/** The code of a system error; null: it has none. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** The value itself first. */
export function causesOf(thrown: unknown): unknown[] {
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
  if (thrown instanceof Error) return textsOf(thrown).message || textsOf(thrown).name;
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return String(thrown.message);
  return String(thrown);
}

/** Code may have put anything into an error. Throws if it cannot be converted. */
function textsOf({ name, message }: { name: unknown; message: unknown }): { name: string; message: string } {
  return { name: String(name), message: String(message) };
}
