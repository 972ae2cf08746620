// Whether a person is asked before a call is run: rules and the tool's own declaration.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  APPROVALS,
  decideApproval,
  ruleOn,
  withRule,
  type Approval,
  type ApprovalRule,
} from '../../../src/core/run/policy.ts';

const rule = (tool: string, decision: Approval): ApprovalRule => ({ tool, decision });

describe('a rule', () => {
  test.each([
    ['mail', 'mail', true],
    ['mail', 'mailbox', false],
    ['*', 'mail', true],
    ['mail*', 'mail', true],
    ['mail*', 'mailbox', true],
    ['*box', 'mailbox', true],
    ['files__*', 'files__read', true],
    ['files__*', 'file__read', false],
    ['a*a', 'a', false],
    ['a*b*c', 'axxbxxc', true],
    ['a*b*b', 'ab', false],
    ['a*b*b', 'abb', true],
    ['**', '', true],
    ['*a*', 'bab', true],
  ])('on %s matches %s: %s', (glob, name, matches) => {
    expect(ruleOn([rule(glob, 'always')], name)).toBe(matches ? 'always' : null);
  });

  test('matches as the equivalent regular expression does', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    const name = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    fc.assert(
      fc.property(text, name, (glob, of) => {
        const expected = new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(of);
        expect(ruleOn([rule(glob, 'deny')], of) !== null).toBe(expected);
      }),
    );
  });
});

describe('rules', () => {
  test('apply by the first that matches a tool', () => {
    expect(ruleOn([rule('a', 'never'), rule('*', 'always')], 'a')).toBe('never');
    expect(ruleOn([rule('*', 'always'), rule('a', 'never')], 'a')).toBe('always');
    expect(ruleOn([rule('b', 'always')], 'a')).toBeNull();
  });

  test('of deny apply at any position', () => {
    expect(ruleOn([rule('a', 'never'), rule('*', 'deny')], 'a')).toBe('deny');
  });

  test('make the decision of the tool stricter, and never laxer', () => {
    const strict = ['never', 'always', 'deny'] as const;
    expect(strict).toEqual(APPROVALS);
    for (const own of strict) {
      expect(decideApproval(null, own)).toBe(own);
      for (const ruled of strict)
        expect(decideApproval(ruled, own)).toBe(strict[Math.max(strict.indexOf(own), strict.indexOf(ruled))]);
    }
  });

  test('a new rule precedes all others, and replaces one for the same name', () => {
    const rules = [rule('a*', 'always'), rule('ab', 'always')];
    expect(withRule(rules, rule('ab', 'never'))).toEqual([rule('ab', 'never'), rule('a*', 'always')]);
  });
});
