// Makes what this package ships: the program, bundled from the sources of `nightshift init`, and the files of a project.
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundle } from '../../bundle.ts';
import { licensesOf } from '../../licenses.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const at = (name: string): string => path.join(import.meta.dirname, name);

for (const made of ['dist', 'templates']) rmSync(at(made), { recursive: true, force: true });
const modules = await bundle({ create: path.join('src', 'cli', 'init', 'create.ts') }, at('dist'));
writeFileSync(at('dist/licenses.txt'), licensesOf(modules));
cpSync(path.join(ROOT, 'templates'), at('templates'), { recursive: true });
cpSync(path.join(ROOT, 'LICENSE'), at('LICENSE'));
