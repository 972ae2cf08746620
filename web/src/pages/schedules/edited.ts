import type { ScheduleDraft } from './draft.ts';

/** What the fields of the form need. `faultOf`: by the names of the request. */
export type Edited = {
  draft: ScheduleDraft;
  faultOf: (path: string) => string | null;
  onChange: (changed: Partial<ScheduleDraft>) => void;
};
