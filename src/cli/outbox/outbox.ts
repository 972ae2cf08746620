/** `outbox`: makes an outbox in the database of a service, tells what waits in it, and removes it. */
import { parseEnvironment, type Config } from '../../config/config.ts';
import { POSTGRES_URL, SCHEMA_NAME, isPostgresUrl, isSchemaName } from '../../core/database-schema.ts';
import { namedOutboxes } from '../../core/submissions/outbox.ts';
import { LOCKED, errorCode, errorText, isUnavailable, refusalText } from '../../db/connection/database-errors.ts';
import {
  installOutbox,
  outboxStatus,
  removeOutbox,
  retryRefused,
  withOutbox,
  type Installed,
  type OutboxStatus,
} from '../../db/outbox/install.ts';
import { OUTBOX_VERSION, outboxSql } from '../../db/outbox/outbox-schema.ts';
import { loadConfigFile } from '../../tools/config/config-file.ts';
import { PLACEHOLDERS } from '../../tools/packages/secrets.ts';
import { URL_VARIABLE, USAGE, parseOutboxArguments, type Wanted } from './arguments.ts';
import { backlogLines } from './status.ts';

/** Returns the exit code. */
export async function outboxCommand(args: readonly string[]): Promise<number> {
  const wanted = parseOutboxArguments(args, process.env['NIGHTSHIFT_OUTBOX_URL']);
  if (wanted === null) {
    process.stderr.write(USAGE);
    return 2;
  }
  if (wanted.action === 'no database')
    return fail(`Which database? Set ${URL_VARIABLE} to its URL, or pass --database-url.`, 2);
  const config = parseEnvironment(process.env);
  if (wanted.action === 'status of all') return statusOfAll(config);
  const schema = wanted.schema ?? config.databaseSchema;
  if ('url' in wanted && !isPostgresUrl(wanted.url)) return fail(`${wanted.source} must be ${POSTGRES_URL}.`, 2);
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
  if (errorCode(error) === LOCKED) return 'Transactions of the service have it locked. Try again.';
  if (errorCode(error) === '42704')
    return 'PostgreSQL has no role of one of the given names. Create it first, then install again.';
  const refusal = refusalText(error);
  return refusal === null ? null : `PostgreSQL refused: ${refusal}. Use the login that owns the outbox.`;
}

type OfOne = Exclude<Wanted, { action: 'status of all' | 'no database' }>;

async function carryOut(wanted: OfOne, schema: string): Promise<number> {
  switch (wanted.action) {
    case 'print':
      return say(`begin;\n\n${outboxSql({ ...wanted, schema }).join(';\n\n')};\n\ncommit;`);
    case 'install': {
      const place = { ...wanted, schema };
      return tellInstalled(await withOutbox(wanted.url, schema, (outbox) => installOutbox(outbox, place)), schema);
    }
    case 'status':
      return say(
        await withOutbox(wanted.url, schema, async (outbox) => backlogLines(await outboxStatus(outbox, schema))),
      );
    case 'retry': {
      const retried = await withOutbox(wanted.url, schema, async (outbox) => {
        const reason = whyNot(await outboxStatus(outbox, schema));
        return reason ?? retryRefused(outbox);
      });
      if (typeof retried === 'string') return fail(retried);
      return say(
        retried === 0
          ? 'No refused rows.'
          : retried === 1
            ? '1 refused row waits again.'
            : `${retried} refused rows wait again.`,
      );
    }
    case 'remove': {
      const removed = await withOutbox(wanted.url, schema, async (outbox) => {
        const reason = whyNot(await outboxStatus(outbox, schema));
        return reason ?? removeOutbox(outbox, schema, wanted.force);
      });
      if (typeof removed === 'string') return fail(removed);
      if (removed.kind === 'none') return fail(NONE);
      if (removed.kind === 'removed') return say(`Removed the outbox${lostWith(removed.rows)}.`);
      return fail(
        `The outbox has ${countOf(removed.rows)}. Wait until they are relayed, or pass --force to lose what is in it. Nothing was removed.`,
      );
    }
  }
}

const NEWER = 'A newer version of Nightshift has made the outbox. Use that version.';
const NONE = 'The database has no outbox in this schema. Run `nightshift outbox install` first.';

/** Why this version, or this login, must not change the outbox. Null: it may. */
function whyNot(status: OutboxStatus): string | null {
  switch (status.kind) {
    case 'installed':
      return null;
    case 'none':
      return NONE;
    case 'not_granted':
      return 'The login may not read the outbox. Use the login that owns it.';
    case 'other_version':
      return status.version > OUTBOX_VERSION
        ? NEWER
        : 'The outbox has an older version. Run `nightshift outbox install` first.';
  }
}

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
      return fail(NEWER);
  }
}

/** Of each outbox of the config file. The exit code: 1 if one of them cannot be read. */
async function statusOfAll(config: Config): Promise<number> {
  const { outboxes } = await loadConfigFile(process.cwd(), config.configFile, { secrets: PLACEHOLDERS });
  const named = namedOutboxes(outboxes, config.databaseSchema);
  if (named.length === 0) return fail(`The config file has no outboxes. Set ${URL_VARIABLE}, or pass --database-url.`);
  const codes: number[] = [];
  for (const { name, url, schema } of named) {
    const tell = async (): Promise<number> => {
      const lines = await withOutbox(url, schema, async (outbox) => backlogLines(await outboxStatus(outbox, schema)));
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
