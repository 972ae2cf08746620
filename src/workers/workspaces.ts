/**
 * Workspaces of contexts that are gone: removed by whichever worker process keeps house. A folder is removed only where it
 * has the name of a context that the database does not know, and only of a root that was this database's from the beginning
 * (a file in it says so): what another installation keeps there is left alone. Several may do it at once, and what somebody
 * makes anew in the middle is removed in the next round.
 */
import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseId } from '../core/ids.ts';
import type { ContextId } from '../core/ids.ts';
import type { Executor } from '../db/client.ts';
import { databaseIdentity, findKnown } from '../db/workspaces.ts';
import { USAGE_SUFFIX } from '../tools/built-in/files/room.ts';

/** Whose the root is. */
const OWNER_FILE = '.nightshift-database';

/** Folders that are asked for in one statement. */
const AT_ONCE = 1_000;

/** `removed`: how many. `foreign`: the root is another database's, and nothing was looked at. */
export type Swept = { kind: 'swept'; removed: number } | { kind: 'foreign' };

/** `isStopped`: asked between two batches. */
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

/** Whoever comes first claims the root. */
async function isOurs(root: string, identity: string): Promise<boolean> {
  const file = path.join(root, OWNER_FILE);
  await writeFile(file, identity, { flag: 'wx' }).catch(() => undefined);
  return (await readFile(file, 'utf8')).trim() === identity;
}

/** Directories, and no links to any. */
async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
