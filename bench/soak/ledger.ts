/** Collects the actions and observations of the soak users until they are requested. */
import type { Account } from './protocol.ts';

type Times = 'posts' | 'finishes' | 'cancels';
export type Seen = Pick<Account, Times | 'done' | 'trouble'>;

const MOST_TROUBLE = 20;

let seen = nothing();

function nothing(): Seen {
  return { posts: [], finishes: [], cancels: [], done: {}, trouble: [] };
}

export function took(what: Times, ms: number): void {
  seen[what].push(ms);
}

export function did(what: string): void {
  seen.done[what] = (seen.done[what] ?? 0) + 1;
}

export function trouble(what: unknown): void {
  did('trouble');
  if (seen.trouble.length < MOST_TROUBLE) seen.trouble.push(String(what));
}

/** Since the last request. */
export function take(): Seen {
  const taken = seen;
  seen = nothing();
  return taken;
}
