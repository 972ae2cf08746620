/**
 * Opens paths in a workspace one name after the other, each within the directory opened before, and follows no links,
 * also not links created meanwhile. On Linux a directory is addressed by its open descriptor (`/proc/self/fd`), so the
 * path cannot be swapped. On macOS the system refuses links in the whole path. Elsewhere the path is used as is, which
 * leaves a small race window.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, opendir, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../run/fault.ts';
import { ToolFault } from '../../run/tool-fault.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** macOS: refuses links anywhere in the path. */
const O_NOFOLLOW_ANY = process.platform === 'darwin' ? 0x2000_0000 : 0;

/** The prefix of files that are being written; they are hidden from listings. */
export const TEMPORARY = '.nightshift-write-';

/** The maximum depth of directories. */
export const DEPTH = 32;

/** Directory entries read per system call. */
const NAMES_AT_ONCE = 256;

/** An open directory. `made`: the number of directories created on the way to it. */
export type Folder = { handle: FileHandle; path: string; made: number };

/** An entry of an open directory. `at`: its path in the workspace, for messages. */
export type Place = { folder: Folder; name: string; at: string };

/** The names of a path within a workspace; empty: the workspace itself. Throws `ToolFault`. */
export function namesOf(text: string): string[] {
  if (text.includes('\0') || text.length > 4_000) {
    throw new ToolFault('invalid_path', 'The path contains a NUL character or has more than 4000 characters.');
  }
  if (path.posix.isAbsolute(text) || path.win32.isAbsolute(text)) {
    throw new ToolFault('path_outside', 'The path is absolute; it must be relative to the workspace.');
  }
  if (text.includes('\\')) {
    throw new ToolFault('invalid_path', 'The path contains a backslash. Separate names with /.');
  }
  const names = path.posix
    .normalize(text)
    .split('/')
    .filter((name) => name !== '' && name !== '.');
  if (names.length > DEPTH + 1) {
    throw new ToolFault('invalid_path', `The path is too deep. At most ${DEPTH} nested directories are allowed.`);
  }
  if (names.includes('..')) throw new ToolFault('path_outside', 'The path leads out of the workspace.');
  if (names.some((name) => name.startsWith(TEMPORARY))) {
    throw new ToolFault('invalid_path', `Names that start with ${TEMPORARY} are reserved for temporary files.`);
  }
  return names;
}

/** `make`: missing directories are created. The caller closes the folder. */
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

/** Closes the folder after `work`. */
export async function inFolder<T>(opening: Promise<Folder>, work: (folder: Folder) => Promise<T>): Promise<T> {
  const folder = await opening;
  try {
    return await work(folder);
  } finally {
    await folder.handle.close();
  }
}

/** False: the folder already existed. */
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
      // Linux reports ENOTDIR for links as well as for files.
      const isLink = codeOf(error) === 'ENOTDIR' && (await lstat(where).catch(() => null))?.isSymbolicLink();
      throw isLink === true ? linkRefused(at) : faultOf(error, at);
    },
  );
  return { handle, path: real, made };
}

/** Opens a directory in an open one. Throws `ToolFault`. The caller closes it. */
export function folderIn({ folder, name, at }: Place): Promise<Folder> {
  return folderAt(within(folder, name), at, path.join(folder.path, name));
}

/** Files created by root get the owner of the directory, so that commands in the workspace can use them. */
export async function inherit(folder: Folder, made: FileHandle): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await folder.handle.stat();
  await made.chown(uid, gid);
}

export function linkRefused(at: string): ToolFault {
  return new ToolFault('link_refused', `${at} is a link or contains one. Links are not followed.`);
}

/** The path of a name within an open directory. */
export function within({ handle, path: real }: Folder, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : path.join(real, name);
}

/** The names in an open directory, unordered. There may be millions, so it rejects when `signal` is aborted. */
export async function namesIn(folder: Folder, signal: AbortSignal): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(within(folder, '.'), { bufferSize: NAMES_AT_ONCE })) {
    signal.throwIfAborted();
    names.push(name);
  }
  return names;
}

/**
 * Opens a regular file that has only one hard link; a file with several may come from outside. Never blocks on a pipe
 * or device. The caller closes it.
 */
export async function openFile({ folder, name, at }: Place): Promise<FileHandle> {
  const handle = await open(within(folder, name), O_RDONLY | O_NOFOLLOW | O_NOFOLLOW_ANY | O_NONBLOCK).catch(
    (error: unknown) => {
      throw faultOf(error, at);
    },
  );
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new ToolFault('not_a_file', `${at} is not a regular file.`);
    if (found.nlink > 1) throw new ToolFault('link_refused', `${at} has several hard links and is refused.`);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Converts a system error to a ToolFault; other errors stay as they are. */
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
      return new ToolFault('not_a_directory', `${what} is not a directory.`);
    case 'EISDIR':
      return new ToolFault('not_a_file', `${what} is a directory.`);
    case 'ENAMETOOLONG':
      return new ToolFault('invalid_path', `The name ${what} is too long.`);
    case 'ENXIO':
      return new ToolFault('not_a_file', `${what} is not a regular file.`);
    case 'ENOSPC':
    case 'EDQUOT':
      return new ToolFault('quota_exceeded', 'The disk is full.');
    case null:
    default:
      return error;
  }
}
