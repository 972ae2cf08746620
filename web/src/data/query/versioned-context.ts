/** A context with the ETag of its settings, for updates that must not overwrite concurrent changes. */
import { NightshiftError, type Context, type PatchContext } from 'nightshift/client';
import { client } from '../client.ts';

export type VersionedContext = { context: Context; etag: string };

export async function readVersioned(id: string, signal?: AbortSignal): Promise<VersionedContext> {
  let etag = '*';
  const onEtag = (value: string): void => {
    etag = value;
  };
  const context = await client.contexts.get(id, signal === undefined ? { onEtag } : { onEtag, signal });
  return { context, etag };
}

/** `conflict`: the context was changed concurrently, and `theirs` is its current version. Other errors throw. */
export type Change = { kind: 'changed'; context: Context } | { kind: 'conflict'; theirs: VersionedContext };

export async function changeContext(id: string, etag: string, patch: PatchContext): Promise<Change> {
  try {
    return { kind: 'changed', context: await client.contexts.update(id, patch, { ifMatch: etag }) };
  } catch (error) {
    if (!(error instanceof NightshiftError) || error.code !== 'version_conflict') throw error;
    return { kind: 'conflict', theirs: await readVersioned(id) };
  }
}
