// One process runs several test files and loads a module once. Hooks at the top of a shared module would belong to the
// first file only, and the others would run without them.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const TESTS = path.join(import.meta.dirname, '..');
const HOOK = /^(?:before|after)(?:All|Each)\(/m;

test('no module that test files share has hooks at its top', () => {
  const shared = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  expect(shared.length).toBeGreaterThan(50);
  expect(shared.filter((file) => HOOK.test(readFileSync(path.join(TESTS, file), 'utf8')))).toEqual([]);
});
