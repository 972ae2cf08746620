/** The PostgreSQL schema of all tables, unless the installation names another one (`NIGHTSHIFT_DATABASE_SCHEMA`). */
export const DATABASE_SCHEMA = 'nightshift';
