/** `migrate`: applies the migrations that a database lacks, or tells which these are. */
import { ConfigError, parseEnvironment, type Config } from '../config/config.ts';
import { errorText, isUnavailable } from '../db/connection/database-errors.ts';
import { whenUp } from '../db/connection/when-up.ts';
import { inspectDatabase } from '../db/setup/inspect.ts';
import { migrate } from '../db/setup/migrate.ts';
import { describeSchemaProblem, type SchemaState } from '../db/setup/schema-state.ts';
import { DIRECT_URL } from '../db/setup/unfit-pooling.ts';

/** `args`: none, `--status` or `--dry-run`. The exit code: 1 if `--status` finds that the database is not up to date. */
export async function migrateCommand([option]: readonly string[]): Promise<number> {
  const { directDatabaseUrl, databaseSchema, logins, ...config } = parseEnvironment(process.env);
  const databaseUrl = directDatabaseUrl ?? config.databaseUrl;
  if (databaseUrl === null)
    throw new ConfigError(['DATABASE_URL is not set: set it to the URL of the PostgreSQL database']);
  try {
    return await carryOut(option, { databaseUrl, databaseSchema, logins });
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    process.stderr.write(
      `The database does not answer (${errorText(error)}). Check ${directDatabaseUrl === null ? 'DATABASE_URL' : DIRECT_URL}, and run \`nightshift doctor\`.\n`,
    );
    return 1;
  }
}

type Target = Pick<Config, 'databaseSchema' | 'logins'> & { databaseUrl: string };

async function carryOut(option: string | undefined, { databaseUrl, databaseSchema, logins }: Target): Promise<number> {
  if (option === undefined) {
    const applied = await whenUp(() => migrate(databaseUrl, databaseSchema, logins));
    say(applied.length === 0 ? UP_TO_DATE : `Applied to the schema ${databaseSchema}: ${applied.join(', ')}.`);
    if (logins !== null) say(`The logins ${logins.api} and ${logins.worker} have their rights.`);
    return 0;
  }
  const { schema } = await inspectDatabase(databaseUrl, databaseSchema, 'any');
  say(option === '--status' ? (describeSchemaProblem(schema) ?? UP_TO_DATE) : plan(schema));
  return schema.kind === 'current' || (option === '--dry-run' && schema.kind === 'behind') ? 0 : 1;
}

const UP_TO_DATE = 'The database is up to date. Nothing was applied.';

/** What `migrate` would do. */
function plan(state: SchemaState): string {
  if (state.kind === 'behind') return `Would be applied: ${state.missing.join(', ')}. Nothing was applied.`;
  return describeSchemaProblem(state) ?? UP_TO_DATE;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
