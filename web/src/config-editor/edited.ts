import type { Faults } from './changes.ts';
import type { ConfigDraft } from './draft.ts';
import type { EffectiveOf } from './inherited.ts';

/** A config that is edited. */
export type EditedConfig = {
  draft: ConfigDraft;
  faults: Faults;
  isReadOnly: boolean;
  /** What applies to fields that are not set; null: unknown, so that every field is shown as if it had an own value. */
  effective: EffectiveOf | null;
  /** What is shown for fields that are not set, if it is unknown what applies. */
  unset: { model: string; choice: string; tools?: string };
  onChange: (changed: Partial<ConfigDraft>) => void;
};
