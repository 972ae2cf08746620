/**
 * Finds and loads the config file: `nightshift.config.ts`, `.js` or `.mjs` in the working directory, or the file that
 * NIGHTSHIFT_CONFIG names. Node.js runs it directly. It strips types only outside `node_modules`, where the config file
 * always is.
 */
import { stat } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PACKAGE_ENTRY } from '../../package-files.ts';
import type { SecretSource } from '../packages/secrets.ts';
import { faultText } from '../run/fault.ts';
import { NO_SETTINGS, parseConfigFile, type OperatorSettings } from './parse-config.ts';
import { placeIn, syntaxPlace } from './syntax-place.ts';

const NAMES = ['nightshift.config.ts', 'nightshift.config.js', 'nightshift.config.mjs'];

/** `path`: the loaded file; null: none was found. */
export type ConfigFile = OperatorSettings & { path: string | null };

/** The config file is invalid. The message lists all faults and is shown without a stack trace. */
export class ConfigFileError extends Error {
  override name = 'ConfigFileError';
}

type LoadOptions = {
  /** Of tool packages. `PLACEHOLDERS` for what runs no tool. */
  secrets: SecretSource;
  /**
   * Gets the path of the config file and of each file that it imports, outside of packages, also of those that do not
   * exist, each before it runs.
   */
  onFile?: (path: string) => void;
};

/** `named`: the value of NIGHTSHIFT_CONFIG, relative to `cwd`; null: not set. Throws ConfigFileError. */
export async function loadConfigFile(
  cwd: string,
  named: string | null,
  { secrets, onFile = () => undefined }: LoadOptions,
): Promise<ConfigFile> {
  const path = named === null ? await findIn(cwd) : await existing(resolve(cwd, named));
  if (path === null) return { ...NO_SETTINGS, path: null };
  const parsed = parseConfigFile(defaultOf(await load(path, onFile), path), secrets);
  if (!parsed.ok) throw new ConfigFileError([`${path} is invalid:`, ...parsed.faults].join('\n  '));
  return { ...parsed.settings, path };
}

async function findIn(cwd: string): Promise<string | null> {
  const found: string[] = [];
  for (const name of NAMES) {
    const path = resolve(cwd, name);
    if (await isFile(path)) found.push(path);
  }
  if (found.length > 1) {
    throw new ConfigFileError(
      `${found.join(' and ')} both exist. Remove one, or set NIGHTSHIFT_CONFIG to the one to use.`,
    );
  }
  return found[0] ?? null;
}

async function existing(path: string): Promise<string> {
  if (await isFile(path)) return path;
  throw new ConfigFileError(`The file ${path} named by NIGHTSHIFT_CONFIG does not exist.`);
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() ?? false;
}

function defaultOf(module: unknown, path: string): unknown {
  if (typeof module === 'object' && module !== null && 'default' in module) return module.default;
  throw new ConfigFileError(`${path} has no default export. Add \`export default defineConfig({ … })\`.`);
}

/** In a config file, `nightshift` always resolves to this package, wherever the file is. */
async function load(path: string, onFile: (path: string) => void): Promise<unknown> {
  const files: string[] = [];
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      try {
        const found = next(specifier === 'nightshift' ? PACKAGE_ENTRY : specifier, context);
        if (isOwn(found.url)) {
          files.push(fileURLToPath(found.url));
          onFile(fileURLToPath(found.url));
        }
        return found;
      } catch (error) {
        const url = /^\.{1,2}\//.test(specifier) ? URL.parse(specifier, context.parentURL) : null;
        if (url !== null && isOwn(url.href)) onFile(fileURLToPath(url));
        throw error;
      }
    },
  });
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    const place = await placeOf(error, files);
    const where = place === null ? '' : ` (${place})`;
    throw new ConfigFileError(`${path} cannot be loaded: ${faultText(error)}${where}`, { cause: error });
  } finally {
    hooks.deregister();
  }
}

const PACKAGE_FOLDER = new URL('.', PACKAGE_ENTRY).href;

/** Whether a module is neither in a package nor of this one. */
function isOwn(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/') && !url.startsWith(PACKAGE_FOLDER);
}

/** `files`: the config file and its imports, in the order in which they were found. */
async function placeOf(error: unknown, files: readonly string[]): Promise<string | null> {
  if (!(error instanceof Error)) return null;
  const place = placeIn(error.stack ?? '');
  if (place !== null || error.name !== 'SyntaxError') return place;
  for (const file of files.toReversed()) {
    const found = await syntaxPlace(file);
    if (found !== null) return found;
  }
  return null;
}
