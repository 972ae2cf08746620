/** `outbox`: makes an outbox in the database of a service, tells what waits in it, and removes it. */
import { parseEnvironment, type Config } from '../../config/config.ts';
import { POSTGRES_URL, SCHEMA_NAME, isPostgresUrl, isSchemaName } from '../../core/database-schema.ts';
import { namedOutboxes } from '../../core/submissions/outbox.ts';
import { errorCode, errorText, isUnavailable, refusalText } from '../../db/connection/database-errors.ts';
import {
  installOutbox,
  outboxStatus,
  removeOutbox,
  retryRefused,
  withOutbox,
  type Installed,
} from '../../db/outbox/install.ts';
import { outboxSql } from '../../db/outbox/outbox-schema.ts';
import { loadConfigFile } from '../../tools/config/config-file.ts';
import { USAGE, parseOutboxArguments, type Wanted } from './arguments.ts';
import { backlogLines } from './status.ts';

/** Returns the exit code. */
export async function outboxCommand(args: readonly string[]): Promise<number> {
  const wanted = parseOutboxArguments(args);
  if (wanted === null) {
    process.stderr.write(USAGE);
    return 2;
  }
  const config = parseEnvironment(process.env);
  if (wanted.action === 'status of all') return statusOfAll(config);
  const schema = wanted.schema ?? config.databaseSchema;
  if ('url' in wanted && !isPostgresUrl(wanted.url)) return fail(`--database-url must be ${POSTGRES_URL}.`, 2);
  if (!isSchemaName(schema)) return fail(`--schema must be ${SCHEMA_NAME}.`, 2);
  return whileReachable(() => carryOut(wanted, schema));
}

/** The exit code: 1 if the database does not answer, or refuses. */
async function whileReachable(work: () => Promise<number>, prefix = ''): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    return fail(prefix + reason);
  }
}

/** Null: an unexpected error. */
function reasonOf(error: unknown): string | null {
  if (isUnavailable(error)) return `The database does not answer (${errorText(error)}). Check its URL.`;
  if (errorCode(error) === '42704')
    return 'PostgreSQL has no role of one of the given names. Create it first, then install again.';
  const refusal = refusalText(error);
  return refusal === null ? null : `PostgreSQL refused: ${refusal}. Use the login that owns the outbox.`;
}

async function carryOut(wanted: Exclude<Wanted, { action: 'status of all' }>, schema: string): Promise<number> {
  switch (wanted.action) {
    case 'print':
      return say(`begin;\n\n${outboxSql({ ...wanted, schema }).join(';\n\n')};\n\ncommit;`);
    case 'install': {
      const place = { ...wanted, schema };
      return tellInstalled(await withOutbox(wanted.url, schema, (outbox) => installOutbox(outbox, place)), schema);
    }
    case 'status':
      return say(await withOutbox(wanted.url, schema, async (outbox) => backlogLines(await outboxStatus(outbox))));
    case 'retry': {
      const isThere = await withOutbox(wanted.url, schema, async (outbox) => {
        if ((await outboxStatus(outbox)).kind === 'none') return null;
        return retryRefused(outbox);
      });
      if (isThere === null) return fail(NONE);
      return say(
        isThere === 0
          ? 'No refused rows.'
          : isThere === 1
            ? '1 refused row waits again.'
            : `${isThere} refused rows wait again.`,
      );
    }
    case 'remove': {
      const removed = await withOutbox(wanted.url, schema, (outbox) => removeOutbox(outbox, schema, wanted.force));
      if (removed.kind === 'none') return fail(NONE);
      if (removed.kind === 'removed') return say(`Removed the outbox${lostWith(removed.rows)}.`);
      return fail(
        `The outbox has ${countOf(removed.rows)}. Wait until they are relayed, or pass --force to lose what is in it. Nothing was removed.`,
      );
    }
  }
}

const NONE = 'The database has no outbox in this schema. Run `nightshift outbox install` first.';

function countOf(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`;
}

function lostWith(rows: number): string {
  return rows === 0 ? '' : ` with ${countOf(rows)}`;
}

function tellInstalled(installed: Installed, schema: string): number {
  switch (installed) {
    case 'installed':
      return say(`Installed the outbox in the schema ${schema}. Name it in \`outboxes\` of the config file.`);
    case 'unchanged':
      return say(`The outbox in the schema ${schema} is up to date.`);
    case 'occupied':
      return fail(
        `The schema ${schema} has other tables named outbox or contexts. Use another schema (--schema). If it is the database of Nightshift itself, it needs no outbox.`,
      );
    case 'newer':
      return fail('A newer version of Nightshift has made the outbox. Use that version.');
  }
}

/** Of each outbox of the config file. The exit code: 1 if one of them cannot be read. */
async function statusOfAll(config: Config): Promise<number> {
  const { outboxes } = await loadConfigFile(process.cwd(), config.configFile);
  const named = namedOutboxes(outboxes, config.databaseSchema);
  if (named.length === 0) return fail('The config file has no outboxes. Pass --database-url.');
  const codes: number[] = [];
  for (const { name, url, schema } of named) {
    const tell = async (): Promise<number> => {
      const lines = await withOutbox(url, schema, async (outbox) => backlogLines(await outboxStatus(outbox)));
      return say(`${name}: ${lines}`);
    };
    codes.push(await whileReachable(tell, `${name}: `));
  }
  return Math.max(...codes);
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function fail(text: string, code = 1): number {
  process.stderr.write(`${text}\n`);
  return code;
}
