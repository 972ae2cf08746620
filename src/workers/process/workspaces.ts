/**
 * Removes the workspaces of deleted contexts, as part of housekeeping. A folder is removed only if its name is the id
 * of a context that the database does not know, and only below a root that this database has claimed with an owner
 * file. So workspaces of another installation are kept. Several processes may do it at once; a folder that is created
 * again meanwhile is removed in the next round.
 */
import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseId, type ContextId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import { databaseIdentity, findKnown } from '../../db/write/workers/workspaces.ts';
import { USAGE_SUFFIX } from '../../tools/built-in/files/room.ts';

/** Contains the identity of the database that owns the root. */
const OWNER_FILE = '.nightshift-database';

/** Folders that one query checks. */
const AT_ONCE = 1_000;

/** `removed`: number of folders. `foreign`: the root belongs to another database, and nothing was checked. */
type Swept = { kind: 'swept'; removed: number } | { kind: 'foreign' };

/** `isStopped` is checked between two batches. */
export async function removeOrphans(
  executor: Executor,
  root: string,
  isStopped: () => boolean = () => false,
): Promise<Swept> {
  const found = await stat(root).catch(() => null);
  if (found === null) return { kind: 'swept', removed: 0 };
  if (!(await isOurs(root, await databaseIdentity(executor)))) return { kind: 'foreign' };
  let removed = 0;
  for (const tenant of await foldersIn(root)) {
    const ids = (await foldersIn(path.join(root, tenant))).flatMap((name) => {
      const id = parseId<ContextId>(name);
      return id === null || id !== name ? [] : [id];
    });
    for (let at = 0; at < ids.length && !isStopped(); at += AT_ONCE) {
      const batch = ids.slice(at, at + AT_ONCE);
      const known = await findKnown(executor, batch);
      for (const id of batch.filter((one) => !known.has(one))) {
        const folder = path.join(root, tenant, id);
        await rm(folder, { recursive: true, force: true });
        await rm(folder + USAGE_SUFFIX, { force: true });
        removed += 1;
      }
    }
  }
  return { kind: 'swept', removed };
}

/** The first database that uses the root claims it. */
async function isOurs(root: string, identity: string): Promise<boolean> {
  const file = path.join(root, OWNER_FILE);
  await writeFile(file, identity, { flag: 'wx' }).catch(() => undefined);
  return (await readFile(file, 'utf8')).trim() === identity;
}

/** Directories, without symbolic links. */
async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
