/** API keys that the API made. A process refuses a key within a second of its end, and then ends its streams. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { idInKey, keyPrefix } from '../../core/access/api-keys.ts';
import type { ApiKeyId } from '../../core/ids.ts';
import { findKey, findKeyless, findValidKeys, noteUse, type Keyless, type StoredKey } from '../../db/write/api-keys.ts';
import { credentialTenantOf, type CredentialTenant } from '../../db/write/tenants/tenants.ts';
import type { Database, Executor } from '../../db/connection/client.ts';
import { isAway } from '../../db/batches/database-timeout.ts';
import { createBriefCache } from './brief-cache.ts';
import { openCredentialStreams } from './credential-streams.ts';
import { secretHash } from './secret-hash.ts';

export type MadeKey = CredentialTenant & Pick<StoredKey, 'scopes' | 'keyLimits'> & { id: ApiKeyId };

type MadeKeys = {
  /** Null: the API made no such key, or it has ended. */
  find(key: string): Promise<MadeKey | null>;
  /** Calls `end` when the key has ended. Returns a function that unregisters `end`. */
  whileValid(id: ApiKeyId, end: () => void): () => void;
  /** This process has ended the key: its streams end at once. */
  ended(id: ApiKeyId): void;
};

export function openMadeKeys({ db }: Pick<Database, 'db'>): MadeKeys {
  const streams = openCredentialStreams(
    (id: ApiKeyId) => id,
    (ids) => findValidKeys(db, ids),
  );
  const stored = createBriefCache((id: ApiKeyId) => findKey(db, id));
  const noted = new WeakSet<StoredKey>();

  function note(id: ApiKeyId, found: StoredKey): void {
    if (!found.isUseDue || noted.has(found)) return;
    noted.add(found);
    // If it fails, a later use is stored.
    void noteUse(db, id).catch(() => undefined);
  }

  return {
    async find(key) {
      const id = idInKey(key);
      const found = id === null ? null : await stored.get(id);
      if (id === null || found === null || !isSame(secretHash(key), found.hash)) return null;
      note(id, found);
      const { scopes, keyLimits } = found;
      return { ...credentialTenantOf(found), id, scopes, keyLimits };
    },
    whileValid: (id, end) => streams.add(id, end),
    ended(id) {
      stored.forget(id);
      streams.end(id);
    },
  };
}

export type KeyCheck = {
  /** Whether the API has ever made a key; known at most a second late. */
  areMade: () => Promise<boolean>;
  /** What the tenant of an API without keys may use, and its limits; known at most a second late. */
  tenant: () => Promise<Pick<Keyless, 'allow' | 'limits'>>;
  /** Calls `end` when the API has made one. Returns a function that unregisters `end`. */
  untilMade: (end: () => void) => () => void;
  /** One may just have been made: the next answer is a new one. */
  forget: () => void;
};

/**
 * While PostgreSQL does not answer, the last answer counts, so that metrics are still served. A process without one
 * refuses.
 */
export function openKeyCheck(database: Pick<Database, 'db'>): KeyCheck {
  let last: Keyless | null = null;
  const ask = createBriefCache(async (executor: Executor) => {
    const found = await findKeyless(executor);
    // An older question may be answered later.
    last = { ...found, areKeysMade: last?.areKeysMade === true || found.areKeysMade };
    return last;
  });
  const state = async (): Promise<Keyless> => {
    if (last?.areKeysMade === true) return last;
    try {
      return await ask.get(database.db);
    } catch (error) {
      if (last === null || !isAway(error)) throw error;
      return last;
    }
  };
  const areMade = async (): Promise<boolean> => (await state()).areKeysMade;
  const streams = openCredentialStreams(
    () => '',
    async () => new Set((await areMade()) ? [] : ['']),
  );
  return {
    areMade,
    tenant: state,
    untilMade: (end) => streams.add(null, end),
    forget: () => ask.forget(database.db),
  };
}

/** A new key for this id, and its hash. */
export function newKey(id: ApiKeyId): { key: string; hash: string } {
  const key = `${keyPrefix(id)}_${randomBytes(32).toString('base64url')}`;
  return { key, hash: secretHash(key) };
}

function isSame(given: string, stored: string): boolean {
  return given.length === stored.length && timingSafeEqual(Buffer.from(given), Buffer.from(stored));
}
