/**
 * Opens what lies in a workspace, one name after the other, each within the directory that was opened before it, and
 * follows no link: what somebody puts in the way meanwhile is not gone through. On Linux a directory is walked by its open
 * descriptor (`/proc/self/fd`), so that there is no path to be changed. Elsewhere the system refuses links in the whole
 * path (macOS), or the path is taken as it is found (narrower, but not free of races).
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, opendir } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { ToolFault } from '../../tool-fault.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Of macOS: no link anywhere in the path. */
const O_NOFOLLOW_ANY = process.platform === 'darwin' ? 0x2000_0000 : 0;

/** Begins the names of files that are being written, which nobody is to see. */
export const TEMPORARY = '.nightshift-write-';

/** Folders that may lie within one another. */
export const DEPTH = 32;

/** Names of a directory that are read in one call of the system. */
const NAMES_AT_ONCE = 256;

/** A directory that is open. `made`: how many were made on the way to it. */
export type Folder = { handle: FileHandle; path: string; made: number };

/** The names of a path within a workspace; none: the workspace itself. Throws `ToolFault`. */
export function namesOf(text: string): string[] {
  if (text.includes('\0') || text.length > 4_000) {
    throw new ToolFault('invalid_path', 'The path cannot be one of a file.');
  }
  if (path.posix.isAbsolute(text) || path.win32.isAbsolute(text)) {
    throw new ToolFault('path_outside', 'The path must be relative to the workspace.');
  }
  if (text.includes('\\')) {
    throw new ToolFault('invalid_path', 'Names in a path are separated by /, and hold no backslash.');
  }
  const names = path.posix
    .normalize(text)
    .split('/')
    .filter((name) => name !== '' && name !== '.');
  if (names.length > DEPTH + 1) {
    throw new ToolFault('invalid_path', `A path may lead through ${DEPTH} directories, not more.`);
  }
  if (names.includes('..')) throw new ToolFault('path_outside', 'The path leads out of the workspace.');
  if (names.some((name) => name.startsWith(TEMPORARY))) {
    throw new ToolFault(
      'invalid_path',
      `Names that begin with ${TEMPORARY} are kept for files on their way.`,
    );
  }
  return names;
}

/** `make`: directories that are missing are made. The caller closes what it gets. */
export async function openFolder(root: string, names: readonly string[], make = false): Promise<Folder> {
  let folder = await folderAt(root, '');
  for (const [depth, name] of names.entries()) {
    const at = names.slice(0, depth + 1).join('/');
    try {
      const made = make && (await madeFolder(within(folder, name))) ? 1 : 0;
      const next = await folderAt(within(folder, name), at, path.join(folder.path, name), folder.made + made);
      if (make) await inherit(folder, next.handle);
      await folder.handle.close();
      folder = next;
    } catch (error) {
      await folder.handle.close();
      throw faultOf(error, at);
    }
  }
  return folder;
}

/** False: it was there. */
async function madeFolder(where: string): Promise<boolean> {
  try {
    await mkdir(where);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function folderAt(where: string, at: string, real = where, made = 0): Promise<Folder> {
  const handle = await open(where, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NOFOLLOW_ANY).catch(
    async (error: unknown) => {
      // Linux tells a link from a file by no code of its own here.
      const isLink = codeOf(error) === 'ENOTDIR' && (await lstat(where).catch(() => null))?.isSymbolicLink();
      throw isLink === true ? linkRefused(at) : faultOf(error, at);
    },
  );
  return { handle, path: real, made };
}

/** One that lies in an open one. Throws `ToolFault`. The caller closes it. */
export function folderIn(folder: Folder, name: string, at: string): Promise<Folder> {
  return folderAt(within(folder, name), at, path.join(folder.path, name));
}

/** Root makes files for whoever runs commands in the workspace. */
export async function inherit(folder: Folder, made: FileHandle): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await folder.handle.stat();
  await made.chown(uid, gid);
}

export function linkRefused(at: string): ToolFault {
  return new ToolFault('link_refused', `${at} is a link, or leads through one.`);
}

/** The path of a name within an open directory. */
export function within({ handle, path: real }: Folder, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : path.join(real, name);
}

/** The names in an open directory, in no order. One may have millions of them: rejects once `signal` is aborted. */
export async function namesIn(folder: Folder, signal: AbortSignal): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(itself(folder), { bufferSize: NAMES_AT_ONCE })) {
    signal.throwIfAborted();
    names.push(name);
  }
  return names;
}

/** The path of an open directory itself. */
function itself({ handle, path: real }: Folder): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/.` : real;
}

/**
 * A regular file with one name only: what has more may be a file from elsewhere. A pipe or a device is not waited for.
 * The caller closes it.
 */
export async function openFile(folder: Folder, name: string, at: string): Promise<FileHandle> {
  const handle = await open(within(folder, name), O_RDONLY | O_NOFOLLOW | O_NOFOLLOW_ANY | O_NONBLOCK).catch(
    (error: unknown) => {
      throw faultOf(error, at);
    },
  );
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new ToolFault('not_a_file', `${at} is no regular file.`);
    if (found.nlink > 1)
      throw new ToolFault('link_refused', `${at} is a file with several names (hard links).`);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** What the system says, as a tool says it; anything else as it is. */
export function faultOf(error: unknown, at: string): unknown {
  if (error instanceof ToolFault) return error;
  const what = at === '' ? 'The workspace' : at;
  switch (codeOf(error)) {
    case 'ENOENT':
      return new ToolFault('not_found', `${what} does not exist.`);
    case 'ELOOP':
    case 'EMLINK':
      return linkRefused(what);
    case 'ENOTDIR':
      return new ToolFault('not_a_directory', `${what} is no directory.`);
    case 'EISDIR':
      return new ToolFault('not_a_file', `${what} is a directory.`);
    case 'ENAMETOOLONG':
      return new ToolFault('invalid_path', `${what} is too long a name.`);
    case 'ENXIO':
      return new ToolFault('not_a_file', `${what} is no regular file.`);
    case 'ENOSPC':
    case 'EDQUOT':
      return new ToolFault('quota_exceeded', 'There is no space left.');
    case null:
    default:
      return error;
  }
}

export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
