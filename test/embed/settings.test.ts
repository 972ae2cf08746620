import { expect, test } from 'vitest';
import { parseOptions } from '../../src/embed/settings.ts';

test('a database login for API processes is refused', () => {
  const databaseUrl = 'postgres://shop@127.0.0.1/shop';
  const env = { NIGHTSHIFT_API_DATABASE_URL: databaseUrl };
  expect(() => parseOptions({ databaseUrl, env })).toThrow(/env\.NIGHTSHIFT_API_DATABASE_URL is only for/);
  expect(parseOptions({ databaseUrl }).databaseUrl).toBe(databaseUrl);
});
