/** What a replay of a job is made from. */
import type { Json, OutputSchema } from 'nightshift/client';

/** `ask`: a person approves each call. `none`: the model gets no tools. `same`: as the context has them. */
export const TOOL_MODES = ['ask', 'none', 'same'] as const;
export type ToolMode = (typeof TOOL_MODES)[number];

/** What the job was run with. `isExact`: neither prompt nor parameters have changed since. */
export type Settings = {
  model: string;
  systemPrompt: string;
  parameters: { [name: string]: Json };
  /** False: any text. Null: not known; that of the context is used. */
  outputSchema: OutputSchema | null;
  isExact: boolean;
};
