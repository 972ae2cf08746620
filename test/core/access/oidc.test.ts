// Grants of groups: which tenant a person enters, with which scopes, and as whom.
import { describe, expect, test } from 'vitest';
import {
  grantingGroups,
  groupsIn,
  groupsOfAdmins,
  isLeftOut,
  isOfIssuer,
  labelIn,
  scopesGranted,
  tenantsGranted,
  userOf,
  type OidcGrant,
} from '../../../src/core/access/oidc.ts';
import { ALL_SCOPES } from '../../../src/core/access/scopes.ts';

const GRANTS: readonly OidcGrant[] = [
  { group: 'b', tenant: 'two', role: 'viewer' },
  { group: 'a', tenant: 'one', role: 'admin' },
  { group: 'b', tenant: 'one', role: 'member' },
  { group: 'c', tenant: 'one', role: 'viewer' },
];

describe('grants', () => {
  test.each([
    [
      ['a', 'b'],
      ['two', 'one'],
    ],
    [['c'], ['one']],
    [['A', ' a'], []],
    [[], []],
  ])('of the groups %j give access to %j', (groups, tenants) => {
    expect(tenantsGranted(GRANTS, groups)).toEqual(tenants);
  });

  test.each([
    [['c'], 'one', ['read']],
    [['c', 'b'], 'one', ['read', 'run']],
    [['c', 'b', 'a'], 'one', [...ALL_SCOPES]],
    [['b'], 'two', ['read']],
    [['a'], 'two', undefined],
    [[], 'one', undefined],
  ])('of the groups %j in %s have the scopes %j', (groups, tenant, scopes) => {
    const granted = scopesGranted(GRANTS, groups, tenant);
    expect(granted === undefined ? undefined : [...granted]).toEqual(scopes);
  });

  test('are kept by group, and only those of the tenant', () => {
    expect(grantingGroups(GRANTS, ['a', 'b', 'x'], 'one')).toEqual(['a', 'b']);
    expect(grantingGroups(GRANTS, ['a', 'b', 'x'], 'two')).toEqual(['b']);
  });
});

test.each([
  [
    ['a', 1, null, 'b'],
    ['a', 'b'],
  ],
  ['a', ['a']],
  [undefined, []],
  [{ a: true }, []],
])('the claim %j has the groups %j', (claim, groups) => {
  expect(groupsIn(claim)).toEqual(groups);
});

test('a user is the issuer and the subject; no other issuer has it', () => {
  const user = userOf('https://a.example', 's');
  expect(user).toBe('https://a.example#s');
  if (user === null) return;
  expect(isOfIssuer(user, 'https://a.example')).toBe(true);
  expect(isOfIssuer(user, 'https://a')).toBe(false);
  expect(userOf('https://a.example', '')).toBeNull();
  expect(userOf('https://a.example', 's'.repeat(256))).toBeNull();
});

test.each([
  [{ preferred_username: 'mia', email: 'mia@example.com', name: 'Mia' }, 'mia'],
  [{ preferred_username: ' ', email: 'mia@example.com', name: 'Mia' }, 'mia@example.com'],
  [{ preferred_username: ['mia'], name: 'Mia' }, 'Mia'],
  [{ name: 'a'.repeat(300) }, 'a'.repeat(200)],
  [{ name: `${'a'.repeat(199)}😀` }, `${'a'.repeat(199)} `],
  [{ name: 'M\u0000i\u202Ea\n' }, 'M i a '],
  [{ email: 7, given_name: 'Mia' }, null],
])('the claims %j have the label %j', (claims, label) => {
  expect(labelIn(claims)).toBe(label);
});

test.each([
  [{ _claim_names: { groups: 'src1' } }, true],
  [{ _claim_names: { roles: 'src1' } }, false],
  [{ _claim_names: 'groups' }, false],
  [{ _claim_names: null }, false],
  [{}, false],
])('the claims %j leave out the groups: %j', (claims, expected) => {
  expect(isLeftOut(claims, 'groups')).toBe(expected);
});

test('the groups of admins are those of the tenant with this role', () => {
  expect(['one', 'two', 'three'].map((tenant) => groupsOfAdmins(GRANTS, tenant))).toEqual([['a'], [], []]);
});
