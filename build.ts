// Makes `dist/`, what the npm package ships: bundled JavaScript, declarations in `dist/types`, the console in `dist/web`,
// the files of the API reference in `dist/reference`. A failed build leaves no `dist/`.
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ENTRIES, bundle } from './bundle.ts';
import { licensesOf } from './licenses.ts';

const at = (...parts: string[]): string => path.join(import.meta.dirname, ...parts);

/** Its files that the API reference shows (src/api/server/docs.ts). */
const SWAGGER_UI = at('node_modules', '@fastify', 'swagger-ui', 'static');
const OF_REFERENCE = /^(?:swagger-ui-bundle\.js|swagger-ui\.css|index\.css|favicon-\d+x\d+\.png)$/;

function run(...args: string[]): void {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${args.join(' ')} failed; its message is above.`);
}

/** TypeScript writes those of all sources: also of modules that are loaded when they are needed, which no entry names. */
function removeUnnamedDeclarations(folder: string, entries: readonly string[]): void {
  const named = new Set(entries);
  for (const file of named) {
    const text = readFileSync(path.join(folder, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/\b(?:from |import\()['"](\.[^'"]+)\.(?:js|ts)['"]/g))
      named.add(path.join(path.dirname(file), `${name}.d.ts`));
  }
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.d.ts'));
  for (const file of files) if (!named.has(file)) rmSync(path.join(folder, file));
}

rmSync(at('dist'), { recursive: true, force: true });
try {
  const modules = await bundle(PACKAGE_ENTRIES, at('dist'));
  const reference = readdirSync(SWAGGER_UI).filter((file) => OF_REFERENCE.test(file));
  for (const file of reference) cpSync(path.join(SWAGGER_UI, file), at('dist', 'reference', file));
  writeFileSync(at('dist', 'licenses.txt'), licensesOf([...modules, path.join(SWAGGER_UI, 'index.html')]));
  run(at('node_modules', 'typescript', 'bin', 'tsc'), '-p', at('tsconfig.build.json'));
  removeUnnamedDeclarations(at('dist', 'types'), [
    'index.d.ts',
    path.join('client', 'index.d.ts'),
    path.join('testing', 'index.d.ts'),
  ]);
  run(at('node_modules', 'vite', 'bin', 'vite.js'), 'build', at('web'), '--logLevel', 'warn');
} catch (error) {
  rmSync(at('dist'), { recursive: true, force: true });
  throw error;
}
