// The file of the profiles: what the command says where it cannot be read or written, and two logins at a time.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEFAULT_URL, connectionOf } from '../../src/cli/profiles/connection.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { openFakeApi, type FakeApi } from './fake-api.ts';

let api: FakeApi;
let home = '';
let file = '';
beforeEach(async () => {
  api = await openFakeApi();
  home = await temporaryFolder();
  api.env['XDG_CONFIG_HOME'] = home;
  file = path.join(home, 'nightshift', 'profiles.json');
  api.answers.set('GET /api/session', () => ({ auth: 'none', signed_in: true, scopes: [], tenant: 'default' }));
});
afterEach(async () => {
  api.close();
  await removeFolder(home);
});

const login = (name: string) => api.run('login', '--profile', name, '--url', api.url);

test('a file that cannot be read or written ends the command with its name and the code', async () => {
  mkdirSync(file, { recursive: true, mode: 0o700 });
  const { code, err } = await api.run('jobs', '--profile', 'one');
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`${file} cannot be read (EISDIR)`) });
  rmSync(path.dirname(file), { recursive: true });
  api.answers.set('GET /api/session', () => {
    // In the place of its folder.
    writeFileSync(path.dirname(file), '');
    return { auth: 'none', signed_in: true, scopes: [], tenant: 'default' };
  });
  const unwritten = await login('one');
  expect(unwritten).toMatchObject({ code: 2, err: expect.stringMatching(/profiles\.json cannot be written \(E\w+\)/) });
});

test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
  'without a profile that was named, a file that this user may not read counts as none',
  async () => {
    await login('default');
    await chmod(path.dirname(file), 0);
    const env = { XDG_CONFIG_HOME: home };
    expect((await connectionOf(env, {})).url).toBe(DEFAULT_URL);
    await expect(connectionOf(env, { profile: 'default' })).rejects.toThrow('(EACCES)');
    await chmod(path.dirname(file), 0o700);
    await rm(file);
  },
);

test('two logins at a time both store their profile', async () => {
  await login('one');
  const other = { url: api.url, key: null };
  api.answers.set('GET /api/session', () => {
    const { profiles } = JSON.parse(readFileSync(file, 'utf8')) as { profiles: object };
    writeFileSync(file, JSON.stringify({ profiles: { ...profiles, two: other } }));
    return { auth: 'none', signed_in: true, scopes: [], tenant: 'default' };
  });
  expect((await login('three')).code).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ profiles: { one: other, two: other, three: other } });
});
