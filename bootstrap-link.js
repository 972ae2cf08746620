// What `nightshift`, `nightshift/client` and `nightshift/testing` mean to a program in this folder (the examples, one of your own): the sources,
// until `npm run build` has put what it made in the same place. Plain JavaScript without dependencies, like bootstrap.js.
import fs from 'node:fs';
import path from 'node:path';

const entries = [
  { built: 'dist/index.js', source: '../src/index.ts' },
  { built: 'dist/client.js', source: '../src/client/index.ts' },
  { built: 'dist/testing.js', source: '../src/testing/index.ts' },
];

export function linkSources(root) {
  for (const { built, source } of entries) {
    const file = path.join(root, built);
    if (fs.existsSync(file)) continue;
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `export * from '${source}';\n`);
  }
}
