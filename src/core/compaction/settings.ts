/** How a worker's prompts are kept within its context limit. */
import type { ModelName, ProviderName } from '../model.ts';
import type { CompactionType, CompactorType } from './type.ts';

/** As a client writes it. What it leaves out falls to `COMPACTION_DEFAULTS`. */
export type CompactionConfig = {
  type?: CompactionType;
  /** Share of the context limit, above 0 and up to 1. */
  threshold?: number;
  keep_turns?: number;
  /** `provider/model` that summarises; left out: the one that answers. */
  model?: string;
};

/** As a client asks for one compaction: what it leaves out is as the worker is set. */
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

/** Bounds of what is written. */
export const KEEP_TURNS = { most: 1_000 } as const;
export const CONTEXT_LIMIT = { least: 1_000 } as const;

/**
 * Tokens of a prompt where nobody says otherwise, by provider: what the smallest of the models takes that are in common use
 * there. Too low compacts early; too high is found out by the provider's refusal, which compacts as well.
 */
export const CONTEXT_LIMITS: Readonly<Record<ProviderName, number>> = {
  anthropic: 200_000,
  openai: 128_000,
  'openai-chat': 128_000,
  simulated: 1_000_000,
};
