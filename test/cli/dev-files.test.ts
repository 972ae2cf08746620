// The files of a project that `nightshift dev` reads: `.env`, and the ones that it watches.
import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { describeEnvFile, readEnvFile } from '../../src/config/env-file.ts';
import { WatchedFiles } from '../../src/cli/dev/watch-files.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';

let folder = '';

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(() => removeFolder(folder));

const at = (name: string): string => path.join(folder, name);

describe('.env', () => {
  test('without one, the environment is the real one', () => {
    expect(readEnvFile(folder, { A: '1' })).toEqual({ env: { A: '1' }, file: null, names: [] });
  });

  test('adds variables, and the real environment wins, also where it is empty', async () => {
    await writeFile(at('.env'), '# keys\nA=file\nB="two words" # a comment\nC=file\n');
    expect(readEnvFile(folder, { A: 'real', C: '' })).toEqual({
      env: { A: 'real', B: 'two words', C: '' },
      file: at('.env'),
      names: ['B'],
    });
  });

  test('the names of its variables are told, and no value', async () => {
    await writeFile(at('.env'), 'A=secret\nB=secret\n');
    expect(describeEnvFile(readEnvFile(folder, {}))).toEqual([
      `Settings from ${at('.env')}; variables that are set already win. Taken from it: A, B`,
    ]);
    expect(describeEnvFile(readEnvFile(folder, { A: '', B: '' }))).toEqual([
      `Settings from ${at('.env')}; variables that are set already win. Taken from it: none`,
    ]);
  });

  test('a folder of this name is none, and a file that cannot be read is named', async () => {
    await mkdir(at('.env'));
    expect(readEnvFile(folder, {}).file).toBeNull();
    await rm(at('.env'), { recursive: true });
    await symlink('.env', at('.env'));
    expect(() => readEnvFile(folder, {})).toThrow(`${at('.env')} cannot be read (ELOOP): let this user read it`);
  });
});

describe('watched files', () => {
  let watched: WatchedFiles;
  let changes: string[][];
  let look: () => void = () => undefined;

  beforeEach(async () => {
    changes = [];
    watched = new WatchedFiles((changed) => {
      changes.push(changed.map((one) => path.relative(folder, one)));
      look();
    });
    await mkdir(at('tools'));
    await writeFile(at('config.ts'), 'one');
    await writeFile(at('tools/one.ts'), 'one');
    watched.watch([at('config.ts'), at('tools/one.ts'), at('.env')]);
  });

  afterEach(() => watched.close());

  /** Resolves once these places have been reported, in this order. */
  function reported(...places: string[]): Promise<void> {
    return new Promise((resolve) => {
      look = () => {
        if (JSON.stringify(changes.flat()) === JSON.stringify(places)) resolve();
      };
      look();
    });
  }

  test('tells which file changed', async () => {
    await writeFile(at('tools/one.ts'), 'two');
    await reported('tools/one.ts');
  });

  test('a file that an editor replaces has changed', async () => {
    await writeFile(at('config.ts~'), 'two');
    await rename(at('config.ts~'), at('config.ts'));
    await reported('config.ts');
  });

  test('.env counts from when it is written', async () => {
    await writeFile(at('.env'), 'A=1');
    await reported('.env');
  });

  test('another file of code in a watched folder counts: an import may have waited for it', async () => {
    await writeFile(at('tools/two.ts'), '');
    await reported('tools');
    await rm(at('tools/two.ts'));
    await reported('tools', 'tools');
  });

  test('a file counts whose folder did not exist', async () => {
    watched.watch([at('config.ts'), at('later/deep/one.ts')]);
    await mkdir(at('later/deep'), { recursive: true });
    await writeFile(at('later/deep/one.ts'), 'one');
    await reported('later/deep/one.ts');
    await writeFile(at('later/deep/one.ts'), 'two');
    await reported('later/deep/one.ts', 'later/deep/one.ts');
  });

  test('a touch, the same content, and files that are no code count as nothing', async () => {
    await utimes(at('config.ts'), new Date(0), new Date(0));
    await writeFile(at('config.ts'), 'one');
    await writeFile(at('tools/notes.md'), '');
    await writeFile(at('tools/one.ts'), 'two');
    await reported('tools/one.ts');
  });

  test('a change counts that happened while the list of files was replaced', async () => {
    await writeFile(at('config.ts'), 'two');
    watched.watch([at('config.ts')]);
    await reported('config.ts');
  });

  test('a file that is no longer watched does not count', async () => {
    watched.watch([at('config.ts')]);
    await writeFile(at('tools/one.ts'), 'two');
    await writeFile(at('config.ts'), 'two');
    await reported('config.ts');
  });
});
