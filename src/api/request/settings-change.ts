/**
 * Changes settings with optimistic locking: merges a patch with the version it read, and writes only if that version is
 * still current. The first try locks the context, so that no other change can overtake the second try.
 */
import { changeWorker } from '../../commands/workers/change-worker.ts';
import { done, type Command } from '../../commands/perform.ts';
import { refuse } from '../../core/errors.ts';
import type { ContextId, TenantId } from '../../core/ids.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import type { Executor } from '../../db/connection/client.ts';
import type { WorkerChange } from '../../db/write/workers/workers.ts';
import { SETTINGS_BYTES } from '../../schema/build.ts';
import type { ConfigPatch } from '../../schema/config.ts';
import { isMatch } from './version.ts';

/** The settings that a change reads and returns. */
type Versioned = { contextId: ContextId; config: WorkerConfig; version: number };

const TRIES = 3;

type SettingsChange<View extends Versioned> = {
  tenantId: TenantId;
  /** Null: the tenant has no such worker or context. */
  find: (executor: Executor) => Promise<View | null>;
  what: string;
  ifMatch: string | undefined;
  /** Returns the change; if it is empty, nothing is written. */
  change: (current: View) => WorkerChange;
};

/** In a transaction. Refused: `not_found`, `version_conflict`, `invalid_request` (too large when merged). */
export function changeSettings<View extends Versioned>(wanted: SettingsChange<View>): Command<View> {
  const { tenantId, find, what, ifMatch, change } = wanted;
  return async (tx) => {
    for (let left = TRIES; left > 0; left -= 1) {
      const current = await find(tx);
      if (current === null) return refuse('not_found', what);
      if (!isMatch(ifMatch, current.version)) return stale();
      const changed = change(current);
      if (Object.keys(changed).length === 0) return done(current);
      if (Buffer.byteLength(JSON.stringify(changed.config ?? {})) > SETTINGS_BYTES) {
        return refuse(
          'invalid_request',
          'The merged config is larger than 64 KB of JSON. Shorten it or remove fields.',
          'config',
        );
      }
      const { contextId, version } = current;
      const outcome = await changeWorker({ tenantId, contextId, change: changed, expectedVersion: version })(tx);
      if (outcome.kind === 'refused' && outcome.code === 'version_conflict') continue;
      if (outcome.kind === 'refused') return refuse('not_found', what);
      const written = await find(tx);
      return written === null ? refuse('not_found', what) : done(written, ...outcome.afterCommit);
    }
    return stale();
  };
}

function stale() {
  return refuse(
    'version_conflict',
    'Another request changed the settings in between. Read them again and repeat the change with the new ETag.',
  );
}

/** Fields of the patch replace current ones; null removes a field. */
export function mergeConfig(current: WorkerConfig, patch: ConfigPatch): WorkerConfig {
  return withoutNulls({ ...current, ...patch });
}

/** The fields of a patch that are not null. */
export function withoutNulls(patch: ConfigPatch): WorkerConfig {
  const given: [string, unknown][] = Object.entries(patch).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as WorkerConfig;
}
