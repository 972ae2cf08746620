// docs/guides/testing-agents.md, followed literally: its files are written, and its tests run.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, fileNameOf } from '../docs/blocks.ts';
import { ROOT } from '../docs/markdown.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';

test('the tests of the guide pass', async () => {
  const link = "import('./bootstrap-link.js').then(({ linkSources }) => linkSources('.'))";
  execFileSync(process.execPath, ['-e', link], { cwd: ROOT });
  const folder = await temporaryFolder();
  try {
    mkdirSync(path.join(folder, 'shop'));
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(ROOT, path.join(folder, 'node_modules/nightshift'));
    writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
    for (const block of blocksOf('docs/guides/testing-agents.md')) {
      const name = fileNameOf(block);
      if (name !== null) writeFileSync(path.join(folder, name), block.text);
    }
    const files = ['shop/refund.test.ts', 'shop/shop.test.ts', 'shop/team.test.ts'];
    const { NODE_TEST_CONTEXT: _context, NODE_OPTIONS: _options, ...env } = process.env;
    const args = ['--test', '--test-reporter=tap', ...files];
    const said = execFileSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
    expect(said).toMatch(/^# pass 6$/m);
    expect(said).toMatch(/^# fail 0$/m);
  } finally {
    await removeFolder(folder);
  }
});
