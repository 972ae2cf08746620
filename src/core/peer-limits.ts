/** What bounds the talk between workers, so that two that answer each other for ever come to an end. */
import { LIMITS } from './limits.ts';

export type PeerLimits = {
  /** Queued inputs of one context. */
  queuedInputs: number;
  /** Workers that pass on what one input brought about, one to the next. */
  hops: number;
  /** Messages that one worker sends within a minute. */
  messagesPerMinute: number;
};

/** What holds where the operator says nothing. */
export const PEER_LIMITS: PeerLimits = {
  queuedInputs: LIMITS.queuedInputs,
  hops: LIMITS.hops,
  messagesPerMinute: LIMITS.messagesPerMinute,
};
