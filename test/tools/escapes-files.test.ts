// Attacks on the boundary of a workspace: each row is a known attempt, and ends with a coded error, with files outside
// neither read nor changed.
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_TENANT_NAME, parseId, type ContextId } from '../../src/core/ids.ts';
import { fileTools } from '../../src/tools/built-in/files/files.ts';
import type { FileLimits } from '../../src/tools/built-in/files/limits.ts';
import { usage } from '../../src/tools/built-in/files/survey.ts';
import { createWorkspaces } from '../../src/tools/built-in/files/workspaces.ts';
import { RESULT_CHARS, refusedWith, runnerFor, temporaryFolder } from './built-in-runner.ts';

const LIMITS: FileLimits = { fileBytes: 1_000, totalBytes: 5_000, entries: 30 };
const CONTEXT =
  parseId<ContextId>('0198c0de-0000-7000-8000-000000000001') ??
  (() => {
    throw new Error('no id');
  })();
const OF = { contextId: CONTEXT, tenantName: DEFAULT_TENANT_NAME };

let base: Awaited<ReturnType<typeof temporaryFolder>>;
let [root, here, outside] = ['', '', ''];
let run: ReturnType<typeof runnerFor>;

beforeEach(async () => {
  base = await temporaryFolder();
  root = path.join(base.path, 'workspaces');
  outside = path.join(base.path, 'outside');
  here = path.join(root, DEFAULT_TENANT_NAME, CONTEXT);
  mkdirSync(here, { recursive: true });
  mkdirSync(outside);
  writeFileSync(path.join(outside, 'secret'), 'needle of others');
  run = runnerFor(fileTools({ workspaces: createWorkspaces(root), limits: LIMITS, resultChars: RESULT_CHARS }));
});
afterEach(async () => {
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(readFileSync(path.join(outside, 'secret'), 'utf8')).toBe('needle of others');
  await base.remove();
});

const read = (at: string) => run('read_file', { path: at }, OF);
const write = (at: string, content = 'mine') => run('write_file', { path: at, content }, OF);
const remove = (at: string, recursive = false) => run('remove_file', { path: at, recursive }, OF);
const list = (at: string) => run('list_files', { path: at }, OF);
const search = (at: string) => run('search_files', { pattern: 'needle', path: at }, OF);
const inside = (...names: string[]): string => path.join(here, ...names);

describe('paths', () => {
  test.each<[string, string]>([
    ['..', 'path_outside'],
    ['../secret', 'path_outside'],
    ['../../../outside/secret', 'path_outside'],
    ['a/../../x', 'path_outside'],
    ['./../x', 'path_outside'],
    ['a/b/../../../x', 'path_outside'],
    ['/etc/passwd', 'path_outside'],
    ['//etc/passwd', 'path_outside'],
    ['C:\\secret', 'path_outside'],
    ['\\\\host\\share', 'path_outside'],
    ['a\0b', 'invalid_path'],
    ['../secret\0.txt', 'invalid_path'],
    ['x'.repeat(300), 'invalid_path'],
    ['.nightshift-write-x', 'invalid_path'],
    ['a\\b', 'invalid_path'],
    ['a\\..\\..\\x', 'invalid_path'],
  ])('%j: %s', async (at, code) => {
    const refused = refusedWith(code);
    if (code !== 'invalid_path' || at.length < 300) {
      for (const output of [await list(at), await search(at)]) expect(output).toEqual(refused);
    }
    expect(await read(at)).toEqual(refused);
    expect(await write(at)).toEqual(refused);
    expect(await remove(at, true)).toEqual(refused);
  });

  test('that only look like an escape work', async () => {
    expect(await write('a/../..b/%2e%2e/...')).toMatchObject({ isError: false });
    expect(readFileSync(inside('..b', '%2e%2e', '...'), 'utf8')).toBe('mine');
  });

  test('of another context or tenant lead nowhere', async () => {
    writeFileSync(inside('mine'), 'x');
    const other = { ...OF, tenantName: '..' };
    expect(await run('read_file', { path: 'mine' }, other)).toEqual(refusedWith('not_found'));
    expect(readdirSync(root)).toEqual(['_..', DEFAULT_TENANT_NAME]);
    const { contextId: _, ...elsewhere } = OF;
    expect(await run('read_file', { path: 'mine' }, elsewhere)).toEqual(refusedWith('not_found'));
  });
});

describe('links', () => {
  test.each<[string, () => void, string]>([
    ['to a file', () => symlinkSync(path.join(outside, 'secret'), inside('l')), 'l'],
    ['to a file, relative', () => symlinkSync('../../../outside/secret', inside('l')), 'l'],
    ['to a directory', () => symlinkSync(outside, inside('l')), 'l/secret'],
    ['to the root', () => symlinkSync('/', inside('l')), 'lPATH'],
    ['to this process', () => symlinkSync('/proc/self', inside('l')), 'l/environ'],
    [
      'in the middle',
      () => {
        mkdirSync(inside('a'));
        symlinkSync(outside, inside('a', 'l'));
      },
      'a/l/secret',
    ],
    [
      'through another link',
      () => {
        symlinkSync(outside, inside('k'));
        symlinkSync('k', inside('l'));
      },
      'l/secret',
    ],
    ['to itself', () => symlinkSync('l', inside('l')), 'l'],
    ['to nowhere', () => symlinkSync(path.join(outside, 'new'), inside('l')), 'l'],
    ['hard', () => linkSync(path.join(outside, 'secret'), inside('l')), 'l'],
  ])('%s', async (name, make, at) => {
    make();
    const place = at.replace('PATH', `${outside}/secret`);
    expect(await read(place)).toEqual(refusedWith('link_refused'));
    if (name !== 'hard') expect(await write(place)).toEqual(refusedWith('link_refused'));
    expect(await search('')).toMatchObject({ isError: false, result: { matches: [] } });
  });

  test('a hard link is replaced, and its target stays', async () => {
    linkSync(path.join(outside, 'secret'), inside('l'));
    expect(await write('l')).toMatchObject({ isError: false });
    expect(readFileSync(inside('l'), 'utf8')).toBe('mine');
  });

  test('are listed, and their directories are not', async () => {
    symlinkSync(outside, inside('l'));
    expect(await list('')).toEqual({
      isError: false,
      result: { entries: [{ name: 'l', type: 'link', size: 0 }], truncated: false },
    });
    expect(await list('l')).toEqual(refusedWith('link_refused'));
    expect(await search('l')).toEqual(refusedWith('link_refused'));
  });

  test.runIf(process.platform === 'linux')('that replace a directory again and again allow no escape', async () => {
    const lay = (): void => {
      for (const name of ['real', 'aside', 'trap']) rmSync(inside(name), { recursive: true, force: true });
      mkdirSync(inside('real'));
      writeFileSync(inside('real', 'secret'), 'mine');
      symlinkSync(outside, inside('trap'));
    };
    const soon = () => new Promise((resolve) => setImmediate(resolve));
    const over = new AbortController();
    const swap = async (): Promise<void> => {
      let isLaid = false;
      while (!over.signal.aborted) {
        try {
          if (!isLaid) lay();
          isLaid = true;
          renameSync(inside('real'), inside('aside'));
          renameSync(inside('trap'), inside('real'));
          await soon();
          renameSync(inside('real'), inside('trap'));
          renameSync(inside('aside'), inside('real'));
        } catch {
          // A write made the directory again in the meantime, or a file in it while it was deleted.
          isLaid = false;
        }
        await soon();
      }
    };
    const swapping = swap();
    const output: unknown[] = [];
    for (let left = 300; left > 0; left -= 1) {
      output.push(await read('real/secret'), await write('real/secret', 'mine'));
    }
    over.abort();
    await swapping;
    expect(JSON.stringify(output)).not.toContain('needle');
    expect(JSON.stringify(output)).toContain('"content":"mine"');
  });
});

describe('a path that is not a file', () => {
  test('a directory is not read, and not overwritten', async () => {
    mkdirSync(inside('d'));
    expect(await read('d')).toEqual(refusedWith('not_a_file'));
    expect(await write('d')).toEqual(refusedWith('not_a_file'));
    expect(await read('')).toEqual(refusedWith('invalid_input'));
    expect(await write('.')).toEqual(refusedWith('not_a_file'));
  });

  test('a file is no directory', async () => {
    await write('f');
    expect(await list('f')).toEqual(refusedWith('not_a_directory'));
    expect(await write('f/g')).toEqual(refusedWith('not_a_directory'));
  });

  test('a pipe is not waited for', async () => {
    execFileSync('mkfifo', [inside('p')]);
    expect(await read('p')).toEqual(refusedWith('not_a_file'));
    expect(await write('p')).toEqual(refusedWith('not_a_file'));
    expect(await search('')).toMatchObject({ isError: false, result: { matches: [] } });
  });

  test('a missing file is reported', async () => {
    expect(await read('a/b')).toEqual(refusedWith('not_found'));
    expect(await list('a')).toEqual(refusedWith('not_found'));
  });
});

describe('sizes', () => {
  test('a file that is too large is not written', async () => {
    expect(await write('f', 'x'.repeat(1_001))).toEqual(refusedWith('file_too_large'));
    expect(readdirSync(here)).toEqual([]);
  });

  test('a full workspace takes no more', async () => {
    let files = 0;
    while ((await write(`d/${files}`, 'x'.repeat(1_000)))?.isError === false) files += 1;
    expect(files).toBeGreaterThan(0);
    expect(files).toBeLessThan(5);
    expect(await write('more', 'x'.repeat(1_000))).toEqual(refusedWith('quota_exceeded'));
    expect(await remove('d/0')).toMatchObject({ isError: false, result: { removed: 1 } });
    expect(await write('more', 'x'.repeat(1_000))).toMatchObject({ isError: false });
  });

  test('the used disk space counts, not the apparent size of a file', async () => {
    const handle = openSync(inside('sparse'), 'w');
    ftruncateSync(handle, 1_000_000_000_000);
    closeSync(handle);
    expect(await write('more')).toMatchObject({ isError: false });
  });

  test('existing files are counted once, and the count is kept beside the workspace', async () => {
    await write('a/b/f', 'x');
    const kept = readFileSync(`${here}.usage`, 'utf8');
    expect(kept).toMatch(/^\d+ 3\n$/);
    // Files that no tool wrote are not seen until the next count.
    for (let left = 30; left > 0; left -= 1) writeFileSync(inside(`e${left}`), '');
    expect(await write('a/b/f', 'y')).toMatchObject({ isError: false });
    expect(readFileSync(`${here}.usage`, 'utf8')).toBe(kept);
    rmSync(`${here}.usage`);
    expect(await write('a/b/f', 'y')).toEqual(refusedWith('quota_exceeded'));
  });

  test('many writes at once are counted one by one', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, at) => write(`f${at}`, '')));
    expect(readFileSync(`${here}.usage`, 'utf8')).toMatch(/ 20\n$/);
    await Promise.all(Array.from({ length: 20 }, (_, at) => remove(`f${at}`)));
    expect(readFileSync(`${here}.usage`, 'utf8')).toBe('0 0\n');
  });

  test('a workspace of too many entries is full as well', async () => {
    for (let left = 30; left > 0; left -= 1) writeFileSync(inside(`e${left}`), '');
    expect(await write('more')).toEqual(refusedWith('quota_exceeded'));
  });

  test('a workspace of folders that are too deep is full as well, and such a path is not made', async () => {
    const names = Array.from({ length: 34 }, () => 'd');
    expect(await write(`${names.slice(0, 32).join('/')}/f`)).toMatchObject({ isError: false });
    expect(await usage(here, 1_000, new AbortController().signal)).toMatchObject({ entries: 33 });
    expect(await write(names.join('/'))).toEqual(refusedWith('invalid_path'));
    expect(await list(names.join('/'))).toEqual(refusedWith('invalid_path'));
    mkdirSync(inside(...names), { recursive: true });
    expect(await usage(here, 1_000, new AbortController().signal)).toMatchObject({ entries: 1_001 });
    rmSync(`${here}.usage`, { force: true });
    expect(await write('more')).toEqual(refusedWith('quota_exceeded'));
    expect(await search('')).toMatchObject({ result: { truncated: true } });
  });

  test('a walk ends with its call', async () => {
    mkdirSync(inside('d', 'e'), { recursive: true });
    const abort = new AbortController();
    abort.abort();
    for (const [tool, input] of [
      ['search_files', { pattern: 'x' }],
      ['write_file', { path: 'f', content: '' }],
      ['remove_file', { path: 'd', recursive: true }],
    ] as const)
      expect(await run(tool, input, OF, abort.signal)).toBeNull();
    await expect(usage(here, 30, abort.signal)).rejects.toThrow();
    expect(readdirSync(here)).toEqual(['d']);
  });

  test('a long file is cut, and a long line, too', async () => {
    writeFileSync(inside('f'), `${'é'.repeat(300)}needle${'x'.repeat(5_000)}`);
    expect(await read('f')).toMatchObject({ result: { size: 5_606, truncated: true } });
    writeFileSync(inside('f'), `a\n${'é'.repeat(300)}needle${'x'.repeat(300)}\n`);
    expect(await search('')).toMatchObject({
      result: { matches: [{ path: 'f', line: 2 }], truncated: false },
    });
    expect(JSON.stringify(await search('')).length).toBeLessThan(600);
  });

  test('binary files are not read, and not searched', async () => {
    writeFileSync(inside('b'), Buffer.from([0x89, 0x50, 0, 0xff, ...Buffer.from('needle')]));
    expect(await read('b')).toEqual(refusedWith('binary_file'));
    expect(await search('')).toMatchObject({ result: { matches: [] } });
  });
});

describe('a removal', () => {
  test('removes a file, an empty directory, a directory with all in it, or nothing', async () => {
    await write('a/b/f');
    await write('a/g');
    expect(await remove('a')).toEqual(refusedWith('directory_not_empty'));
    expect(await remove('a/g')).toMatchObject({ result: { path: 'a/g', removed: 1 } });
    expect(await remove('a/g')).toMatchObject({ isError: false, result: { removed: 0 } });
    expect(await remove('a', true)).toMatchObject({ result: { removed: 3 } });
    expect(await remove('x/y')).toEqual(refusedWith('not_found'));
    expect(await remove('')).toEqual(refusedWith('invalid_input'));
    expect(await remove('.')).toEqual(refusedWith('not_a_file'));
    expect(readdirSync(here)).toEqual([]);
  });

  test('removes a link, and not its target', async () => {
    mkdirSync(inside('d'));
    symlinkSync(outside, inside('d', 'l'));
    symlinkSync(outside, inside('l'));
    expect(await remove('l/secret')).toEqual(refusedWith('link_refused'));
    expect(await remove('l', true)).toMatchObject({ result: { removed: 1 } });
    expect(await remove('d', true)).toMatchObject({ result: { removed: 2 } });
    expect(readdirSync(here)).toEqual([]);
  });

  test('removes paths deeper than a path may be', async () => {
    mkdirSync(inside(...Array.from({ length: 100 }, () => 'd')), { recursive: true });
    expect(await remove('d', true)).toMatchObject({ result: { removed: 100 } });
  });
});

test('written files are read, listed and found', async () => {
  expect(await write('notes/a.txt', 'one\nneedle (.*)+$\r\n')).toEqual({
    isError: false,
    result: { path: 'notes/a.txt', size: 19 },
  });
  expect(await read('notes/a.txt')).toEqual({
    isError: false,
    result: { content: 'one\nneedle (.*)+$\r\n', size: 19, truncated: false },
  });
  expect(await list('notes')).toMatchObject({
    result: { entries: [{ name: 'a.txt', type: 'file', size: 19 }] },
  });
  expect(await run('search_files', { pattern: '(.*)+$' }, OF)).toEqual({
    isError: false,
    result: { matches: [{ path: 'notes/a.txt', line: 2, text: 'needle (.*)+$' }], truncated: false },
  });
  expect(readdirSync(inside('notes'))).toEqual(['a.txt']);
});

test('leftovers of a death in the middle of a write are neither seen nor in the way', async () => {
  writeFileSync(inside('f'), 'before');
  writeFileSync(inside('.nightshift-write-k'), 'ha');
  expect(await list('')).toMatchObject({ result: { entries: [{ name: 'f' }] } });
  const again = { ...OF, idempotencyKey: 'k' };
  expect(await run('write_file', { path: 'f', content: 'after' }, again)).toMatchObject({ isError: false });
  expect(await run('write_file', { path: 'f', content: 'after' }, again)).toMatchObject({ isError: false });
  expect(readdirSync(here)).toEqual(['f']);
  expect(readFileSync(inside('f'), 'utf8')).toBe('after');
});
