/** Removes files and directories of a workspace. A link is removed, its target is not. */
import { lstat, rmdir, unlink } from 'node:fs/promises';
import { codeOf } from '../../run/fault.ts';
import { ToolFault } from '../../run/tool-fault.ts';
import { diskOf, type DiskUsage } from './survey.ts';
import { faultOf, folderIn, inFolder, namesIn, within, type Place } from './walk.ts';

/** Commands can nest directories deeper than a path may be. Each level stays open while its content is removed. */
const DEEPEST = 500;

/** Returns what was removed; zero if nothing existed. `all`: also the content of a directory. Throws `ToolFault`. */
export async function removed(target: Place, all: boolean, signal: AbortSignal): Promise<DiskUsage> {
  const { at } = target;
  const removedUsage: DiskUsage = { bytes: 0, entries: 0 };
  try {
    await remove(target, 0, { all, removedUsage, signal });
  } catch (error) {
    throw codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST'
      ? new ToolFault(
          'directory_not_empty',
          `${at} is a directory that is not empty. Pass recursive: true to remove it with its content.`,
        )
      : faultOf(error, at);
  }
  return removedUsage;
}

type Removal = { all: boolean; removedUsage: DiskUsage; signal: AbortSignal };

/** `depth`: levels below the removed path. */
async function remove(target: Place, depth: number, removal: Removal): Promise<void> {
  removal.signal.throwIfAborted();
  const { folder, name, at } = target;
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
    if (removal.all) await empty(target, depth, removal);
    await rmdir(place);
  }
  removal.removedUsage.bytes += diskOf(found);
  removal.removedUsage.entries += 1;
}

async function empty(target: Place, depth: number, removal: Removal): Promise<void> {
  await inFolder(folderIn(target), async (folder) => {
    for (const name of await namesIn(folder, removal.signal)) {
      await remove({ folder, name, at: `${target.at}/${name}` }, depth + 1, removal);
    }
  });
}
