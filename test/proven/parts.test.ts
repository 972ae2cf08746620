// When a part counts as changed.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PARTS, SOURCES, digestOf } from './parts.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'nightshift-parts-'));
  mkdirSync(path.join(root, 'folder', 'inner'), { recursive: true });
  write('folder/inner/a.ts', 'one');
  write('lock.json', '{}');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (file: string, text: string): void => writeFileSync(path.join(root, file), text);
const digest = (): string => digestOf(['folder', 'lock.json'], root);

test('the digest of a part is the same while its sources are', () => {
  const before = digest();
  write('beside.ts', 'not a source');
  write('lock.json', '{}');
  expect(digest()).toBe(before);
});

test.each<[string, () => void]>([
  ['the content of a file', () => write('folder/inner/a.ts', 'two')],
  ['a new file', () => write('folder/b.ts', '')],
  ['the name of a file', () => renameSync(path.join(root, 'folder/inner/a.ts'), path.join(root, 'folder/inner/b.ts'))],
])('it differs after a change of %s', (_, change) => {
  const before = digest();
  change();
  expect(digest()).not.toBe(before);
});

test('the sources of each part exist', () => {
  for (const part of PARTS) expect(digestOf(SOURCES[part])).toMatch(/^[0-9a-f]{64}$/);
});
