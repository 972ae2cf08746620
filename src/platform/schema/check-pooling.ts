/** At its start a process finds out whether it can use the pooler to which its URL leads, if it leads to one. */
import type { Config } from '../../config/config.ts';
import { errorText } from '../../db/connection/database-errors.ts';
import {
  DIRECT_URL,
  UrlUnavailable,
  describeIgnored,
  refusePooling,
  type DatabaseUrl,
  type UsedUrls,
} from '../../db/setup/unfit-pooling.ts';
import type { PoolLimits } from '../services/pool-limits.ts';

type Using = { databaseUrl: string; poolLimits: PoolLimits };

/** Of worker processes, and of an API and a worker in one. */
export function workerUrls(
  { directDatabaseUrl, databaseSchema }: Pick<Config, 'directDatabaseUrl' | 'databaseSchema'>,
  { databaseUrl, poolLimits }: Using,
): UsedUrls & { direct: DatabaseUrl } {
  const pooled = { name: 'DATABASE_URL', url: databaseUrl };
  return {
    pooled,
    direct: directDatabaseUrl === null ? pooled : { name: DIRECT_URL, url: directDatabaseUrl },
    schema: databaseSchema,
    limits: poolLimits.limits,
  };
}

/** Of API processes, which need no session. */
export function apiUrls(
  { apiDatabaseUrl, databaseSchema }: Pick<Config, 'apiDatabaseUrl' | 'databaseSchema'>,
  { databaseUrl, poolLimits }: Using,
): UsedUrls {
  const name = apiDatabaseUrl === null ? 'DATABASE_URL' : 'NIGHTSHIFT_API_DATABASE_URL';
  return { pooled: { name, url: databaseUrl }, direct: null, schema: databaseSchema, limits: poolLimits.limits };
}

/** `warn` gets a line if the pooler ignores limits. Throws `DatabaseRefused`, `UrlUnavailable` or the driver's error. */
export async function checkPooling(urls: UsedUrls, warn: (line: string) => void): Promise<void> {
  const ignored = await refusePooling(urls);
  if (ignored.length > 0) warn(describeIgnored(urls.pooled.name, ignored).join(' '));
}

/** For the log of a process that waits. `error`: the database is unavailable. */
export function describeAway(error: unknown): string {
  const who = error instanceof UrlUnavailable ? `${error.variable} names a PostgreSQL that` : 'PostgreSQL';
  return `${who} does not respond (${errorText(error)}).`;
}
