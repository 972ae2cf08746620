// Profiles: login stores an address and a key where only the owner can read them, and commands use them.
import { spawnSync } from 'node:child_process';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectionOf } from '../../src/cli/profiles/connection.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { KEY, MAIN, openPlatform, run, start, type Env, type Platform } from './command-line.ts';

let platform: Platform;
let folder = '';
let env: Env = {};
let file = '';
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());
beforeEach(async () => {
  folder = await temporaryFolder();
  env = { XDG_CONFIG_HOME: folder };
  file = path.join(folder, 'nightshift', 'profiles.json');
  return () => removeFolder(folder);
});

const login = (...args: string[]) => run(['login', '--url', platform.url, ...args], env, `${KEY}\n`);

test('login checks the key and stores it, readable for its owner only; commands use it; logout deletes it', async () => {
  const { code, out, err } = await login();
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(err).toContain(`Signed in to ${platform.url} as the tenant tests`);
  expect(err).not.toContain(KEY);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await run(['status'], env)).out).toContain(`${platform.url}: ready`);
  expect((await run(['jobs'], env)).code).toBe(0);
  expect((await run(['logout'], env)).code).toBe(0);
  expect(await readFile(file, 'utf8')).not.toContain(KEY);
  expect((await run(['logout'], env)).code).toBe(1);
});

test('a wrong key, or an API that is away, stores nothing', async () => {
  const wrong = await run(['login', '--url', platform.url], env, 'wrong\n');
  expect(wrong).toMatchObject({ code: 3, out: '' });
  expect((await run(['login', '--url', 'http://127.0.0.1:1'], env, 'x')).code).toBe(3);
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

test('profiles have names; --profile goes before NIGHTSHIFT_PROFILE, and the list tells which one is used', async () => {
  await login('--profile', 'one');
  await login('--profile', 'two');
  const used = async (args: string[], more: Env = {}): Promise<string[]> => {
    const { out } = await run(['profiles', '--json', ...args], { ...env, ...more });
    const { data } = JSON.parse(out) as { data: { name: string; used: boolean }[] };
    expect(data.map(({ name }) => name)).toEqual(['one', 'two']);
    return data.flatMap((one) => (one.used ? [one.name] : []));
  };
  expect(await used([])).toEqual([]);
  expect(await used([], { NIGHTSHIFT_PROFILE: 'one' })).toEqual(['one']);
  expect(await used(['--profile', 'two'], { NIGHTSHIFT_PROFILE: 'one' })).toEqual(['two']);
  expect((await run(['profiles'], env)).out).not.toContain(KEY);
  expect(await run(['jobs', '--profile', 'three'], env)).toMatchObject({
    code: 2,
    err: expect.stringContaining('There are: one, two.'),
  });
  expect((await run(['jobs', '--profile', 'one', '--url', platform.url], env)).code).toBe(2);
  expect((await run(['login', '--profile', '../x', '--url', platform.url], env, KEY)).code).toBe(2);
});

test('a key is never sent to an address for which it was not stored', async () => {
  await login();
  const of = async (more: Env, options = {}) => {
    const { url, key } = await connectionOf({ ...env, ...more }, options);
    return { url, key };
  };
  const other = 'http://other:1';
  const usual = 'http://127.0.0.1:3000';
  expect(await of({})).toEqual({ url: platform.url, key: KEY });
  expect(await of({}, { url: other })).toEqual({ url: other, key: null });
  expect(await of({ NIGHTSHIFT_URL: other })).toEqual({ url: other, key: null });
  expect(await of({ NIGHTSHIFT_URL: other, NIGHTSHIFT_API_KEY: 'k' })).toEqual({ url: other, key: 'k' });
  expect(await of({ NIGHTSHIFT_API_KEY: 'k' })).toEqual({ url: usual, key: 'k' });
  expect(await of({ NIGHTSHIFT_API_KEY: 'k' }, { profile: 'default' })).toEqual({ url: platform.url, key: KEY });
});

test('a file that others can read, or that is damaged, is refused', async () => {
  await login();
  await chmod(file, 0o644);
  expect(await run(['jobs'], env)).toMatchObject({ code: 2, err: expect.stringContaining(`chmod 600 ${file}`) });
  await chmod(file, 0o600);
  for (const text of ['{', '[]', '{"profiles": {"default": {"url": 1}}}']) {
    await writeFile(file, text);
    expect(await run(['jobs'], env)).toMatchObject({ code: 2, err: expect.stringContaining('is damaged') });
  }
});

/** A terminal for a process: util-linux's `script`. */
const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

describe.skipIf(!hasScript)('at a terminal', () => {
  test('login asks for the address and the key, which is not shown', async () => {
    const line = `exec "${process.execPath}" "${MAIN}" login`;
    const asking = start(['login'], { ...env, NO_COLOR: '1' }, { command: ['script', '-qec', line, '/dev/null'] });
    await asking.says('out', /URL of the API \[http:\/\/127\.0\.0\.1:3000\]: /);
    asking.write(`${platform.url}\r`);
    await asking.says('out', /Key \(empty if the API needs none\): /);
    asking.write(`${KEY}\r`);
    const { code, out } = await asking.done;
    expect(code).toBe(0);
    expect(out).toContain('Signed in to');
    expect(out).not.toContain(KEY);
    expect(await readFile(file, 'utf8')).toContain(KEY);
  });
});
