// What `nightshift`, `nightshift/client` and `nightshift/testing` mean to a program in this folder (the examples, one of your own): the sources,
// with their types, until `npm run build` has put what it made in the same place. Plain JavaScript without dependencies, like bootstrap.js.
import fs from 'node:fs';
import path from 'node:path';

const entries = [
  { built: 'dist/index.js', types: 'dist/types/index.d.ts', source: 'src/index.ts' },
  { built: 'dist/client.js', types: 'dist/types/client/index.d.ts', source: 'src/client/index.ts' },
  { built: 'dist/testing.js', types: 'dist/types/testing/index.d.ts', source: 'src/testing/index.ts' },
];

export function linkSources(root) {
  for (const { built, types, source } of entries) {
    link(root, built, source);
    link(root, types, source);
  }
}

function link(root, name, source) {
  const file = path.join(root, name);
  if (fs.existsSync(file)) return;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const target = path.posix.relative(path.posix.dirname(name), source);
  fs.writeFileSync(file, `export * from '${target}';\n`);
}
