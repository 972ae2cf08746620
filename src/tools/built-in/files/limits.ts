/** The operator's settings of workspaces. */

/** `fileBytes`: for one file. `totalBytes`, `entries`: for one workspace. */
export type FileLimits = { fileBytes: number; totalBytes: number; entries: number };

export const FILE_LIMITS: FileLimits = { fileBytes: 1_000_000, totalBytes: 100_000_000, entries: 10_000 };
