/** Removes files and directories of a workspace. A link is removed, its target is not. */
import { lstat, rmdir, unlink } from 'node:fs/promises';
import { ToolFault } from '../../run/tool-fault.ts';
import { diskOf } from './survey.ts';
import type { DiskUsage } from './survey.ts';
import { codeOf, faultOf, folderIn, namesIn, within } from './walk.ts';
import type { Folder } from './walk.ts';

/** Commands can nest directories deeper than a path may be. Each level stays open while its content is removed. */
const DEEPEST = 500;

/** Returns what was removed; zero if nothing existed. `all`: also the content of a directory. Throws `ToolFault`. */
export async function removed(
  folder: Folder,
  name: string,
  all: boolean,
  at: string,
  signal: AbortSignal,
): Promise<DiskUsage> {
  const gone: DiskUsage = { bytes: 0, entries: 0 };
  try {
    await remove({ folder, name, at, depth: 0 }, { all, gone, signal });
  } catch (error) {
    throw codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST'
      ? new ToolFault(
          'directory_not_empty',
          `${at} is a directory that is not empty. Pass recursive: true to remove it with its content.`,
        )
      : faultOf(error, at);
  }
  return gone;
}

type Removal = { all: boolean; gone: DiskUsage; signal: AbortSignal };

/** `at`: the path for messages; `depth`: levels below the removed path. */
type Target = { folder: Folder; name: string; at: string; depth: number };

async function remove(target: Target, removal: Removal): Promise<void> {
  removal.signal.throwIfAborted();
  const { folder, name, at, depth } = target;
  const place = within(folder, name);
  const found = await lstat(place).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return;
  if (!found.isDirectory()) await unlink(place);
  else {
    if (depth > DEEPEST)
      throw new ToolFault(
        'invalid_path',
        `${at} is nested too deeply to be removed in one call. Remove inner directories first.`,
      );
    if (removal.all) await empty(target, removal);
    await rmdir(place);
  }
  removal.gone.bytes += diskOf(found);
  removal.gone.entries += 1;
}

async function empty({ folder, name, at, depth }: Target, removal: Removal): Promise<void> {
  const inner = await folderIn(folder, name, at);
  try {
    for (const one of await namesIn(inner, removal.signal)) {
      await remove({ folder: inner, name: one, at: `${at}/${one}`, depth: depth + 1 }, removal);
    }
  } finally {
    await inner.handle.close();
  }
}
