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
};

export const SCRIPT: Script = { steps: 5, latencyMs: 0, tokens: 16, tokenMs: 0 };

export type Reply = { kind: 'text'; words: string[] } | { kind: 'call'; id: string; input: string };

/** What a request says, whichever format it came in. */
export type Heard = { mark: string; results: number; prompt: number };

let calls = 0;

export function replyTo({ results }: Heard, { steps, tokens }: Script): Reply {
  if (results < steps - 1) {
    calls += 1;
    return { kind: 'call', id: `call_${calls}`, input: JSON.stringify({ place: `room ${results}` }) };
  }
  return { kind: 'text', words: Array.from({ length: tokens }, (_, index) => `word${index} `) };
}

export function markIn(text: string): string {
  return /#(\S+)/.exec(text)?.[1] ?? '';
}
