import type { Faults } from './changes.ts';
import type { ConfigDraft } from './draft.ts';

/** A config that is edited. */
export type EditedConfig = {
  draft: ConfigDraft;
  faults: Faults;
  isReadOnly: boolean;
  /** What is shown for fields that are not set. */
  unset: { model: string; choice: string; tools?: string };
  onChange: (changed: Partial<ConfigDraft>) => void;
};
