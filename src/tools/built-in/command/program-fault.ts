/** Checks whether a program exists and is executable, the way the system searches for it. */
import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../run/fault.ts';

/** Null: the program exists. `places`: the folders to search for a name without a slash, in the format of `PATH`. */
export async function programFault(
  command: string,
  workspace: string,
  places: string,
): Promise<'ENOENT' | 'EACCES' | null> {
  const files = command.includes('/')
    ? [path.resolve(workspace, command)]
    : places.split(':').map((place) => path.resolve(workspace, place, command));
  const found = await Promise.all(files.map(look));
  if (found.includes(null)) return null;
  return found.includes('EACCES') ? 'EACCES' : 'ENOENT';
}

async function look(file: string): Promise<'ENOENT' | 'EACCES' | null> {
  try {
    if (!(await stat(file)).isFile()) return 'EACCES';
    await access(file, constants.X_OK);
    return null;
  } catch (error) {
    return codeOf(error) === 'EACCES' ? 'EACCES' : 'ENOENT';
  }
}
