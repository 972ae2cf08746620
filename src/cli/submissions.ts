/**
 * `submissions`: which roles of PostgreSQL may submit jobs in transactions of their own, and settle calls of transactional
 * tools, and for which tenants.
 */
import { parseArgs } from 'node:util';
import { ConfigError, parseEnvironment } from '../config/config.ts';
import { openDatabase, type Database } from '../db/connection/client.ts';
import { errorCode, errorText, isUnavailable, refusalText } from '../db/connection/database-errors.ts';
import { addGrant, listGrants, removeGrant, type SubmissionGrant } from '../db/submissions/grants.ts';

const USAGE = `Usage: nightshift submissions list
       nightshift submissions grant --role <role> --tenant <tenant>
       nightshift submissions revoke --role <role> --tenant <tenant>
`;

type Wanted = { action: 'list' } | ({ action: 'grant' | 'revoke' } & SubmissionGrant);

/** Returns the exit code. The login of `DATABASE_URL` must own the tables. */
export async function submissionsCommand(args: readonly string[]): Promise<number> {
  const wanted = parse(args);
  if (wanted === null) {
    process.stderr.write(USAGE);
    return 2;
  }
  const { databaseUrl, databaseSchema: schema } = parseEnvironment(process.env);
  if (databaseUrl === null)
    throw new ConfigError(['DATABASE_URL is not set: set it to the URL of the PostgreSQL database']);
  const database = openDatabase(databaseUrl, { max: 1, schema });
  try {
    return await carryOut(database, schema, wanted);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    process.stderr.write(`${reason}\n`);
    return 1;
  } finally {
    await database.close();
  }
}

/** For the operator: what is wrong, and what to do. Null: an unexpected error. */
function reasonOf(error: unknown): string | null {
  const code = errorCode(error);
  if (isUnavailable(error))
    return `The database does not answer (${errorText(error)}). Check DATABASE_URL, and run \`nightshift doctor\`.`;
  if (NO_TABLES.includes(code)) return 'The database has no tables of this version. Run `nightshift migrate` first.';
  const refusal = refusalText(error);
  return refusal === null
    ? null
    : `PostgreSQL refused: ${refusal}. Use the login that owns the tables in DATABASE_URL.`;
}

/** There is no such table, no such schema, or no such function. */
const NO_TABLES = ['42P01', '3F000', '42883'];

/** Null: the arguments are wrong. */
function parse(args: readonly string[]): Wanted | null {
  try {
    const options = { role: { type: 'string' }, tenant: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const { role, tenant } = values;
    const [action, ...others] = positionals;
    if (others.length > 0) return null;
    if (action === 'list' && role === undefined && tenant === undefined) return { action };
    if ((action !== 'grant' && action !== 'revoke') || !role || !/^[A-Za-z0-9_.-]{1,64}$/.test(tenant ?? ''))
      return null;
    return { action, role, tenant: tenant ?? '' };
  } catch {
    return null;
  }
}

async function carryOut(database: Database, schema: string, wanted: Wanted): Promise<number> {
  switch (wanted.action) {
    case 'list': {
      const grants = await listGrants(database.db);
      const lines = grants.map(({ role, tenant }) => `${role}\t${tenant}`);
      say(lines.length === 0 ? 'No role may submit jobs, except the owner of the tables.' : lines.join('\n'));
      return 0;
    }
    case 'grant': {
      const { role, tenant } = wanted;
      const granted = await database.transaction((tx) => addGrant(tx, schema, wanted));
      if (granted.kind === 'no_role') {
        process.stderr.write(`PostgreSQL has no role "${role}". Create it first, then grant again.\n`);
        return 1;
      }
      if (granted.addsTenant) say(`The tenant ${tenant} did not exist, and was added.`);
      say(`The role ${role} may submit jobs for the tenant ${tenant}, and settle its calls of transactional tools.`);
      return 0;
    }
    case 'revoke': {
      const { role, tenant } = wanted;
      const wasGranted = await database.transaction((tx) => removeGrant(tx, wanted));
      say(`The role ${role} ${wasGranted ? 'may no longer' : 'had no right to'} submit jobs for the tenant ${tenant}.`);
      return 0;
    }
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
