/** Whether there is such a program, as the system looks for it. */
import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';

/** Null: there is. `places`: the folders where a name without a slash is looked for, as `PATH` has them. */
export async function lookUp(
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
    return error instanceof Error && 'code' in error && error.code === 'EACCES' ? 'EACCES' : 'ENOENT';
  }
}
