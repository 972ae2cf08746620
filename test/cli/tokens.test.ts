// Tokens from the command line: made for a user, used, revoked.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Job } from '../../src/client/index.ts';
import { openPlatform, run, type Env, type Platform } from './command-line.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform({ NIGHTSHIFT_SECRET_KEY: 's'.repeat(32) });
});
afterAll(() => platform.close());

test('a token is printed alone on stdout, works for its user, and ends when it is revoked', async () => {
  const made = await run(['tokens', 'create', 'alice', '--scope', 'read,run', '--expires', '10m'], platform.env);
  expect(made).toMatchObject({ code: 0, err: expect.stringContaining('A token of alice') });
  expect(made.out).toMatch(/^eyJ\S+\n$/);
  const asAlice = { ...platform.env, NIGHTSHIFT_API_KEY: made.out.trim() };
  const ran = await run(['run', 'say: hello', '--detach', '--json'], asAlice);
  expect(ran.code).toBe(0);
  await run(['run', 'say: hello', '--user', 'bob', '--detach'], platform.env);
  const listed = async (env: Env, ...args: string[]): Promise<Job[]> =>
    JSON.parse((await run(['jobs', '--json', ...args], env)).out).data;
  expect((await listed(asAlice)).map(({ user }) => user)).toEqual(['alice']);
  // The others are those of the tour, of no user.
  const users = (await listed(platform.env)).flatMap(({ user }) => user ?? []);
  expect(users).toEqual(['bob', 'alice']);
  for (const list of ['jobs', 'workers', 'contexts', 'inbox'])
    expect([list, (await run([list, '--user', 'bob'], platform.env)).code]).toEqual([list, 0]);
  expect((await listed(platform.env, '--user', 'bob')).map(({ user }) => user)).toEqual(['bob']);
  expect(await run(['roles'], asAlice)).toMatchObject({ code: 3, err: expect.stringContaining('no access') });
  const revoked = await run(['tokens', 'revoke', 'alice'], platform.env);
  expect(revoked).toMatchObject({ code: 0, out: 'The tokens of alice are revoked.\n' });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await run(['jobs'], asAlice)).toMatchObject({ code: 3, err: expect.stringContaining('revoked') });
});

test.each([
  ['tokens', 'create', 'x'],
  ['tokens', 'create', '--scope', 'read'],
  ['tokens', 'create', 'x', '--scope', 'keys'],
  ['tokens', 'create', 'x', '--scope', 'read', '--expires', 'soon'],
  ['tokens', 'revoke'],
])('%s %s %s %s %s is a wrong use', async (...args) => {
  expect(
    (
      await run(
        args.filter((one) => one !== undefined),
        platform.env,
      )
    ).code,
  ).toBe(2);
});
