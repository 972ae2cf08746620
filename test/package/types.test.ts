// The declarations of the installed package, compiled as the projects of users compile them: with two compilers, two ways to
// find modules, and both meanings of optional properties. Its own declarations and those of the libraries are checked, too.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { blocksOf } from '../docs/blocks.ts';
import { depth } from '../services/depth.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const SAMPLES = path.join(import.meta.dirname, 'samples');
const run = promisify(execFile);

const COMPILERS = ['typescript', 'typescript-5.9'];
const LIBRARIES = [
  'zod',
  'arktype',
  'valibot',
  '@valibot/to-json-schema',
  '@types',
  'pg-protocol',
  'pg-types',
  'postgres',
];

/** The guide's five ways to describe an input: its type is that of the schema, and a wrong use of it is an error. */
const INFERRED = `
type Input<Tool extends { execute(input: never, ...rest: never[]): unknown }> = Parameters<Tool['execute']>[0];
const full = { order: 'A-17', days: 3 };
export const converted: [Input<typeof withZod>, Input<typeof withArkType>, Input<typeof withValibot>] = [full, full, full];
export const unchanged: [Input<typeof withTypeBox>, Input<typeof withJsonSchema>] = [{ order: 'A-17' }, full];
export const tools: ToolDefinition[] = [withZod, withArkType, withValibot, withTypeBox, withJsonSchema];
// @ts-expect-error: the order is text
export const ofZod: Input<typeof withZod> = { order: 17, days: 3 };
// @ts-expect-error: the order is text
export const ofArkType: Input<typeof withArkType> = { order: 17, days: 3 };
// @ts-expect-error: the order is text
export const ofValibot: Input<typeof withValibot> = { order: 17, days: 3 };
// @ts-expect-error: the order is text
export const ofTypeBox: Input<typeof withTypeBox> = { order: 17 };
// @ts-expect-error: the order is text
export const ofJsonSchema: Input<typeof withJsonSchema> = { order: 17 };
`;

let folder = '';
let all: string[] = [];

beforeAll(async () => {
  folder = await temporaryFolder();
  const modules = path.join(folder, 'node_modules');
  await mkdir(path.join(modules, '@valibot'), { recursive: true });
  for (const name of LIBRARIES) await symlink(path.join(ROOT, 'node_modules', name), path.join(modules, name));
  for (const name of ['nightshift', 'typebox'])
    await symlink(path.join(inject('installed'), 'node_modules', name), path.join(modules, name));
  await writeFile(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  const samples = await readdir(SAMPLES);
  for (const name of samples) await copyFile(path.join(SAMPLES, name), path.join(folder, name));
  const guide = blocksOf('docs/guides/tools.md').find(({ text }) => text.includes('arktype'))?.text ?? '';
  await writeFile(
    path.join(folder, 'inferred.ts'),
    `import type { ToolDefinition } from 'nightshift';\n${guide}${INFERRED}`,
  );
  all = [...samples, 'inferred.ts'];
});

afterAll(() => removeFolder(folder));

let projects = 0;

/** What a compiler says against these files. */
async function faultsOf(compiler: string, files: readonly string[], options: object): Promise<string> {
  projects += 1;
  const project = path.join(folder, `tsconfig.${projects}.json`);
  const compilerOptions = {
    target: 'es2024',
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    allowImportingTsExtensions: true,
    ...options,
  };
  await writeFile(project, JSON.stringify({ compilerOptions, files }));
  const tsc = path.join(ROOT, 'node_modules', compiler, 'bin/tsc');
  const said = run(process.execPath, [tsc, '-p', project]);
  const { stdout, stderr } = await said.catch((error: { stdout: string; stderr: string }) => error);
  // A compiler that does not run writes to stderr only.
  return stdout + stderr;
}

describe.each(COMPILERS)('%s', (compiler) => {
  test.each([
    { module: 'nodenext', moduleResolution: 'nodenext', exactOptionalPropertyTypes: true },
    { module: 'nodenext', moduleResolution: 'nodenext', exactOptionalPropertyTypes: false },
    { module: 'esnext', moduleResolution: 'bundler', exactOptionalPropertyTypes: true },
    { module: 'esnext', moduleResolution: 'bundler', exactOptionalPropertyTypes: false },
  ])(
    'every sample compiles: $moduleResolution, exact optional properties $exactOptionalPropertyTypes',
    async (options) => {
      // Most of the time is for the declarations of the four schema libraries. In the gate they take part in two of the ways.
      const isEach = options.exactOptionalPropertyTypes === (options.module === 'nodenext');
      const files = isEach
        ? all
        : depth(
            all.filter((file) => file !== 'inferred.ts'),
            all,
          );
      // The types of ArkType need those of Node.
      expect(await faultsOf(compiler, files, { ...options, types: ['node'] })).toBe('');
    },
  );

  test('a config file, the client and a service compile without the types of Node', async () => {
    const files = ['config.ts', 'client.ts', 'service.ts'];
    expect(await faultsOf(compiler, files, { module: 'nodenext', types: [] })).toBe('');
  });
});
