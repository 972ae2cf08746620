/** What differs from provider to provider, and what all calls share: the types that the rest of this folder speaks in. */
import type { Ids } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { FailureClass, ModelOutcome, ModelRequest } from '../../core/model.ts';

export type Wire = {
  prepare(request: ModelRequest): Prepared;
  assembly(): Assembly;
  /** Pure: a whole answer as the provider says it. */
  answer(whole: JsonObject, ids: Ids): ModelOutcome;
};

export type Prepared =
  /** `send` resolves with the headers of a success and throws for everything else. */
  | { kind: 'ready'; send(signal: AbortSignal): Promise<Response> }
  /** This provider cannot be told what the prompt holds. */
  | { kind: 'unsupported'; message: string };

/**
 * Puts the events of a stream together to what the same answer would have been whole. `open`: the answer goes on.
 * `ended`: it is complete, a last word (usage) may follow. `closed`: nothing follows.
 */
export type Assembly = {
  take(data: JsonObject): Delta[];
  /** The stream's own mark of its end (`[DONE]`). */
  takeEnd(): void;
  phase(): 'open' | 'ended' | 'closed';
  whole(): JsonObject;
};

export type Delta = { kind: 'text' | 'thinking'; delta: string };

/** What came of listening: a complete answer, one that broke off, or whatever the network threw. */
export type Received =
  | { kind: 'answered'; whole: JsonObject }
  | { kind: 'broken'; class: FailureClass; words: string }
  | { kind: 'threw'; error: unknown };

export type Limits = {
  /** Silence that ends a call: between the bytes of a stream, and of a whole body. */
  idleMs: number;
  /** Until the headers of a stream. */
  connectMs: number;
  /** Until the headers of a whole answer, which come when it is finished. */
  wholeMs: number;
};
