/** Parses an approval rule of the config file. */
import { APPROVALS, TOOL_GLOB } from '../../core/run/policy.ts';
import type { ApprovalRule } from '../../core/run/policy.ts';
import { fault, members, oneOf, required } from './member.ts';
import type { Member } from './member.ts';

const SHAPE = { what: 'an approval rule', known: ['tool', 'decision'] };

export function parseApprovalRule(member: Member): ApprovalRule | null {
  const of = members(member, SHAPE);
  if (of === null) return null;
  const tool = required(of('tool'), glob);
  const decision = required(of('decision'), oneOf(APPROVALS));
  return tool === null || decision === null ? null : { tool, decision };
}

const GLOB = new RegExp(TOOL_GLOB);

function glob(member: Member): string | null {
  const { value } = member;
  return typeof value === 'string' && GLOB.test(value)
    ? value
    : fault(member, 'must be the name of a tool or a glob, of letters, digits, "_", "-" and "*"');
}
