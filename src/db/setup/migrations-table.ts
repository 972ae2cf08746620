/**
 * The table of applied migrations. Its comment is the oldest version whose processes may run on the database: the minor
 * version before that of `migrate`. There, a process finds it that knows no newer table.
 */
import type postgres from 'postgres';
import { sql, type SQL } from 'drizzle-orm';

/** In the same schema as all other tables. */
export const MIGRATIONS_TABLE = 'migrations';

/**
 * The minor version before this one: its processes may run beside those of this version. A release raises it:
 * scripts/release.ts refuses another one.
 */
export const OLDEST_VERSION = '0.1.0';

const PREFIX = 'Processes need Nightshift ';

/** The comment, in a statement that reads the table. */
export const OLDEST_COMMENT: SQL = sql`obj_description(${MIGRATIONS_TABLE}::regclass, 'pg_class')`;

/** The version in the comment; null: there is none. */
export function oldestIn(comment: string | null): string | null {
  return comment?.startsWith(PREFIX) === true ? comment.slice(PREFIX.length) : null;
}

/** Whether `version` is an older minor version than `other`. Patches of a minor version are the same here. */
export function isOlder(version: string, other: string): boolean {
  const [major = 0, minor = 0] = numbersOf(version);
  const [otherMajor = 0, otherMinor = 0] = numbersOf(other);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

/** The newest release of an older minor version than `version`. `tags`: `v0.1.0` and so on. Null: there is none. */
export function minorBefore(tags: readonly string[], version: string): string | null {
  const before = tags
    .filter((tag) => /^v\d/.test(tag))
    .map((tag) => tag.slice(1))
    .filter((one) => isOlder(one, version));
  const [first = null] = before.toSorted((one, other) => (isOlder(one, other) ? 1 : isOlder(other, one) ? -1 : 0));
  return first;
}

function numbersOf(version: string): number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10));
}

/**
 * Nothing is changed if the table does not exist, and never back to an older version: `migrate` of the version before may
 * run once more.
 */
export async function writeOldest(client: postgres.Sql): Promise<void> {
  const [table] = await client<{ comment: string | null }[]>`
    select obj_description(oid, 'pg_class') as comment from pg_class where oid = to_regclass(${MIGRATIONS_TABLE})`;
  if (table === undefined) return;
  const known = oldestIn(table.comment);
  if (known !== null && !isOlder(known, OLDEST_VERSION)) return;
  await client.unsafe(`comment on table ${MIGRATIONS_TABLE} is '${PREFIX}${OLDEST_VERSION}'`);
}
