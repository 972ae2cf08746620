/** Walks a workspace, directory by directory, in the order of names. Links are reported and not followed. */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { ToolFault } from '../../run/tool-fault.ts';
import { DEPTH, TEMPORARY, namesIn, openFolder, within, type Folder } from './walk.ts';

type EntryType = 'file' | 'directory' | 'link' | 'other';

/** `size`: the file size; `disk`: the space used on disk, in bytes. */
type Entry = { name: string; type: EntryType; size: number; disk: number };

/** The block size of `stat`. */
const BLOCK = 512;

/** Bytes. */
export function diskOf({ blocks }: Stats): number {
  return blocks * BLOCK;
}

/** The entries of a directory, without temporary files. Rejects when `signal` is aborted. */
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

/** What is visited: the directory `names` of a workspace, and no more than `most` entries in it and below. */
type Scope = { root: string; names: readonly string[]; most: number; signal: AbortSignal };

/** A directory that is visited, with its entries. */
export type Visited = { at: readonly string[]; entries: readonly Entry[]; folder: Folder };

/**
 * Visits a directory and all directories below, up to the maximum depth, while `visit` returns true. Rejects when
 * `signal` is aborted.
 */
export async function survey(
  { root, names, most, signal }: Scope,
  visit: (visited: Visited) => Promise<boolean>,
): Promise<{ complete: boolean }> {
  const due: string[][] = [[...names]];
  let left = most;
  let complete = true;
  for (let at = due.shift(); at !== undefined; at = due.shift()) {
    const here = at;
    signal.throwIfAborted();
    const folder = await openFolder(root, here).catch((error: unknown) => {
      // The directory was removed or replaced by a link since it was listed.
      if (here.length > names.length && error instanceof ToolFault) return null;
      throw error;
    });
    if (folder === null) continue;
    try {
      const { entries, more } = await entriesIn(folder, left, signal);
      left -= entries.length;
      if (!(await visit({ at: here, entries, folder })) || more) return { complete: false };
      const below = entries.filter(({ type }) => type === 'directory').map(({ name }) => [...here, name]);
      if (here.length < DEPTH) due.unshift(...below);
      else complete &&= below.length === 0;
    } finally {
      await folder.handle.close();
    }
  }
  return { complete };
}

/** The usage of a workspace: bytes on disk and number of entries. */
export type DiskUsage = { bytes: number; entries: number };

/** Counts the usage. If the count is incomplete, `entries` is greater than `most`. */
export async function usage(root: string, most: number, signal: AbortSignal): Promise<DiskUsage> {
  let [bytes, entries] = [0, 0];
  const { complete } = await survey({ root, names: [], most, signal }, async ({ entries: found }) => {
    entries += found.length;
    for (const { disk } of found) bytes += disk;
    return true;
  });
  return { bytes, entries: complete ? entries : Math.max(entries, most) + 1 };
}
