// Makes few files of many: the entries that are named, and the chunks that they share, all in one folder. A process starts several
// times faster from these than from thousands of modules, and needs less than half the memory (docs/decisions/0024-bundle.md).
import path from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Packages that stay outside of the bundle: provider SDKs, so that an installation can update them alone; optional
 * packages; the API of OpenTelemetry, so that a service that embeds the platform shares its own. All others are not
 * installed with the package.
 */
const EXTERNAL = ['@anthropic-ai/sdk', '@opentelemetry/api', 'openai', 'pg-native'];

/**
 * prom-client asks the API of OpenTelemetry only for exemplars, which we do not use, so it has its own copy: from the
 * package each start would load fifty files.
 */
function isExternal(id: string, importer: string | undefined): boolean {
  if (importer?.includes('/node_modules/prom-client/') === true) return false;
  return EXTERNAL.some((name) => id === name || id.startsWith(`${name}/`));
}

/**
 * `entries`: the names of the files that come out, without `.js`, and their sources. `folder` is written, not emptied.
 * Returns the paths of the modules that are in it.
 */
export async function bundle(entries: Readonly<Record<string, string>>, folder: string): Promise<string[]> {
  const build = await rolldown({
    cwd: import.meta.dirname,
    input: { ...entries },
    platform: 'node',
    external: isExternal,
    logLevel: 'warn',
  });
  try {
    const { output } = await build.write({
      dir: folder,
      format: 'esm',
      // Modules find each other and `index.js` in one folder, wherever that lies.
      entryFileNames: '[name].js',
      chunkFileNames: 'chunk-[hash].js',
      sourcemap: true,
      sourcemapExcludeSources: true,
      // Names stay, and so do positions in stack traces, by the source maps. Comments and spaces would cost memory.
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    });
    return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  } finally {
    await build.close();
  }
}

/** What the package ships: `nightshift`, `nightshift/client`, `nightshift/testing` and the command. */
export const PACKAGE_ENTRIES = {
  index: path.join('src', 'index.ts'),
  client: path.join('src', 'client', 'index.ts'),
  testing: path.join('src', 'testing', 'index.ts'),
  main: path.join('src', 'cli', 'main.ts'),
} as const;
