/** Limits for messages between workers, so that two workers cannot answer each other for ever. */
import { NO_LIMITS, type TenantLimits } from '../access/quotas.ts';
import { LIMITS } from '../limits.ts';

export type PeerLimits = {
  /** Queued inputs of one context. */
  queuedInputs: number;
  /** Maximum length of a chain of messages between workers that one input starts. */
  hops: number;
  /** Messages that one worker sends per minute. */
  messagesPerMinute: number;
  /** Limits of tenants that have none of their own. */
  tenantLimits: TenantLimits;
};

export const PEER_LIMITS: PeerLimits = {
  queuedInputs: LIMITS.queuedInputs,
  hops: LIMITS.hops,
  messagesPerMinute: LIMITS.messagesPerMinute,
  tenantLimits: NO_LIMITS,
};
