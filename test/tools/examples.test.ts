// The config files of the examples load.
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const EXAMPLES = join(ROOT, 'examples');

const files = globSync('{*/,}nightshift.config.ts', { cwd: EXAMPLES });

test('there are some', () => {
  expect(files.sort()).toEqual(['files-server/nightshift.config.ts', 'nightshift.config.ts']);
});

test.each(files)('%s', (name) => {
  const child = join(import.meta.dirname, 'load-child.ts');
  const args = [child, join(ROOT, 'src/tools/config/config-file.ts'), join(EXAMPLES, dirname(name))];
  const loaded: { refused?: string } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  expect(loaded.refused).toBeUndefined();
});
