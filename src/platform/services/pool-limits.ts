/** How the connections of a process treat locks: its own, and those of frozen processes. */
import type { Config } from '../../config/config.ts';
import type { DatabaseOptions } from '../../db/connection/client.ts';
import { FROZEN_LIMITS, terminateFrozenSessions } from '../../db/processes/frozen-sessions.ts';

export type PoolLimits = Pick<DatabaseOptions, 'limits' | 'lockTimeoutMs' | 'onLocked' | 'namesTenant'>;

/**
 * For processes that serve requests and run no jobs. A request waits for a row lock without keeping a connection, so
 * that other requests do not run out of connections. It waits for at most 80 % of the request timeout.
 */
export function requestLimits({ requestMs }: Pick<Config, 'requestMs'>): PoolLimits {
  return {
    limits: { ...FROZEN_LIMITS, lock: 300 },
    lockTimeoutMs: requestMs * 0.8,
    onLocked: terminateFrozenSessions,
  };
}

/** For processes that run jobs. */
export const WORKER_LIMITS: PoolLimits = { limits: FROZEN_LIMITS };
