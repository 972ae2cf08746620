// `nightshift init`: the files of a new project, all or none.
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { packageName } from '../../src/cli/init/project.ts';
import { writeProject } from '../../src/cli/init/write-project.ts';
import { parseEnvironment } from '../../src/config/config.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { run } from './command-line.ts';

const FILES = [
  '.dockerignore',
  '.env',
  '.env.example',
  '.gitignore',
  'Dockerfile',
  'docker-compose.yml',
  'nightshift.config.ts',
  'package.json',
  'tools/order-status.test.ts',
  'tools/order-status.ts',
  'tsconfig.json',
];

type Version = { version: string };

let home = '';

beforeAll(async () => {
  home = await temporaryFolder();
});

afterAll(() => removeFolder(home));

const at = (...parts: string[]): string => path.join(home, ...parts);

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))).sort();
}

function variablesOf(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
}

test('writes a new folder, and says what to do next', async () => {
  const { code, out, err } = await run(['init', at('new shop')]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(await filesIn(at('new shop'))).toEqual(FILES);
  expect(await readdir(home)).toEqual(['new shop']);
  for (const step of [/cd '.*new shop'/, /npm install/, /npm test/, /npx nightshift dev/]) expect(out).toMatch(step);
  expect(JSON.parse(await readFile(at('new shop', 'package.json'), 'utf8'))).toMatchObject({ name: 'new-shop' });
});

test('the keys are made for each project, and only their owner can read them', async () => {
  const keys = await Promise.all(
    ['keys-a', 'keys-b'].map(async (name) => {
      await run(['init', at(name)]);
      expect((await stat(at(name, '.env'))).mode & 0o777).toBe(0o600);
      const env = variablesOf(await readFile(at(name, '.env'), 'utf8'));
      expect(parseEnvironment(env).secretKeys).toEqual([env['NIGHTSHIFT_SECRET_KEY']]);
      return ['NIGHTSHIFT_SECRET_KEY', 'COMPOSE_API_KEY', 'POSTGRES_PASSWORD'].map((one) => env[one]);
    }),
  );
  expect(new Set(keys.flat()).size).toBe(6);
  expect(keys.flat()).toEqual(Array.from({ length: 6 }, () => expect.stringMatching(/^[0-9a-f]{64}$/)));
});

test('writes into a folder that has other files, and --json lists what it wrote', async () => {
  await mkdir(at('there'));
  await writeFile(at('there', 'notes.md'), 'mine');
  const { code, out } = await run(['init', at('there'), '--json']);
  expect(code).toBe(0);
  const told = JSON.parse(out) as { folder: string; files: string[] };
  expect(told.folder).toBe(at('there'));
  expect(told.files.toSorted()).toEqual(FILES);
  expect(await filesIn(at('there'))).toEqual([...FILES, 'notes.md'].sort());
});

test('writes nothing where one of the files exists, and lists those that do', async () => {
  await mkdir(at('taken', 'tools'), { recursive: true });
  await writeFile(at('taken', 'package.json'), '{}');
  await writeFile(at('taken', 'tools', 'order-status.ts'), '// mine');
  const { code, err } = await run(['init', at('taken')]);
  expect(code).toBe(1);
  expect(err).toContain('package.json, tools/order-status.ts. Nothing was written.');
  expect(await filesIn(at('taken'))).toEqual(['package.json', 'tools/order-status.ts']);
  const asJson = await run(['init', at('taken'), '--json']);
  expect(JSON.parse(asJson.err)).toMatchObject({ code: 'refused' });
});

test('the package create-nightshift has the version of this one', async () => {
  const versions = ['package.json', 'packages/create-nightshift/package.json'].map(async (file) => {
    const { version } = JSON.parse(await readFile(path.join(import.meta.dirname, '../..', file), 'utf8')) as Version;
    return version;
  });
  expect(new Set(await Promise.all(versions)).size).toBe(1);
});

test('a file in place of the folder is refused', async () => {
  await writeFile(at('file'), '');
  expect(await run(['init', at('file')])).toMatchObject({ code: 1, err: expect.stringContaining('is not a folder') });
});

test('what was written is removed if a later file cannot be written', async () => {
  await mkdir(at('half'));
  await writeFile(at('half', 'mine'), '');
  const files = ['first', 'deep/second', 'mine/third'].map((file) => ({ file, text: '', isSecret: false }));
  await expect(writeProject(at('half'), files)).rejects.toThrow(/cannot be written/);
  expect(await readdir(at('half'))).toEqual(['mine']);
});

test.each([
  ['/x/My Shop', 'my-shop'],
  ['/x/.hidden', 'hidden'],
  ['/x/nightshift', 'my-agents'],
  ['/x/店', 'my-agents'],
])('the folder %s gives the package name %s', (folder, name) => {
  expect(packageName(folder)).toBe(name);
});

describe('docker-compose.yml', () => {
  test('workers have a workspace on a volume', async () => {
    await run(['init', at('volumes')]);
    const text = await readFile(at('volumes', 'docker-compose.yml'), 'utf8');
    expect(parse(text, { merge: true })).toMatchObject({
      services: {
        worker: {
          environment: { NIGHTSHIFT_WORKSPACES: '/workspaces', LOG_LEVEL: expect.any(String) },
          volumes: ['workspaces:/workspaces'],
        },
      },
      volumes: { workspaces: null },
    });
  });

  test('asks only for variables that .env.example has, and .env has each that must be set', async () => {
    await run(['init', at('compose')]);
    const text = await readFile(at('compose', 'docker-compose.yml'), 'utf8');
    const example = variablesOf(await readFile(at('compose', '.env.example'), 'utf8'));
    const env = variablesOf(await readFile(at('compose', '.env'), 'utf8'));
    const asked = [...text.matchAll(/\$\{(\w+):?([-?])/g)].map(([, name = '', kind = '']) => ({ name, kind }));
    expect(asked.map(({ name }) => name).filter((name) => !(name in example) && name !== 'PORT')).toEqual([]);
    expect(asked.filter(({ name, kind }) => kind === '?' && (env[name] ?? '') === '')).toEqual([]);
    expect(Object.keys((parse(text, { merge: true }) as { services: object }).services)).toEqual(
      expect.arrayContaining(['postgres', 'redis', 'migrate', 'api', 'worker']),
    );
  });
});
