/** Removes what lies in a workspace, directory by directory; a link goes, and what it leads to stays. */
import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { ToolFault } from '../../tool-fault.ts';
import { diskOf } from './survey.ts';
import type { Usage } from './survey.ts';
import { codeOf, faultOf, folderIn, itself, within } from './walk.ts';
import type { Folder } from './walk.ts';

/** A command may have made more than a path may have. Each is open while what is below it goes. */
const DEEPEST = 500;

/** What is gone; nothing, where nothing was there. `all`: of a directory, too, what lies in it. Throws `ToolFault`. */
export async function removed(
  folder: Folder,
  name: string,
  all: boolean,
  at: string,
  signal: AbortSignal,
): Promise<Usage> {
  const gone: Usage = { bytes: 0, entries: 0 };
  try {
    await remove(folder, name, { all, gone, signal }, at, 0);
  } catch (error) {
    throw codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST'
      ? new ToolFault(
          'directory_not_empty',
          `${at} is a directory with something in it: recursive: true removes that, too.`,
        )
      : faultOf(error, at);
  }
  return gone;
}

type Removal = { all: boolean; gone: Usage; signal: AbortSignal };

async function remove(
  folder: Folder,
  name: string,
  removal: Removal,
  at: string,
  depth: number,
): Promise<void> {
  removal.signal.throwIfAborted();
  const target = within(folder, name);
  const found = await lstat(target).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return;
  if (!found.isDirectory()) await unlink(target);
  else {
    if (depth > DEEPEST) throw new ToolFault('invalid_path', `${at} is too deep to be removed at once.`);
    if (removal.all) await empty(folder, name, removal, at, depth);
    await rmdir(target);
  }
  removal.gone.bytes += diskOf(found);
  removal.gone.entries += 1;
}

async function empty(
  folder: Folder,
  name: string,
  removal: Removal,
  at: string,
  depth: number,
): Promise<void> {
  const inner = await folderIn(folder, name, at);
  try {
    for (const one of await readdir(itself(inner))) {
      await remove(inner, one, removal, `${at}/${one}`, depth + 1);
    }
  } finally {
    await inner.handle.close();
  }
}
