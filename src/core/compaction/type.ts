/** `none`: a prompt that is too long fails its job. */
export const COMPACTION_TYPES = ['threshold', 'llm', 'none'] as const;
export type CompactionType = (typeof COMPACTION_TYPES)[number];

export const COMPACTOR_TYPES = ['threshold', 'llm'] as const satisfies readonly CompactionType[];
export type CompactorType = (typeof COMPACTOR_TYPES)[number];
