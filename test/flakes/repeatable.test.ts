// The list of repeatable files stays correct: each path exists, and no test that must run once is on it.
import { existsSync, globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NEVER_REPEATED, REPEATABLE, isRepeatable } from './repeatable.ts';

test.each(Object.keys(REPEATABLE))('%s exists', (place) => {
  expect(existsSync(place)).toBe(true);
});

test('no unit, core, database or API test is repeated', () => {
  const once = globSync(NEVER_REPEATED.map((folder) => `${folder}**/*.test.ts`));
  expect(once.length).toBeGreaterThan(100);
  expect(once.filter((file) => isRepeatable(file))).toEqual([]);
});

test('a file matches by its whole path or by its folder', () => {
  expect(isRepeatable('test/e2e/crash/crash.test.ts')).toBe(true);
  expect(isRepeatable('test/tools/escapes-command.test.ts')).toBe(true);
  expect(isRepeatable('test/tools/escapes-files.test.ts')).toBe(false);
  expect(isRepeatable('test/source/architecture.test.ts')).toBe(false);
});
