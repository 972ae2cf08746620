/** The migrations that `start` and `dev` apply before anything else. */
import { ConfigError } from '../../config/config.ts';
import { errorCode, isUnavailable } from '../../db/connection/database-errors.ts';
import { whenUp } from '../../db/connection/when-up.ts';
import { migrate } from '../../db/setup/migrate.ts';
import type { DatabaseUrl } from '../../db/setup/unfit-pooling.ts';

/** `say` gets a line if the database does not answer at once. Throws ConfigError if it does not within half a minute. */
export async function migrateAtStart(
  { name, url }: DatabaseUrl,
  schema: string,
  say: (line: string) => void,
): Promise<void> {
  try {
    await whenUp(
      () => migrate(url, schema),
      (error) => say(`PostgreSQL does not answer (${errorCode(error)}). Waiting for it up to 30 s.`),
    );
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw new ConfigError([
      `${name} names a PostgreSQL that does not answer (${errorCode(error)}): start it, or run \`nightshift doctor\``,
    ]);
  }
}
