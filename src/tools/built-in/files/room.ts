/** The quota of a workspace. */
import { ToolFault } from '../../tool-fault.ts';
import type { FileLimits } from './limits.ts';
import { usage } from './survey.ts';

/** Throws `ToolFault` where there is no room for `more` bytes. What is there counts whole, also what is about to be replaced. */
export async function expectRoom(root: string, more: number, limits: FileLimits): Promise<void> {
  const { bytes, entries } = await usage(root, limits.entries);
  if (bytes + more <= limits.totalBytes && entries < limits.entries) return;
  throw new ToolFault(
    'quota_exceeded',
    `A workspace may hold ${limits.totalBytes} bytes in ${limits.entries} entries: something must be removed first.`,
  );
}
