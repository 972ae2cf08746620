/** Checks the database login of transactional tools, as a worker process does at its start. */
import type { Config } from '../../config/config.ts';
import { openDatabase } from '../../db/connection/client.ts';
import { ToolDatabaseAway, ToolLoginRefused, openToolDatabase } from '../../db/tool-transactions/tool-database.ts';
import { withoutToolLogin } from '../../platform/services/tool-database.ts';
import { fail, ok, warn, why, type Finding } from './finding.ts';

const NAME = 'tools login';

type ToolConfig = Pick<Config, 'databaseUrl' | 'toolsDatabaseUrl' | 'databaseSchema'>;

/** `names`: of the transactional tools of the config file. Without such tools no process uses the login. */
export async function toolLoginFindings(names: readonly string[], config: ToolConfig): Promise<Finding[]> {
  const { databaseUrl, toolsDatabaseUrl: url, databaseSchema: schema } = config;
  if (names.length === 0) return [];
  if (url === null) {
    const advice = 'Set it to the URL of the database of Nightshift, with a login of your service.';
    return [fail(NAME, withoutToolLogin(names), advice)];
  }
  if (databaseUrl === null)
    return [warn(NAME, 'not checked: DATABASE_URL is not set', 'Set it to the database of Nightshift.')];
  return [await loginFinding(databaseUrl, { url, max: 1, schema })];
}

async function loginFinding(databaseUrl: string, login: Parameters<typeof openToolDatabase>[1]): Promise<Finding> {
  const own = openDatabase(databaseUrl, { max: 1, schema: login.schema });
  try {
    const tools = await openToolDatabase(own, login);
    await tools.close();
    return ok(NAME, 'in the database of Nightshift, with a grant');
  } catch (error) {
    if (error instanceof ToolLoginRefused) return fail(NAME, error.reason, error.advice);
    if (error instanceof ToolDatabaseAway)
      return fail(NAME, error.message, 'Check that PostgreSQL is running, and the host and the port of the URL.');
    return fail(NAME, `not checked: ${why(error)}`, 'Correct first what is found about postgres and migrations.');
  } finally {
    await own.close();
  }
}
