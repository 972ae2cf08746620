/** The default PostgreSQL schema of all tables; `NIGHTSHIFT_DATABASE_SCHEMA` sets another one. */
export const DATABASE_SCHEMA = 'nightshift';
