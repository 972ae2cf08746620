// The cookie of a sign-in under way: which installation can read it, and for how long.
import { expect, test } from 'vitest';
import { pendingCookie, type Pending } from '../../../src/api/oidc/pending.ts';

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
