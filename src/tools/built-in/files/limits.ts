/** What an operator says of workspaces. */

/** `fileBytes`: of one file. `totalBytes`, `entries`: of all that lies in one workspace. */
export type FileLimits = { fileBytes: number; totalBytes: number; entries: number };

export const FILE_LIMITS: FileLimits = { fileBytes: 1_000_000, totalBytes: 100_000_000, entries: 10_000 };
