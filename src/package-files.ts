/**
 * Locates the files of this package that are not code, in a clone and in an installation from npm. Only this module
 * does so: the bundled code depends on no other path.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The nearest parent folder with a package.json: the root of the package, wherever a bundler put this code. */
const ROOT = rootAbove(import.meta.dirname);

/** The folder of the migrations, with the journal that lists them. */
export const MIGRATIONS = path.join(ROOT, 'src', 'db', 'migrations');
export const MIGRATION_JOURNAL = path.join(MIGRATIONS, 'meta', '_journal.json');

/** The folder of the files that `nightshift init` writes. */
export const PROJECT_TEMPLATE = path.join(ROOT, 'templates', 'project');

/**
 * The URL of the module that `nightshift` resolves to in a config file. In the sources this is `index.ts` in the same
 * folder; a bundle puts all of its files into one folder, beside `index.js`.
 */
export const PACKAGE_ENTRY: string = new URL(
  import.meta.url.endsWith('.ts') ? './index.ts' : './index.js',
  import.meta.url,
).href;

/** The folder of the built console: a clone's own build, else that of the package. Null: the console was not built. */
export function consoleFolder(): string | null {
  const places = [path.join(ROOT, '.nightshift', 'web'), path.join(ROOT, 'dist', 'web')];
  return places.find((folder) => existsSync(path.join(folder, 'pages'))) ?? null;
}

/** The folder of Swagger UI's files, for the API reference: that of the installed package in a clone, else a copy. */
export function referenceFolder(): string {
  const installed = path.join(ROOT, 'node_modules', '@fastify', 'swagger-ui', 'static');
  return existsSync(installed) ? installed : path.join(ROOT, 'dist', 'reference');
}

/** The version in package.json. */
export const VERSION: string = versionOf(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')));

/** How package.json of another project names this package: by its version, or by its folder if it is a clone. */
export const NIGHTSHIFT_DEPENDENCY: string = existsSync(path.join(ROOT, 'bootstrap.js'))
  ? `file:${ROOT}`
  : `^${VERSION}`;

function rootAbove(folder: string): string {
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  const above = path.dirname(folder);
  if (above === folder)
    throw new Error(`No folder above ${import.meta.dirname} has a package.json. Install the package again.`);
  return rootAbove(above);
}

function versionOf(manifest: unknown): string {
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown';
}
