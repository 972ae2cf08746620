/** Goes through a workspace, directory by directory, in the order of names; links are seen, and not followed. */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { ToolFault } from '../../tool-fault.ts';
import { DEPTH, TEMPORARY, namesIn, openFolder, within } from './walk.ts';
import type { Folder } from './walk.ts';

export type EntryType = 'file' | 'directory' | 'link' | 'other';

/** `size`: as it says itself; `disk`: what it takes there, in bytes. */
export type Entry = { name: string; type: EntryType; size: number; disk: number };

/** A block, as `stat` counts them. */
const BLOCK = 512;

/** Bytes. */
export function diskOf({ blocks }: Stats): number {
  return blocks * BLOCK;
}

/** What lies in a directory, but for what is only on its way there. Rejects once `signal` is aborted. */
export async function entriesIn(
  folder: Folder,
  most: number,
  signal: AbortSignal,
): Promise<{ entries: Entry[]; more: boolean }> {
  const names = (await namesIn(folder, signal)).filter((name) => !name.startsWith(TEMPORARY)).sort();
  const entries: Entry[] = [];
  for (const name of names.slice(0, most)) {
    signal.throwIfAborted();
    const found = await lstat(within(folder, name)).catch(() => null);
    if (found === null) continue;
    const type: EntryType = found.isFile()
      ? 'file'
      : found.isDirectory()
        ? 'directory'
        : found.isSymbolicLink()
          ? 'link'
          : 'other';
    entries.push({ name, type, size: type === 'file' ? found.size : 0, disk: diskOf(found) });
  }
  return { entries, more: names.length > most };
}

/**
 * All directories below `names`, itself first, while `visit` says so. At most `most` entries are looked at, in folders that are
 * not too deep. Rejects once `signal` is aborted.
 */
export async function survey(
  root: string,
  names: readonly string[],
  most: number,
  signal: AbortSignal,
  visit: (at: readonly string[], entries: readonly Entry[], folder: Folder) => Promise<boolean>,
): Promise<{ complete: boolean }> {
  const due: string[][] = [[...names]];
  let left = most;
  let complete = true;
  for (let at = due.shift(); at !== undefined; at = due.shift()) {
    const here = at;
    signal.throwIfAborted();
    const folder = await openFolder(root, here).catch((error: unknown) => {
      // What went away, or became a link, since it was seen is not there.
      if (here.length > names.length && error instanceof ToolFault) return null;
      throw error;
    });
    if (folder === null) continue;
    try {
      const { entries, more } = await entriesIn(folder, left, signal);
      left -= entries.length;
      if (!(await visit(here, entries, folder)) || more) return { complete: false };
      const below = entries.filter(({ type }) => type === 'directory').map(({ name }) => [...here, name]);
      if (here.length < DEPTH) due.unshift(...below);
      else complete &&= below.length === 0;
    } finally {
      await folder.handle.close();
    }
  }
  return { complete };
}

/** What lies in a workspace: bytes on disk, and how many entries. */
export type DiskUsage = { bytes: number; entries: number };

/** How much there is, up to what is too much: more than `most` entries, where it was not all seen. */
export async function usage(root: string, most: number, signal: AbortSignal): Promise<DiskUsage> {
  let [bytes, entries] = [0, 0];
  const { complete } = await survey(root, [], most, signal, async (_, found) => {
    entries += found.length;
    for (const { disk } of found) bytes += disk;
    return true;
  });
  return { bytes, entries: complete ? entries : Math.max(entries, most) + 1 };
}
