// Makes `dist/`, what the npm package ships: JavaScript with declarations, and the files that are not code.
// A half-made `dist/` is never left where the whole one should be: a failed build leaves none.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';

const at = (...parts: string[]): string => path.join(import.meta.dirname, ...parts);

rmSync(at('dist'), { recursive: true, force: true });
const tsc = at('node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', at('tsconfig.build.json')], { stdio: 'inherit' });
if (status === 0) {
  cpSync(at('src', 'db', 'migrations'), at('dist', 'db', 'migrations'), { recursive: true });
} else {
  rmSync(at('dist'), { recursive: true, force: true });
  process.exitCode = 1;
}
