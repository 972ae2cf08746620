/** The migrations that `start` and `dev` apply before anything else, once the connections are found fit. */
import { ConfigError } from '../../config/config.ts';
import { errorText, isUnavailable } from '../../db/connection/database-errors.ts';
import { whenUp } from '../../db/connection/when-up.ts';
import { migrate } from '../../db/setup/migrate.ts';
import { UrlUnavailable, type DatabaseUrl, type UsedUrls } from '../../db/setup/unfit-pooling.ts';
import { checkPooling } from './check-pooling.ts';

/**
 * `say` gets a line if the database does not answer at once, and one if a pooler ignores limits. Throws ConfigError if the
 * database does not answer within half a minute, and `DatabaseRefused`.
 */
export async function migrateAtStart(
  urls: UsedUrls & { direct: DatabaseUrl },
  say: (line: string) => void,
): Promise<void> {
  const { direct, schema } = urls;
  const awayName = (error: unknown): string => (error instanceof UrlUnavailable ? error.variable : direct.name);
  try {
    await whenUp(
      () => checkPooling(urls, say),
      (error) =>
        say(`${awayName(error)}: PostgreSQL does not answer (${errorText(error)}). Waiting for it up to 30 s.`),
    );
    await whenUp(() => migrate(direct.url, schema));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw new ConfigError([
      `${awayName(error)} names a PostgreSQL that does not answer (${errorText(error)}): start it, or run \`nightshift doctor\``,
    ]);
  }
}
