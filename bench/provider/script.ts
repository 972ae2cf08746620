/**
 * The script of the fake provider. A run has `steps` model calls: each requests one tool call, and the last one returns
 * text. The step is determined by the number of tool results after the last input. A run is identified by the mark
 * (`#…`) in that input.
 */
export type Script = {
  steps: number;
  /** The delay before the first byte, in milliseconds. */
  latencyMs: number;
  /** Words of an answer, and milliseconds between them; without a delay, all are sent at once. */
  tokens: number;
  tokenMs: number;
  /** Each word contains its time of sending (`word7@81234567`), in milliseconds of the monotonic clock. */
  stamped: boolean;
  /** Keep each prompt, in the order in which a provider reads it. */
  keepsPrompts: boolean;
  /** Every nth request fails with 500, or with 429 and a retry-after of one second; 0: none. */
  failEvery: number;
  limitEvery: number;
};

export const SCRIPT: Script = {
  steps: 5,
  latencyMs: 0,
  tokens: 16,
  tokenMs: 0,
  stamped: false,
  keepsPrompts: false,
  failEvery: 0,
  limitEvery: 0,
};

export type Reply = { kind: 'text'; words: string[] } | { kind: 'call'; id: string; input: string };

/** The content of a request, independent of its format. */
export type ParsedRequest = { mark: string; results: number; prompt: number };

/** The placeholder for the time of sending. */
export const STAMP = '@now';

let calls = 0;

export function replyTo({ results }: ParsedRequest, { steps, tokens, stamped }: Script): Reply {
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

/** The error status of the `count`th request; null: it succeeds. */
export function refusalOf(count: number, { failEvery, limitEvery }: Script): 429 | 500 | null {
  if (limitEvery > 0 && count % limitEvery === 0) return 429;
  return failEvery > 0 && count % failEvery === 0 ? 500 : null;
}
