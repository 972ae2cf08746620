/** What a model is told of what a tool threw: its message and its causes', never a stack, whatever was thrown. */
import { truncate } from './truncate.ts';

/** Characters. A message may hold a whole response body. */
export const LONGEST_FAULT = 4_000;

/** How many causes are followed: `fetch failed` alone helps nobody. */
const DEPTH = 4;

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

function chain(thrown: unknown): string[] {
  const messages: string[] = [];
  let next = thrown;
  for (let depth = 0; depth < DEPTH && next !== undefined; depth++) {
    const message = messageOf(next);
    if (message !== messages.at(-1)) messages.push(message);
    next = next instanceof Error ? next.cause : undefined;
  }
  return messages;
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') {
    return thrown.errors.slice(0, DEPTH).map(messageOf).join('; ');
  }
  if (thrown instanceof Error) return thrown.message === '' ? thrown.name : thrown.message;
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return String(thrown.message);
  return String(thrown);
}
