/**
 * Workspaces: a directory for each context, `<root>/<tenant>/<context>`. It is made when it is first written to or run in,
 * and removed some time after its context was (`workers/workspaces`).
 */
import { mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { ContextId, TenantId } from '../../../core/ids.ts';
import { openFolder } from './walk.ts';
import type { Folder } from './walk.ts';

export type Owner = { tenantId: TenantId; contextId: ContextId };

export type Workspaces = {
  /** Makes it where it is not there yet. Gives its real path. */
  prepare(owner: Owner): Promise<string>;
  /** A directory in it. `make`: those that are missing are made. The caller closes it. Throws `ToolFault`. */
  open(owner: Owner, names: readonly string[], make?: boolean): Promise<Folder>;
};

export function createWorkspaces(root: string): Workspaces {
  const prepare = async ({ tenantId, contextId }: Owner): Promise<string> => {
    await mkdir(root, { recursive: true });
    const folder = path.join(await realpath(root), folderOf(tenantId), contextId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
  return {
    prepare,
    open: async (owner, names, make = false) => openFolder(await prepare(owner), names, make),
  };
}

/**
 * The name of a tenant is letters, digits, `_`, `.` and `-`: only a dot in front would mean something else, so `_` is put before it.
 * Names that could be mistaken for the result (`_.a`) get one more. So two tenants never share a folder.
 */
export function folderOf(tenantId: TenantId): string {
  return /^_*\./.test(tenantId) ? `_${tenantId}` : tenantId;
}
