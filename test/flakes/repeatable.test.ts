// The list of what may be repeated stays true: each place is there, and none is one whose tests run once.
import { existsSync, globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NEVER_REPEATED, REPEATABLE, isRepeatable } from './repeatable.ts';

test.each(Object.keys(REPEATABLE))('%s is there', (place) => {
  expect(existsSync(place)).toBe(true);
});

test('no unit, core, database or API test is repeated', () => {
  const once = globSync(NEVER_REPEATED.map((folder) => `${folder}**/*.test.ts`));
  expect(once.length).toBeGreaterThan(100);
  expect(once.filter((file) => isRepeatable(file))).toEqual([]);
});

test('a file is repeated by its whole path, and by the folder that it is in', () => {
  expect(isRepeatable('test/e2e/crash.test.ts')).toBe(true);
  expect(isRepeatable('test/tools/escapes-command.test.ts')).toBe(true);
  expect(isRepeatable('test/tools/escapes-files.test.ts')).toBe(false);
  expect(isRepeatable('test/architecture.test.ts')).toBe(false);
});
