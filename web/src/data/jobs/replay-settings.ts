/** What a replay of a job is made from. */
import type { Json, OutputSchema } from 'nightshift/client';

/** `ask`: calls wait for approval. `none`: the model gets no tools. `same`: as the context has them. */
export const TOOL_MODES = ['ask', 'none', 'same'] as const;
export type ToolMode = (typeof TOOL_MODES)[number];

export type Parameters = { [name: string]: Json };

/**
 * What the job was run with. `sent`: as in its first model call. `changed`: prompt or parameters were changed since, these
 * are the current ones. `current`: the job made no model call, these are the current settings of its worker.
 */
export type Settings = {
  from: 'sent' | 'changed' | 'current';
  model: string;
  systemPrompt: string;
  parameters: Parameters;
  /** False: any text. Null: not known; that of the context is used. */
  outputSchema: OutputSchema | null;
};

/** What the form of a replay shows when it is sent. */
export type Wanted = { model: string; systemPrompt: string; parameters: Parameters };
