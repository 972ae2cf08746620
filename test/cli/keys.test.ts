// Keys from the command line: created, used, rotated, revoked; and from the typed client, which repeats no creation.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, NightshiftError, type ApiKey, type CreatedApiKey } from '../../src/client/index.ts';
import { openPlatform, run, type Platform } from './command-line.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

const withKey = (key: string) => ({ ...platform.env, NIGHTSHIFT_API_KEY: key });
const listed = async () => (await platform.json<{ data: ApiKey[] }>(['keys', '--json'])).data;

test('a key is printed alone on stdout, works with its scopes, and ends when it is revoked', async () => {
  expect((await platform.run(['keys'])).out).toBe('No keys that the API made.\n');
  const limits = ['--requests-per-s', '900', '--concurrent-requests', '50'];
  const made = await platform.run(['keys', 'create', 'dashboard', '--scope', 'read', '--expires', '90d', ...limits]);
  expect(made).toMatchObject({ code: 0, err: expect.stringContaining('The key is not shown again.') });
  const key = made.out.trim();
  expect(made.out).toMatch(/^nsk_\S+\n$/);
  expect((await run(['workers'], withKey(key))).code).toBe(0);
  expect(await run(['run', 'say: x'], withKey(key))).toMatchObject({
    code: 3,
    err: expect.stringMatching(/the scope run[\s\S]*Set NIGHTSHIFT_API_KEY to a key that may do this/),
  });
  const { out } = await platform.run(['keys']);
  expect(out).toMatch(/dashboard +read +900\/s, 50 at once /);
  expect(out).not.toContain(key);
  const [{ id } = { id: '' }] = await listed();
  expect(await platform.run(['keys', 'revoke', id])).toMatchObject({ code: 0, out: `${id} is revoked.\n` });
  expect(await run(['workers'], withKey(key))).toMatchObject({ code: 3, err: expect.stringContaining('revoked') });
  expect(await run(['doctor'], withKey(key))).toMatchObject({ out: expect.stringContaining('`nightshift keys`') });
});

test('a rotation prints the new key, and the old one stays for the overlap', async () => {
  const old = await platform.json<CreatedApiKey>([
    'keys',
    'create',
    'ci',
    '--scope',
    'read,run',
    '-s',
    'run',
    '--json',
  ]);
  expect(old.scopes).toEqual(['read', 'run']);
  const made = await platform.json<CreatedApiKey>(['keys', 'rotate', old.id, '--overlap', '1h', '--json']);
  expect(made).toMatchObject({ name: 'ci', scopes: ['read', 'run'], replaces: old.id });
  for (const { key } of [old, made]) expect((await run(['workers'], withKey(key))).code).toBe(0);
  const ended = (await listed()).find(({ id }) => id === old.id)?.expires_at ?? '';
  expect(Math.abs(Date.parse(ended) - Date.now() - 3_600_000)).toBeLessThan(60_000);
});

test.each([
  ['keys', 'create', 'x'],
  ['keys', 'create', 'x', '--scope', 'operator'],
  ['keys', 'create', 'x', '--scope', 'read,'],
  ['keys', 'create', 'x', '--scope', 'read', '--expires', 'soon'],
  ['keys', 'create', 'x', '--scope', 'read', '--requests-per-s', '0'],
  ['keys', 'rotate'],
])('%s %s %s %s %s is a wrong use', async (...args) => {
  expect((await platform.run(args.filter((one) => one !== undefined))).code).toBe(2);
});

test('the typed client does not repeat a request that creates a key', async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '0' });
    response.end(JSON.stringify({ error: { code: 'unavailable', message: 'Try again.' } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, retries: 3 });
  try {
    await expect(client.keys.create({ name: 'n', scopes: ['read'] })).rejects.toThrow(NightshiftError);
    await expect(client.keys.rotate('id')).rejects.toThrow(NightshiftError);
    expect(asked).toBe(2);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
