import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfigFile } from '../../src/tools/config/config-file.ts';
import { PLACEHOLDERS, fromEnvironment } from '../../src/tools/packages/secrets.ts';

const root = resolve(import.meta.dirname, '../..');
const index = JSON.stringify(join(root, 'src/index.ts'));
const child = join(import.meta.dirname, 'load-child.ts');
const source = join(root, 'src/tools/config/config-file.ts');

const TOOL = `{
  name: 'hello', description: 'Says hello.', effect: 'none',
  input_schema: { type: 'object' }, execute: () => 'hello',
}`;

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'config-file-')));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  return path;
}

async function load(named: string[] = [], loader = source): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [child, loader, folder, ...named]);
  return JSON.parse(stdout);
}

describe('finding the config file', () => {
  test('none is needed', async () => {
    expect(await load()).toEqual({ path: null, tools: [], roles: {}, limits: {} });
  });

  test.each([
    ['nightshift.config.ts', `const tools: object[] = [${TOOL}]; export default { tools };`],
    ['nightshift.config.mjs', `export default { tools: [${TOOL}] };`],
    ['nightshift.config.js', `export default { tools: [${TOOL}] };`],
    ['nightshift.config.js', `module.exports = { tools: [${TOOL}] };`],
  ])('%s is found and run: %s', async (name, text) => {
    const path = await write(name, text);
    expect(await load()).toEqual({ path, tools: ['hello'], roles: {}, limits: {} });
  });

  test('two files are an error', async () => {
    await write('nightshift.config.ts', 'export default {};');
    await write('nightshift.config.js', 'export default {};');
    expect(await load()).toEqual({ refused: expect.stringContaining('both exist') });
    expect(await load(['nightshift.config.js'])).toMatchObject({ tools: [] });
  });

  test('a named file must exist, at any path', async () => {
    expect(await load(['gone.ts'])).toEqual({
      refused: `The file ${join(folder, 'gone.ts')} named by NIGHTSHIFT_CONFIG does not exist.`,
    });
    expect(await load(['.'])).toMatchObject({ refused: expect.stringContaining('does not exist') });
    const path = await write('deep/own.ts', `export default { limits: { max_steps: 3 as number } };`);
    expect(await load(['deep/own.ts'])).toMatchObject({ path, limits: { maxSteps: 3 } });
    expect(await load([path])).toMatchObject({ path });
  });

  test('types are stripped, and the package and zod can be imported', async () => {
    const zod = JSON.stringify(join(root, 'node_modules/zod/index.js'));
    await write(
      'nightshift.config.ts',
      `import { defineConfig } from ${index};
       import type { OperatorConfig } from ${index};
       import * as z from ${zod};
       type Own = OperatorConfig;
       const config: Own = defineConfig({
         tools: [{
           name: 'wave', description: 'Waves.', effect: 'none',
           input: z.object({ at: z.string() }),
           execute: ({ at }) => at satisfies string,
         }],
         roles: { host: { tools: ['wave'] } },
       });
       export default config;`,
    );
    expect(await load()).toMatchObject({ tools: ['wave'], roles: { host: { tools: ['wave'] } } });
  });
});

describe('an unusable file is refused with a message', () => {
  const refused = (text: RegExp): object => ({ refused: expect.stringMatching(text) });

  test.each([
    [
      'broken JavaScript',
      '.mjs',
      'export default {\n  tools: [ }\n',
      /cannot be loaded: Unexpected token.*config\.mjs:2\)/,
    ],
    ['broken TypeScript', '.ts', 'const a: = 3;', /cannot be loaded: .*config\.ts:1\)/s],
    [
      'TypeScript that is not erasable',
      '.ts',
      'enum A { b }\nexport default {};',
      /enum is not supported.*config\.ts:1\)/s,
    ],
    ['a fault of its own', '.mjs', '\nthrow new Error("no key");', /cannot be loaded: no key \(.*config\.mjs:2:7\)/],
    ['a package that is not there', '.mjs', 'import "not-there";', /cannot be loaded: Cannot find package 'not-there'/],
    ['no default export', '.ts', 'export const tools = [];', /has no default export/],
    [
      'a promise',
      '.mjs',
      'export default Promise.resolve({});',
      /is invalid:\n {2}The configuration must be an object, not a Promise\./,
    ],
    [
      'members that are wrong',
      '.mjs',
      'export default { tools: 1, x: 2 };',
      /invalid:\n {2}Unknown field `x`\. .*\n {2}tools: must be a list, not a number\.$/,
    ],
  ])('%s', async (_, extension, text, message) => {
    await write(`nightshift.config${extension}`, text);
    expect(await load()).toEqual(refused(message));
  });
});

test.each([
  ['.mjs', 'export const a = ;\n', /Unexpected token.*\(.*tools\/broken\.mjs:1\)/],
  ['.ts', '\nexport const a: = 3;\n', /cannot be loaded: .*\(.*tools\/broken\.ts:2\)/],
])('a fault in an imported %s file is told with its line', async (extension, text, message) => {
  await write(`tools/broken${extension}`, text);
  await write('tools/fine.mjs', 'export const fine = 1;');
  await write(
    'nightshift.config.mjs',
    `import './tools/fine.mjs';\nimport './tools/broken${extension}';\nimport { defineConfig } from 'nightshift';`,
  );
  expect(await load()).toEqual({ refused: expect.stringMatching(message) });
});

describe('a clone', () => {
  test('needs no build for a file that imports nightshift, at any path', async () => {
    await write(
      'nightshift.config.ts',
      `import { defineConfig } from 'nightshift';
       export default defineConfig({ tools: [${TOOL}] });`,
    );
    expect(await load()).toMatchObject({ tools: ['hello'] });
  });
});

test('tells the files that were loaded, and those that an import did not find', async () => {
  const path = await write('nightshift.config.ts', "import './there.ts';\nexport default {};");
  await write('there.ts', "await import('./later/one.ts');");
  const files: string[] = [];
  await expect(
    loadConfigFile(folder, null, { secrets: PLACEHOLDERS, onFile: (file) => files.push(file) }),
  ).rejects.toThrow('later/one.ts');
  expect(files).toEqual([path, join(folder, 'there.ts'), join(folder, 'later/one.ts')]);
});

describe('a tool package in node_modules', () => {
  const weather = 'node_modules/weather-tools';

  beforeEach(async () => {
    await write(`${weather}/package.json`, '{ "name": "weather-tools", "type": "module", "exports": "./index.js" }');
    await write(
      `${weather}/index.js`,
      `import { defineToolPackage } from 'nightshift';
       export const weather = defineToolPackage({
         name: 'weather', secrets: ['WEATHER_API_KEY'], tools: () => [${TOOL}],
       });`,
    );
    await write(
      'nightshift.config.ts',
      `import { defineConfig, env } from 'nightshift';
       import { weather } from 'weather-tools';
       export default defineConfig({
         tools: [weather({ prefix: 'north_' }), weather({ prefix: 'south_', secrets: { WEATHER_API_KEY: env('PATH') } })],
         roles: { guide: { tools: ['north_hello'] } },
       });`,
    );
  });

  test('brings its tools', async () => {
    const secrets = fromEnvironment({ WEATHER_API_KEY: 'a-key-of-a-test', PATH: 'another-one' });
    const { tools, roles, hide } = await loadConfigFile(folder, null, { secrets });
    expect(tools.map(({ descriptor }) => descriptor.name)).toEqual(['north_hello', 'south_hello']);
    expect(roles.get('guide')).toEqual({ tools: ['north_hello'] });
    expect(hide('a-key-of-a-test')).toBe('[secret WEATHER_API_KEY]');
  });

  test('needs its secrets', async () => {
    expect(await load()).toEqual({
      refused: expect.stringContaining(
        'tools[0] (package weather): secrets.WEATHER_API_KEY: is missing. Set the environment variable WEATHER_API_KEY',
      ),
    });
  });

  test('is watched if it is linked from a folder of its author', async () => {
    await rm(join(folder, weather), { recursive: true });
    const path = await write(
      'tools/index.mjs',
      `import { defineToolPackage } from 'nightshift';
       export const weather = defineToolPackage({ name: 'weather', tools: () => [] });`,
    );
    await write('tools/package.json', '{ "name": "weather-tools", "exports": "./index.mjs" }');
    await symlink(join(folder, 'tools'), join(folder, weather));
    await write(
      'nightshift.config.mjs',
      "import { weather } from 'weather-tools';\nexport default { tools: [weather()] };",
    );
    const files: string[] = [];
    await loadConfigFile(folder, 'nightshift.config.mjs', {
      secrets: PLACEHOLDERS,
      onFile: (file) => files.push(file),
    });
    expect(files).toContain(path);
  });
});

describe('an installed package', () => {
  test('is JavaScript, and still runs the operator’s TypeScript beside node_modules', async () => {
    const installed = 'node_modules/nightshift';
    await write(`${installed}/package.json`, '{ "name": "nightshift", "type": "module", "exports": "./index.js" }');
    await compileTo(join(folder, installed));
    await write(
      'nightshift.config.ts',
      `import { defineConfig } from 'nightshift';
       const name: string = 'hello';
       export default defineConfig({ tools: [${TOOL}], roles: { [name]: { tools: ['hello'] } } });`,
    );
    await write('package.json', '{ "type": "module" }');
    const loader = join(folder, installed, 'tools/config/config-file.js');
    expect(await load([], loader)).toMatchObject({
      tools: ['hello'],
      roles: { hello: { tools: ['hello'] } },
    });
  });
});

/** As the package's own build does; its dependencies are taken from here. */
async function compileTo(out: string): Promise<void> {
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      // `npm run check` checks the types.
      noCheck: true,
      rewriteRelativeImportExtensions: true,
      outDir: out,
      rootDir: join(root, 'src'),
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [],
    files: [join(root, 'src/index.ts'), join(root, 'src/tools/config/config-file.ts')],
  };
  const path = await write('tsconfig.json', JSON.stringify(config));
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', path]);
  for (const name of ['ajv', 'ajv-formats', 'typebox']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
}
