// The cookie of a sign-in under way: which installation can read it, and for how long.
import { expect, test } from 'vitest';
import { ownPath, pendingCookie, type Pending } from '../../../src/api/oidc/pending.ts';

const CLIENT = {
  issuer: 'https://login.example.com',
  clientId: 'nightshift',
  clientSecret: 'a secret of the client',
  publicUrl: 'https://nightshift.example.com',
};
const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(32)] as const;
const PENDING: Pending = {
  state: 'state',
  nonce: 'nonce',
  verifier: 'verifier',
  tenant: null,
  returnTo: '/jobs',
  replaces: 'hash',
  begunAt: 1_000,
};

test.each<[string, readonly string[], readonly string[], Pending | null]>([
  ['the client secret, where there is no other', [], [], PENDING],
  ['the same secret', [OLD], [OLD], PENDING],
  ['the secret that follows a new one', [OLD], [NEW, OLD], PENDING],
  ['a secret that an older process knows as the second', [NEW], [OLD, NEW], PENDING],
  ['not with another one', [OLD], [NEW], null],
  ['not with the client secret, where there is another', [OLD], [], null],
])('is opened with %s', async (_, sealedWith, openedWith, expected) => {
  const text = await pendingCookie(CLIENT, sealedWith).seal(PENDING);
  expect(text).not.toContain('verifier');
  expect(await pendingCookie(CLIENT, openedWith).open(text)).toEqual(expected);
});

test('is bound to the client at its provider', async () => {
  const text = await pendingCookie(CLIENT, [OLD]).seal(PENDING);
  for (const other of [{ clientId: 'another' }, { issuer: 'https://other.example.com' }])
    expect(await pendingCookie({ ...CLIENT, ...other }, [OLD]).open(text)).toBeNull();
});

test('keeps three sign-ins of a browser: the oldest make room', () => {
  const cookie = pendingCookie(CLIENT, [OLD]);
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((state) => cookie.nameFor(state.repeat(43)));
  expect(a).toBe('__Host-nightshift_sign_in_aaaaaaaa');
  const sent = (...names: (string | undefined)[]) =>
    Object.fromEntries(['other', ...names, 'nightshift_sign_in_eeeeeeee'].map((name) => [name, 'value']));
  expect(cookie.toRemove(sent())).toEqual([]);
  expect(cookie.toRemove(sent(b, a))).toEqual([]);
  expect(cookie.toRemove(sent(c, a, b))).toEqual([c]);
  expect(cookie.toRemove(sent(d, c, a, b))).toEqual([d, c]);
});

test.each([
  ['/', '/'],
  ['/jobs?status=running#top', '/jobs?status=running#top'],
  ['/contexts/0199-a?message=1', '/contexts/0199-a?message=1'],
  ['/workers/0199-a/tree', '/workers/0199-a/tree'],
  ['/%6Aobs', '/%6Aobs'],
  ['/%61pi/session/oidc', '/'],
  ['/api/jobs', '/'],
  ['/docs', '/'],
  ['/metrics', '/'],
  ['/jobs/', '/'],
  ['/jobs/%2e%2e/api/jobs', '/'],
  ['/jobs/%2e%2e%2fapi%2fjobs', '/'],
  ['/jobs/..%5Capi', '/'],
  ['/jobs/%', '/'],
  ['/elsewhere', '/'],
  ['/jobs%00', '/'],
  [undefined, '/'],
])('a sign-in for the page %j leads to %j', (given, expected) => {
  expect(ownPath(given, CLIENT)).toBe(expected);
});
