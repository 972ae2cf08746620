// Makes `dist/`, what the npm package ships: bundled JavaScript, declarations in `dist/types`, and the console in `dist/web`. A
// failed build leaves no `dist/`.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ENTRIES, bundle } from './bundle.ts';

const at = (...parts: string[]): string => path.join(import.meta.dirname, ...parts);

function run(...args: string[]): void {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${args.join(' ')} failed; its message is above.`);
}

rmSync(at('dist'), { recursive: true, force: true });
try {
  await bundle(PACKAGE_ENTRIES, at('dist'));
  run(at('node_modules', 'typescript', 'bin', 'tsc'), '-p', at('tsconfig.build.json'));
  run(at('node_modules', 'vite', 'bin', 'vite.js'), 'build', at('web'), '--logLevel', 'warn');
} catch (error) {
  rmSync(at('dist'), { recursive: true, force: true });
  throw error;
}
