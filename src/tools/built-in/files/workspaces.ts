/**
 * Workspaces: one directory for each context, `<root>/<tenant>/<context>`. It is created on first use and removed some
 * time after the context was deleted (`workers/workspaces`).
 */
import { mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { ContextId } from '../../../core/ids.ts';
import { openFolder, type Folder } from './walk.ts';

export type Owner = { tenantName: string; contextId: ContextId };

export type Workspaces = {
  /** Creates the workspace if needed. Returns its real path. */
  prepare(owner: Owner): Promise<string>;
  /** Opens a directory. `make`: missing ones are created. The caller closes it. Throws `ToolFault`. */
  open(owner: Owner, names: readonly string[], make?: boolean): Promise<Folder>;
};

export function createWorkspaces(root: string): Workspaces {
  const prepare = async ({ tenantName, contextId }: Owner): Promise<string> => {
    await mkdir(root, { recursive: true });
    const folder = path.join(await realpath(root), folderOf(tenantName), contextId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
  return {
    prepare,
    open: async (owner, names, make = false) => openFolder(await prepare(owner), names, make),
  };
}

/**
 * The folder of a tenant. Tenant names consist of letters, digits, `_`, `.` and `-`. A leading dot is special, so it
 * gets the prefix `_`; names that look like a prefixed one (`_.a`) get one more. Two tenants never share a folder.
 */
export function folderOf(tenantName: string): string {
  return /^_*\./.test(tenantName) ? `_${tenantName}` : tenantName;
}
