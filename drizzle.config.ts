import { defineConfig } from 'drizzle-kit';

/**
 * `npx drizzle-kit generate` writes the next migration from the schema. Delete `"public".` from it: statements name no
 * PostgreSQL schema, since an installation chooses its own.
 */
export default defineConfig({
  dialect: 'postgresql',
  schema: './src/db/schema/**/*.ts',
  out: './src/db/migrations',
});
