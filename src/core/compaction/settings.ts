/** How a worker's prompts are kept within its context limit. */
import type { ModelName, ProviderName } from '../model/model.ts';
import type { CompactionType, CompactorType } from './type.ts';

/** As written by a client. Missing fields take `COMPACTION_DEFAULTS`. */
export type CompactionConfig = {
  type?: CompactionType;
  /** Share of the context limit, above 0 and up to 1. */
  threshold?: number;
  keep_turns?: number;
  /** `provider/model` that summarises; default: the worker's own model. */
  model?: string;
};

/** A client's request for one compaction. Missing fields take the worker's settings. */
export type AskedCompaction = { type?: CompactorType; keep_turns?: number; model?: string };

export type CompactionSettings = {
  type: CompactionType;
  threshold: number;
  keepTurns: number;
  model: ModelName | null;
};

export const COMPACTION_DEFAULTS: CompactionSettings = {
  type: 'threshold',
  threshold: 0.8,
  keepTurns: 4,
  model: null,
};

/** Limits for these settings. */
export const KEEP_TURNS = { most: 1_000 } as const;
export const CONTEXT_LIMIT = { least: 1_000 } as const;

/**
 * Default context limit in tokens, by provider: that of the smallest model in common use there. A limit that is too
 * low compacts early; one that is too high leads to a refusal by the provider, which also triggers compaction.
 */
export const CONTEXT_LIMITS: Readonly<Record<ProviderName, number>> = {
  anthropic: 200_000,
  openai: 128_000,
  'openai-chat': 128_000,
  simulated: 1_000_000,
};
