/** The files of a new project: the templates of this package, with its name, its version and keys made for it. */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { NIGHTSHIFT_DEPENDENCY, PROJECT_TEMPLATE } from '../../package-files.ts';

/** `file`: relative to the folder of the project. `isSecret`: only its owner may read it. */
export type ProjectFile = { file: string; text: string; isSecret: boolean };

/** npm packs no files of these names, so the templates have no dot. */
const DOTTED = ['gitignore', 'dockerignore', 'env', 'env.example'];

const SECRET = '.env';

export async function projectFiles(folder: string): Promise<ProjectFile[]> {
  const entries = await readdir(PROJECT_TEMPLATE, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(PROJECT_TEMPLATE, path.join(entry.parentPath, entry.name)))
    .sort();
  return Promise.all(
    names.map(async (name) => {
      const file = DOTTED.includes(name) ? `.${name}` : name;
      const text = await readFile(path.join(PROJECT_TEMPLATE, name), 'utf8');
      return { file, text: filled(file, text, folder), isSecret: file === SECRET };
    }),
  );
}

function filled(file: string, text: string, folder: string): string {
  if (file === SECRET) return text.replaceAll('<made>', () => randomBytes(32).toString('hex'));
  if (file !== 'package.json') return text;
  return text
    .replace('"my-agents"', JSON.stringify(packageName(folder)))
    .replace(/"nightshift": "[^"]*"/, `"nightshift": ${JSON.stringify(NIGHTSHIFT_DEPENDENCY)}`);
}

/** A name that npm accepts, made from that of the folder. */
export function packageName(folder: string): string {
  const name = path
    .basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '')
    .slice(0, 100);
  return name === '' || name === 'nightshift' ? 'my-agents' : name;
}
