/**
 * Loads a config file as Node itself does (no test runner in between), and prints the result as JSON. Arguments: the
 * module that loads, the working directory, and the value of NIGHTSHIFT_CONFIG, if any.
 */
import { pathToFileURL } from 'node:url';
import type { loadConfigFile } from '../../src/tools/config/config-file.ts';
import { fromEnvironment } from '../../src/tools/packages/secrets.ts';

const [, , loader = '', cwd = '', named = null] = process.argv;
const { loadConfigFile: load } = (await import(pathToFileURL(loader).href)) as {
  loadConfigFile: typeof loadConfigFile;
};

try {
  const { path, tools, roles, limits } = await load(cwd, named, { secrets: fromEnvironment({}) });
  const names = tools.map((tool) => tool.descriptor.name);
  process.stdout.write(JSON.stringify({ path, tools: names, roles: Object.fromEntries(roles), limits }));
} catch (error) {
  if (!(error instanceof Error) || error.name !== 'ConfigFileError') throw error;
  process.stdout.write(JSON.stringify({ refused: error.message }));
}
