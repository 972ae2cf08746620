import { expect, test } from 'vitest';
import { parseCaller, parseTenant } from '../../src/embed/callers.ts';

const FAULTS = ['user must be a text of 1 to 500 characters. Leave it out for the whole tenant.'];

test.each([undefined, null, '', 7])(
  'a caller whose user is %s is refused, and does not get the whole tenant',
  (user) => {
    const parsed = parseCaller({ tenant: 'acme', scopes: ['read'], user }, 'authenticate');
    expect(parsed).toEqual({ ok: false, faults: FAULTS });
  },
);

test('an inherited user without a value is refused, too', () => {
  const value = Object.assign(Object.create({ user: undefined }) as object, { tenant: 'acme', scopes: ['read'] });
  expect(parseCaller(value, 'authenticate')).toEqual({ ok: false, faults: FAULTS });
});

test.each([undefined, null, ''])('the client of a tenant for the user %s is refused', (user) => {
  expect(parseTenant('acme', { user } as never)).toEqual({ ok: false, faults: FAULTS });
});

test('a caller without the member user has the whole tenant, one with it only its own', () => {
  expect(parseTenant('acme', {})).toMatchObject({ ok: true, caller: { user: null } });
  expect(parseTenant('acme', { user: 'alice' })).toMatchObject({ ok: true, caller: { user: 'alice' } });
  expect(parseCaller({ tenant: 'acme', scopes: ['keys'], user: 'alice' }, 'authenticate')).toMatchObject({ ok: false });
});
