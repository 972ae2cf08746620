/**
 * What the fake provider says. A run has `steps` model calls: each but the last asks for one tool call, the last answers in
 * words. Which one it is, is told by the results behind the last input; a run is known by the mark (`#…`) in that input.
 */
export type Script = {
  steps: number;
  /** Before the first byte, in milliseconds. */
  latencyMs: number;
  /** Words of an answer, and milliseconds between two of them; without any between, all are sent at once. */
  tokens: number;
  tokenMs: number;
  /** Each word says when it was sent (`word7@81234567`), in milliseconds of the monotonic clock. */
  stamped: boolean;
  /** Every so many requests one is answered with 500, or with 429 and a second to wait; 0: none. */
  failEvery: number;
  limitEvery: number;
};

export const SCRIPT: Script = {
  steps: 5,
  latencyMs: 0,
  tokens: 16,
  tokenMs: 0,
  stamped: false,
  failEvery: 0,
  limitEvery: 0,
};

export type Reply = { kind: 'text'; words: string[] } | { kind: 'call'; id: string; input: string };

/** What a request says, whichever format it came in. */
export type Heard = { mark: string; results: number; prompt: number };

/** Stands where a word is going to say when it was sent. */
export const STAMP = '@now';

let calls = 0;

export function replyTo({ results }: Heard, { steps, tokens, stamped }: Script): Reply {
  if (results < steps - 1) {
    calls += 1;
    return { kind: 'call', id: `call_${calls}`, input: JSON.stringify({ place: `room ${results}` }) };
  }
  const stamp = stamped ? STAMP : '';
  return { kind: 'text', words: Array.from({ length: tokens }, (_, index) => `word${index}${stamp} `) };
}

export function markIn(text: string): string {
  return /#(\S+)/.exec(text)?.[1] ?? '';
}

/** The status with which the `count`th request is refused; null: it is answered. */
export function refusalOf(count: number, { failEvery, limitEvery }: Script): 429 | 500 | null {
  if (limitEvery > 0 && count % limitEvery === 0) return 429;
  return failEvery > 0 && count % failEvery === 0 ? 500 : null;
}
