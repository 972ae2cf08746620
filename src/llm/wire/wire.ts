/** The types shared by this folder: what differs per provider, and what all calls have in common. */
import type { Ids } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { FailureClass, ModelOutcome, ModelRequest } from '../../core/model/model.ts';
import type { LiveResponse } from './http/live-response.ts';
import type { Watch } from './http/watch.ts';

export type Wire<Client, Params> = {
  /** Loads the SDK. */
  load(): Promise<Client>;
  /** Pure. Throws `Unsupported` for content that this provider does not accept. */
  write(request: ModelRequest): Params;
  /** Resolves with the headers of a successful response and throws for everything else. */
  send(client: Client, params: Params, signal: AbortSignal): Promise<Response>;
  assembly(): Assembly;
  /** Pure: converts a complete answer of the provider. */
  answer(whole: JsonObject, ids: Ids): ModelOutcome;
};

/**
 * Assembles the events of a stream into the complete answer. `open`: the answer continues. `ended`: it is complete,
 * and a last event (usage) may follow. `closed`: nothing follows.
 */
export type Assembly = {
  take(data: JsonObject): Delta[];
  /** The stream's end marker (`[DONE]`). */
  takeEnd(): void;
  phase(): 'open' | 'ended' | 'closed';
  whole(): JsonObject;
};

export type Delta = { kind: 'text' | 'thinking'; delta: string };

/** The result of reading: a complete answer, one that broke off, or a network error. */
export type Received =
  | { kind: 'answered'; whole: JsonObject }
  | { kind: 'broken'; class: FailureClass; message: string }
  | { kind: 'threw'; error: unknown };

/** The body of a response, and the watch over its bytes. `idleMs`: the longest silence between them. */
export type Body = { bytes: Pick<LiveResponse, 'read'>; watch: Watch; idleMs: number };

export type Limits = {
  /** Silence that ends a call: between the bytes of a stream or of a complete body. */
  idleMs: number;
  /** Until the headers of a stream. */
  connectMs: number;
  /** Until the headers of a complete answer, which come when it is finished. */
  wholeMs: number;
};
