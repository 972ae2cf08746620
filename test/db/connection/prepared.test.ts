// Statements whose text is built once.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepared } from '../../../src/db/connection/prepared.ts';
import { given, type Given } from '../database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

type Sum = { a: number; b: number | null };

let built = 0;
const SUM = prepared<Sum>((value) => {
  built += 1;
  return sql`select ${value('a')}::int + coalesce(${value('b')}::int, 0) + ${100}::int + ${value('a')}::int as sum`;
});

test('the text is built with the first execution, and each one has its own values', async () => {
  expect(built).toBe(0);
  const sums = await Promise.all(
    [
      { a: 1, b: 10 },
      { a: 2, b: null },
    ].map((values) => the.database.db.execute(SUM(values))),
  );
  expect(sums).toEqual([[{ sum: 112 }], [{ sum: 104 }]]);
  expect(built).toBe(1);
});

test('a missing value is refused', () => {
  const UNFINISHED = prepared<Record<string, unknown>>((value) => sql`select ${value('a')}::int as a`);
  expect(() => UNFINISHED({})).toThrow('a');
});
