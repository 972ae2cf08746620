// Makes `dist/`, what the npm package ships: JavaScript with declarations, the console, and the files that are not code.
// A half-made `dist/` is never left where the whole one should be: a failed build leaves none.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';

const at = (...parts: string[]): string => path.join(import.meta.dirname, ...parts);

rmSync(at('dist'), { recursive: true, force: true });
const run = (...args: string[]): boolean =>
  spawnSync(process.execPath, args, { stdio: 'inherit' }).status === 0;
const isBuilt =
  run(at('node_modules', 'typescript', 'bin', 'tsc'), '-p', at('tsconfig.build.json')) &&
  run(at('node_modules', 'vite', 'bin', 'vite.js'), 'build', at('web'), '--logLevel', 'warn');
if (isBuilt) {
  cpSync(at('src', 'db', 'migrations'), at('dist', 'db', 'migrations'), { recursive: true });
} else {
  rmSync(at('dist'), { recursive: true, force: true });
  process.exitCode = 1;
}
