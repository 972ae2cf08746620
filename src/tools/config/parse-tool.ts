/** Parses one tool of the config file. */
import { EFFECTS, ON_UNKNOWN } from '../../core/tools/tool.ts';
import { APPROVALS } from '../../core/run/policy.ts';
import type { ApprovalCall, ToolContext, ToolDefinition, UnknownCall } from './define.ts';
import { fromJsonSchema, fromStandardSchema } from '../registry/input.ts';
import type { ToolInput } from '../registry/input.ts';
import { fault, filledText, integer, members, name, oneOf, optional, required } from './member.ts';
import type { Member } from './member.ts';
import { LONGEST_TIMER_MS } from '../run/timer.ts';
import type { OwnApproval, Tool } from '../registry/tool.ts';

const SHAPE = {
  what: 'a tool',
  known: [
    'name',
    'description',
    'input',
    'input_schema',
    'effect',
    'approval',
    'on_unknown',
    'timeout_ms',
    'execute',
    'reconcile',
  ],
};

export function parseTool(member: Member): Tool | null {
  const of = members(member, SHAPE);
  if (of === null) return null;
  const approval = optional(of('approval'), ownApproval);
  const onUnknown = optional(of('on_unknown'), oneOf(ON_UNKNOWN)) ?? 'tell';
  const toolName = required(of('name'), name);
  const description = required(of('description'), filledText);
  const effect = required(of('effect'), oneOf(EFFECTS));
  const timeoutMs = optional(of('timeout_ms'), integer(1, LONGEST_TIMER_MS));
  const input = parseInput(member, of);
  const execute = required(of('execute'), method);
  const reconcile = optional(of('reconcile'), asked);
  if (effect !== null && effect !== 'once') {
    if (onUnknown === 'ask') fault(of('on_unknown'), ONLY_ONCE);
    if (reconcile !== null) fault(of('reconcile'), ONLY_ONCE);
  }
  if (toolName === null || description === null || effect === null || input === null || execute === null) {
    return null;
  }
  return {
    descriptor: {
      name: toolName,
      description,
      input_schema: input.schema,
      effect,
      on_unknown: onUnknown,
      answered_by: 'tool',
    },
    approval: approval ?? 'never',
    timeoutMs,
    validate: input.validate,
    execute: (checked, context) => execute.call(member.value, checked, context),
    ...(reconcile !== null && { reconcile: (call) => reconcile.call(member.value, call) }),
  };
}

/** Converts a tool definition in code. Throws if it is invalid. */
export function toTool(definition: ToolDefinition): Tool {
  const faults: string[] = [];
  const tool = parseTool({ value: definition, path: '', faults });
  if (tool === null || faults.length > 0) throw new Error(`Invalid tool: ${faults.join('; ')}`);
  return tool;
}

function ownApproval(member: Member): OwnApproval | null {
  const { value } = member;
  if (isPredicate(value)) return value;
  const known = APPROVALS.find((approval) => approval === value);
  return known ?? fault(member, `must be ${APPROVALS.join(', ')} or a function`);
}

function parseInput(member: Member, of: (name: string) => Member): Extract<ToolInput, { ok: true }> | null {
  const [library, json] = [of('input'), of('input_schema')];
  if (library.value === undefined && json.value === undefined)
    return fault(member, 'needs either input or input_schema');
  if (library.value !== undefined && json.value !== undefined) {
    return fault(member, 'has both input and input_schema; use only one');
  }
  const [given, parsed] =
    json.value === undefined
      ? [library, fromStandardSchema(library.value)]
      : [json, fromJsonSchema(json.value)];
  return parsed.ok ? parsed : fault({ ...given, path: `${given.path}${parsed.at}` }, parsed.problem);
}

type Execute = (this: unknown, input: unknown, context: ToolContext) => unknown;

function method(member: Member): Execute | null {
  return isFunction(member.value) ? member.value : fault(member, 'must be a function');
}

function isFunction(value: unknown): value is Execute {
  return typeof value === 'function';
}

function isPredicate(value: unknown): value is (call: ApprovalCall) => unknown {
  return typeof value === 'function';
}

/** Calls with another effect are repeated, so their outcome is irrelevant. */
const ONLY_ONCE = "is only for tools with effect 'once'";

type Reconcile = (this: unknown, call: UnknownCall<unknown>) => unknown;

function asked(member: Member): Reconcile | null {
  return isReconcile(member.value) ? member.value : fault(member, 'must be a function');
}

function isReconcile(value: unknown): value is Reconcile {
  return typeof value === 'function';
}
