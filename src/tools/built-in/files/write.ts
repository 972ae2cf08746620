/**
 * Writes a file atomically: to a temporary file first, which is then renamed. A repeated call writes the same content
 * again, also over a temporary file left by a crash.
 */
import { constants } from 'node:fs';
import { lstat, open, rename, unlink } from 'node:fs/promises';
import { ToolFault } from '../../run/tool-fault.ts';
import { TEMPORARY, faultOf, inherit, linkRefused, within, type Place } from './walk.ts';
import { diskOf, type DiskUsage } from './survey.ts';

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

/** Returns the difference in usage. `key`: the same at every execution of the call. Throws `ToolFault`. */
export async function writeWhole({ folder, name, at }: Place, content: Buffer, key: string): Promise<DiskUsage> {
  const [temporary, target] = [within(folder, `${TEMPORARY}${key}`), within(folder, name)];
  try {
    const there = await lstat(target).catch(() => null);
    if (there?.isSymbolicLink() === true) throw linkRefused(at);
    if (there !== null && !there.isFile()) throw new ToolFault('not_a_file', `${at} is not a regular file.`);
    await unlink(temporary).catch(() => undefined);
    const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
    let bytes: number;
    try {
      await inherit(folder, handle);
      await handle.writeFile(content);
      await handle.sync();
      bytes = diskOf(await handle.stat());
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
    await folder.handle.sync();
    return there === null ? { bytes, entries: 1 } : { bytes: bytes - diskOf(there), entries: 0 };
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw faultOf(error, at);
  }
}
