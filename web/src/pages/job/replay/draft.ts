/** Reads the form of a replay. Pure. */
import { FIELDS } from '../../../config-editor/fields.ts';
import type { Settings, Wanted } from '../../../data/jobs/replay-settings.ts';

/** `parameters`: as JSON. */
export type ReplayDraft = { model: string; systemPrompt: string; parameters: string };

export function toDraft({ model, systemPrompt, parameters }: Omit<Settings, 'from' | 'outputSchema'>): ReplayDraft {
  return { model, systemPrompt, parameters: JSON.stringify(parameters, null, 2) };
}

/** `wanted` null: a field is wrong. `fault`: of the parameters. */
export function readDraft(draft: ReplayDraft): { wanted: Wanted | null; fault: string | null } {
  const written = draft.parameters.trim() === '' ? '{}' : draft.parameters;
  const read = FIELDS.parameters.read(written);
  if (read.kind === 'wrong') return { wanted: null, fault: read.message };
  const model = draft.model.trim();
  const { value } = read;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (model === '' || !isObject) return { wanted: null, fault: null };
  return { wanted: { model, systemPrompt: draft.systemPrompt, parameters: value }, fault: null };
}
