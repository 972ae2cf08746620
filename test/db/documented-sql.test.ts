// The statements that the pages for users show, held against a migrated database: every table, column and setting
// exists.
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksIn, placeOf } from '../docs/blocks.ts';
import { createTestDatabase, type TestDatabase } from '../services/database.ts';

const PLANNED = /^(?:select|with|insert|update|delete)\b/i;

let made: TestDatabase;
let sql: postgres.Sql;

beforeAll(async () => {
  made = await createTestDatabase();
  sql = postgres(made.url, { max: 1, onnotice: () => undefined });
});
afterAll(async () => {
  await sql.end();
  await made.drop();
});

const statements = blocksIn('sql').flatMap((block) =>
  block.text
    .replaceAll(/--.*$/gm, '')
    .split(/;\s*$/m)
    .map((text) => text.trim())
    .filter((text) => text !== '' && !block.words.includes('outside'))
    .map((text) => [placeOf(block), text] as const),
);

test.each(statements)('PostgreSQL takes the statement of %s: %s', async (_, text) => {
  // A value that is the reader's own has any type.
  const filled = text.replaceAll(/'…'/g, 'null');
  await expect(tried(PLANNED.test(filled) ? `explain ${filled}` : filled)).resolves.toBeUndefined();
});

/** Leaves nothing behind. */
async function tried(statement: string): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction.unsafe(statement);
    await transaction.unsafe('rollback and chain');
  });
}
