// Grants of groups: which tenant a person enters, with which scopes, and as whom.
import { describe, expect, test } from 'vitest';
import {
  grantingGroups,
  groupsIn,
  isOfIssuer,
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
