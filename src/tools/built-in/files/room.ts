/**
 * The quota of a workspace. The usage is counted once and cached beside the workspace in a file (`<workspace>.usage`).
 * Each change removes this file first and writes it again afterwards. If the process dies in between, the usage is
 * counted again.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { ToolFault } from '../../run/tool-fault.ts';
import type { FileLimits } from './limits.ts';
import { usage, type DiskUsage } from './survey.ts';
import { DEPTH } from './walk.ts';

/** The suffix of the usage file. */
export const USAGE_SUFFIX = '.usage';

/** The last queued change of each workspace in this process; the next one waits for it. */
const changes = new Map<string, Promise<unknown>>();

/** How often the usage of a workspace was invalidated while changes were queued. */
const invalidations = new Map<string, number>();

/** The room of a workspace: its folder and its quota. Work on it ends when `signal` is aborted. */
type Room = { root: string; limits: FileLimits; signal: AbortSignal };

/**
 * Runs changes one after the other. Throws `ToolFault` if there is no room for `more` bytes; a file that will be
 * replaced counts in full until then. `change` returns the difference in usage.
 */
export async function changing(room: Room, more: number, change: () => Promise<{ delta: DiskUsage }>): Promise<void> {
  const { root, limits } = room;
  const before = changes.get(root) ?? Promise.resolve();
  const thisChange = before.then(async () => {
    const invalidated = invalidations.get(root) ?? 0;
    const usage = await usageOf(room);
    if (more > 0) expectFit(usage, more, limits);
    await rm(root + USAGE_SUFFIX, { force: true });
    const { delta } = await change();
    if ((invalidations.get(root) ?? 0) === invalidated)
      await keep(root, { bytes: usage.bytes + delta.bytes, entries: usage.entries + delta.entries });
  });
  const settled = thisChange.catch(() => undefined);
  changes.set(root, settled);
  try {
    await thisChange;
  } finally {
    if (changes.get(root) === settled) {
      changes.delete(root);
      invalidations.delete(root);
    }
  }
}

/** Called before and after a command, which may change any file: invalidates the cached usage. */
export async function forgetUsage(root: string): Promise<void> {
  if (changes.has(root)) invalidations.set(root, (invalidations.get(root) ?? 0) + 1);
  await rm(root + USAGE_SUFFIX, { force: true });
}

/** Throws `ToolFault` if the workspace is full. */
export async function expectRoom(room: Room): Promise<void> {
  expectFit(await usageOf(room), 0, room.limits);
}

/** Whether the workspace exceeds its quota, by a new count. */
export async function isFull({ root, limits, signal }: Room): Promise<boolean> {
  const { bytes, entries } = await usage(root, limits.entries, signal);
  return bytes > limits.totalBytes || entries > limits.entries;
}

function expectFit({ bytes, entries }: DiskUsage, more: number, limits: FileLimits): void {
  if (bytes + more <= limits.totalBytes && entries < limits.entries) return;
  throw new ToolFault(
    'quota_exceeded',
    `The workspace is full. It may hold ${limits.totalBytes} bytes on disk in ${limits.entries} entries, at most ${DEPTH} directories deep. Remove files first.`,
  );
}

async function usageOf({ root, limits, signal }: Room): Promise<DiskUsage> {
  return (await kept(root)) ?? usage(root, limits.entries, signal);
}

async function kept(root: string): Promise<DiskUsage | null> {
  const text = await readFile(root + USAGE_SUFFIX, 'utf8').catch(() => '');
  const [, bytes, entries] = /^(\d{1,15}) (\d{1,15})\n$/.exec(text) ?? [];
  return bytes === undefined || entries === undefined ? null : { bytes: Number(bytes), entries: Number(entries) };
}

async function keep(root: string, { bytes, entries }: DiskUsage): Promise<void> {
  const file = root + USAGE_SUFFIX;
  await writeFile(`${file}.new`, `${Math.max(0, bytes)} ${Math.max(0, entries)}\n`);
  await rename(`${file}.new`, file);
}
