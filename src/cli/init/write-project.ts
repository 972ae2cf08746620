/** Writes the files of a project: all or none. Never overwrites a file. */
import { chmod, link, mkdir, mkdtemp, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CommandError, EXIT } from '../exit.ts';
import type { ProjectFile } from './project.ts';

const NEW_FOLDER = 0o755;

/** Throws CommandError if one of the files exists, or if the folder cannot be written. */
export async function writeProject(folder: string, files: readonly ProjectFile[]): Promise<void> {
  await refuseExisting(folder, files);
  try {
    const above = path.dirname(folder);
    await mkdir(above, { recursive: true });
    if ((await namesIn(folder)) === null) await writeNew(folder, above, files);
    else await writeInto(folder, files);
  } catch (error) {
    throw error instanceof CommandError
      ? error
      : refused(`The folder ${folder} cannot be written: ${reasonOf(error)}.`);
  }
}

async function refuseExisting(folder: string, files: readonly ProjectFile[]): Promise<void> {
  const names = (await namesIn(folder)) ?? [];
  const existing = files.map(({ file }) => file).filter((file) => names.includes(file));
  if (existing.length === 0) return;
  throw refused(
    `The folder ${folder} has these files already: ${existing.join(', ')}. Nothing was written. Name another folder, such as my-agents.`,
  );
}

/** Paths of all that is in the folder, two levels deep. Null: it does not exist. */
async function namesIn(folder: string): Promise<string[] | null> {
  const found = await stat(folder).catch(() => null);
  if (found === null) return null;
  if (!found.isDirectory()) throw refused(`${folder} is not a folder. Nothing was written.`);
  const names = await readdir(folder, { withFileTypes: true });
  const below = names
    .filter((one) => one.isDirectory() && !['node_modules', '.git', '.nightshift'].includes(one.name))
    .map(async ({ name }) => (await readdir(path.join(folder, name))).map((inner) => path.join(name, inner)));
  return [...names.map(({ name }) => name), ...(await Promise.all(below)).flat()];
}

/** The folder appears with all its files, also if the process dies before. */
async function writeNew(folder: string, above: string, files: readonly ProjectFile[]): Promise<void> {
  const fresh = await mkdtemp(path.join(above, `.${path.basename(folder)}-`));
  try {
    await chmod(fresh, NEW_FOLDER);
    await writeAll(fresh, files);
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw error;
  }
}

/** A file that appeared meanwhile stays, and then those that were written are removed. */
async function writeInto(folder: string, files: readonly ProjectFile[]): Promise<void> {
  const fresh = await mkdtemp(path.join(folder, '.nightshift-init-'));
  const undo: (() => Promise<unknown>)[] = [];
  try {
    await writeAll(fresh, files);
    for (const { file } of files) {
      const place = path.join(folder, file);
      const made = await mkdir(path.dirname(place), { recursive: true });
      if (made !== undefined) undo.unshift(() => rmdir(made));
      await link(path.join(fresh, file), place);
      undo.unshift(() => rm(place));
    }
  } catch (error) {
    for (const step of undo) await step().catch(() => undefined);
    throw error;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function writeAll(folder: string, files: readonly ProjectFile[]): Promise<void> {
  for (const { file, text, isSecret } of files) {
    const place = path.join(folder, file);
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, text, { mode: isSecret ? 0o600 : 0o644 });
  }
}

function refused(message: string): CommandError {
  return new CommandError(EXIT.failed, message);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
