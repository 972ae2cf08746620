/** What a replay changes of the settings that the job was run with. Pure. */
import type { ConfigPatch } from 'nightshift/client';
import { FIELDS } from '../../../config-editor/fields.ts';
import type { Settings } from '../../../data/jobs/replay-settings.ts';

export type ReplayDraft = { model: string; systemPrompt: string; parameters: string };

/**
 * `configured`: the model that the worker has now, and so has the fork. The prompt and the parameters of a fork are the
 * current ones, too, which `settings` has if they changed. `patch` null: a field is wrong. `fault`: of the parameters.
 */
export function toPatch(
  { systemPrompt, parameters }: Settings,
  configured: string,
  draft: ReplayDraft,
): { patch: ConfigPatch | null; fault: string | null } {
  const written = draft.parameters.trim() === '' ? '{}' : draft.parameters;
  const read = FIELDS.parameters.read(written);
  if (read.kind === 'wrong') return { patch: null, fault: read.message };
  const model = draft.model.trim();
  if (model === '') return { patch: null, fault: null };
  const patch: ConfigPatch = {};
  if (model !== configured) patch.model = model;
  if (draft.systemPrompt !== systemPrompt) patch.system_prompt = draft.systemPrompt;
  const { value } = read;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject && JSON.stringify(value) !== JSON.stringify(parameters)) patch.parameters = value;
  return { patch, fault: null };
}
