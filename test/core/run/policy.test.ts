// Whether a person is asked before a call is run: rules and what the tool says itself.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { APPROVALS, decideApproval, ruleOn, withRule } from '../../../src/core/run/policy.ts';
import type { Approval, ApprovalRule } from '../../../src/core/run/policy.ts';

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
  ])('on %s names %s: %s', (glob, name, matches) => {
    expect(ruleOn([rule(glob, 'always')], name)).toBe(matches ? 'always' : null);
  });

  test('matches as the expression of the same meaning does', () => {
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
  test('the first that names a tool holds', () => {
    expect(ruleOn([rule('a', 'never'), rule('*', 'always')], 'a')).toBe('never');
    expect(ruleOn([rule('*', 'always'), rule('a', 'never')], 'a')).toBe('always');
    expect(ruleOn([rule('b', 'always')], 'a')).toBeNull();
  });

  test('deny holds wherever it stands', () => {
    expect(ruleOn([rule('a', 'never'), rule('*', 'deny')], 'a')).toBe('deny');
  });

  test('go before the tool, but for its deny', () => {
    for (const own of APPROVALS) {
      expect(decideApproval(null, own)).toBe(own);
      for (const ruled of APPROVALS) {
        expect(decideApproval(ruled, own)).toBe(own === 'deny' ? 'deny' : ruled);
      }
    }
  });

  test('a new one goes before all, and takes the place of one on the same name', () => {
    const rules = [rule('a*', 'always'), rule('ab', 'always')];
    expect(withRule(rules, rule('ab', 'never'))).toEqual([rule('ab', 'never'), rule('a*', 'always')]);
  });
});
