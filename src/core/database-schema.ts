/** The default PostgreSQL schema of all tables; `NIGHTSHIFT_DATABASE_SCHEMA` sets another one. */
export const DATABASE_SCHEMA = 'nightshift';

/** Such names need no quoting. PostgreSQL reserves `pg_`; in `public`, an application may have its own `jobs` table. */
export function isSchemaName(text: string): boolean {
  return /^[a-z_][a-z0-9_]{0,62}$/.test(text) && !text.startsWith('pg_') && text !== 'public';
}

/** For messages: what such a name is. */
export const SCHEMA_NAME =
  'a PostgreSQL schema other than public: lower-case letters, digits and underscores, not starting with pg_';

export function isPostgresUrl(text: string): boolean {
  return URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol);
}

export const POSTGRES_URL = 'the URL of a PostgreSQL database, such as postgres://host/database';
