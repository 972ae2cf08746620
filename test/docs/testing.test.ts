// docs/testing.md names tests and laws that exist, and every fault that tests inject.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { LAWS } from '../db/interleaving/laws.ts';
import { FAULTS } from '../workers/conversations/faults.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PAGE = readFileSync(path.join(ROOT, 'docs/testing.md'), 'utf8');

test('every test that the page names exists', () => {
  const named = [...PAGE.matchAll(/`(test\/[\w/.-]+)`/g)].map(([, file = '']) => file);
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});

test.each([
  ['Laws of the protocol', LAWS],
  ['Faults of conversations', FAULTS],
] as const)('the page lists: %s', (heading, entries) => {
  const [, section = ''] = PAGE.split(`### ${heading}\n`);
  const [list = ''] = section.split('\n#');
  const listed = [...list.matchAll(/^- (.+)$/gm)].map(([, name]) => name);
  expect(listed).toEqual(entries.map(([name]) => name));
});
