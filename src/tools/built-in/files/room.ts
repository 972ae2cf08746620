/**
 * The quota of a workspace. What lies in it is counted once, and kept beside it in a file (`<workspace>.usage`), which is removed
 * before anything changes and written again when that is over: where a process died in between, it is counted again.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { ToolFault } from '../../tool-fault.ts';
import type { FileLimits } from './limits.ts';
import { usage } from './survey.ts';
import type { DiskUsage } from './survey.ts';
import { DEPTH } from './walk.ts';

/** Beside a workspace. */
export const USAGE_SUFFIX = '.usage';

/** Of each workspace that is changed by this process: the change that others come behind. */
const changes = new Map<string, Promise<unknown>>();

/** How often what is in a workspace became uncertain, while it is changed. */
const doubts = new Map<string, number>();

/**
 * One change after the other, where there is room for `more` bytes; else throws `ToolFault`. What is about to be replaced counts
 * whole until it is. `change` gives what there is more of afterwards.
 */
export async function changing(
  root: string,
  more: number,
  limits: FileLimits,
  signal: AbortSignal,
  change: () => Promise<{ delta: DiskUsage }>,
): Promise<void> {
  const before = changes.get(root) ?? Promise.resolve();
  const mine = before.then(async () => {
    const doubt = doubts.get(root) ?? 0;
    const held = await usageOf(root, limits, signal);
    if (more > 0) expectFit(held, more, limits);
    await rm(root + USAGE_SUFFIX, { force: true });
    const { delta } = await change();
    if ((doubts.get(root) ?? 0) === doubt)
      await keep(root, { bytes: held.bytes + delta.bytes, entries: held.entries + delta.entries });
  });
  const settled = mine.catch(() => undefined);
  changes.set(root, settled);
  try {
    await mine;
  } finally {
    if (changes.get(root) === settled) {
      changes.delete(root);
      doubts.delete(root);
    }
  }
}

/** Before and after a command, which may change anything: the workspace is counted again. */
export async function forgetUsage(root: string): Promise<void> {
  if (changes.has(root)) doubts.set(root, (doubts.get(root) ?? 0) + 1);
  await rm(root + USAGE_SUFFIX, { force: true });
}

/** Throws `ToolFault` where there is no room for anything. */
export async function expectRoom(root: string, limits: FileLimits, signal: AbortSignal): Promise<void> {
  expectFit(await usageOf(root, limits, signal), 0, limits);
}

/** Whether there is more than may be, counted anew. */
export async function isFull(root: string, limits: FileLimits, signal: AbortSignal): Promise<boolean> {
  const { bytes, entries } = await usage(root, limits.entries, signal);
  return bytes > limits.totalBytes || entries > limits.entries;
}

function expectFit({ bytes, entries }: DiskUsage, more: number, limits: FileLimits): void {
  if (bytes + more <= limits.totalBytes && entries < limits.entries) return;
  throw new ToolFault(
    'quota_exceeded',
    `A workspace may hold ${limits.totalBytes} bytes on disk in ${limits.entries} entries, ${DEPTH} directories deep: something must be removed first.`,
  );
}

async function usageOf(root: string, limits: FileLimits, signal: AbortSignal): Promise<DiskUsage> {
  return (await kept(root)) ?? usage(root, limits.entries, signal);
}

async function kept(root: string): Promise<DiskUsage | null> {
  const text = await readFile(root + USAGE_SUFFIX, 'utf8').catch(() => '');
  const [, bytes, entries] = /^(\d{1,15}) (\d{1,15})\n$/.exec(text) ?? [];
  return bytes === undefined || entries === undefined
    ? null
    : { bytes: Number(bytes), entries: Number(entries) };
}

async function keep(root: string, { bytes, entries }: DiskUsage): Promise<void> {
  const file = root + USAGE_SUFFIX;
  await writeFile(`${file}.new`, `${Math.max(0, bytes)} ${Math.max(0, entries)}\n`);
  await rename(`${file}.new`, file);
}
