/** The settings of a context as form values: its title, and the config of its worker. */
import type { Context, PatchContext } from 'nightshift/client';
import { CONFIG_MEMBERS, readChanges, type Faults } from '../../../config-editor/changes.ts';
import { toConfigDraft, type ConfigDraft } from '../../../config-editor/draft.ts';
import { FIELDS } from '../../../config-editor/fields.ts';
import { contextSettingsWords } from '../../../words.ts';

export type Draft = ConfigDraft & { title: string };

export type Member = keyof Draft;

export const MEMBERS: readonly Member[] = ['title', ...CONFIG_MEMBERS];

export function labelOf(member: Member): string {
  return member === 'title' ? contextSettingsWords.contextTitle : FIELDS[member].label;
}

export function toDraft({ title, config }: Pick<Context, 'title' | 'config'>): Draft {
  return { title: title ?? '', ...toConfigDraft(config) };
}

/** `patch` has only changed fields; it is null if a field cannot be read. */
export function toPatch(base: Draft, draft: Draft): { patch: PatchContext | null; faults: Faults } {
  const { patch: config, faults } = readChanges(base, draft);
  if (config === null) return { patch: null, faults };
  const title = draft.title.trim();
  const patch = {
    ...(draft.title === base.title || title === base.title ? {} : { title: title === '' ? null : title }),
    ...(Object.keys(config).length === 0 ? {} : { config }),
  };
  return { patch, faults };
}
