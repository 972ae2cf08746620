/** A tool of the config file: its schema, what the schema cannot express, and the tool that is made from it. */
import { Type, type Static } from 'typebox';
import { APPROVALS } from '../../core/run/policy.ts';
import { EFFECTS, ON_UNKNOWN } from '../../core/tools/tool.ts';
import { integer, oneOf, strict } from '../../schema/build.ts';
import { NAME } from '../../schema/patterns.ts';
import { faultAt, type Fault, type Path } from '../../schema/fault.ts';
import { fromJsonSchema, fromStandardSchema, type ToolInput } from '../registry/input.ts';
import type { Tool } from '../registry/tool.ts';
import { LONGEST_TIMER_MS } from '../run/timer.ts';
import type { ApprovalCall, ToolContext, TransactionalContext, UnknownCall } from '../registry/tool-context.ts';
import { FilledText, callable } from './file-validator.ts';
import type { Pruned } from './prune.ts';

/** A tool that is not transactional must say what running it twice does. */
const EFFECT_NEEDED = 'write none, idempotent or once, or transactional: true in its place';

/** `input`, `input_schema`: see `readInput`. */
export const ToolSchema = strict({
  name: Type.String({ pattern: NAME }),
  description: FilledText,
  input: Type.Optional(Type.Unknown()),
  input_schema: Type.Optional(Type.Unknown()),
  effect: Type.Optional(oneOf(EFFECTS)),
  transactional: Type.Optional(Type.Boolean()),
  approval: Type.Optional(Type.Union([oneOf(APPROVALS), callable<(call: ApprovalCall) => unknown>()])),
  on_unknown: Type.Optional(oneOf(ON_UNKNOWN)),
  timeout_ms: Type.Optional(integer(1, LONGEST_TIMER_MS)),
  execute: callable<(this: unknown, input: unknown, context: ToolContext | TransactionalContext) => unknown>(),
  reconcile: Type.Optional(callable<(this: unknown, call: UnknownCall<unknown>) => unknown>()),
});

export type WrittenTool = Static<typeof ToolSchema>;

export type ValidInput = Extract<ToolInput, { ok: true }>;

/**
 * Calls with another effect than `once` are repeated, so their outcome is irrelevant. That of a transactional tool is always
 * known.
 */
export function effectFaults(tool: Pruned<WrittenTool>, at: Path): Fault[] {
  const { effect, on_unknown, reconcile } = tool;
  if (tool.transactional === true)
    return (['effect', 'on_unknown', 'reconcile'] as const).flatMap((name) =>
      tool[name] === undefined ? [] : [faultAt([...at, name], 'is not for transactional tools, which happen once')],
    );
  if (effect === undefined) return [faultAt([...at, 'effect'], `is missing: ${EFFECT_NEEDED}`)];
  if (effect === 'once') return [];
  return [...(on_unknown === 'ask' ? ['on_unknown'] : []), ...(reconcile === undefined ? [] : ['reconcile'])].map(
    (name) => faultAt([...at, name], "is only for tools with effect 'once'"),
  );
}

/** The input of a tool, by the schema that it has. */
export function readInput(
  { input, input_schema }: Pruned<WrittenTool>,
  at: Path,
): { input: ValidInput } | { fault: Fault } {
  if (input === undefined && input_schema === undefined)
    return { fault: faultAt(at, 'needs either input or input_schema') };
  if (input !== undefined && input_schema !== undefined)
    return { fault: faultAt(at, 'has both input and input_schema; use only one') };
  const read = input === undefined ? fromJsonSchema(input_schema) : fromStandardSchema(input);
  const name = input === undefined ? 'input_schema' : 'input';
  return read.ok ? { input: read } : { fault: faultAt([...at, name, ...read.at], read.problem) };
}

/** `own`: the definition itself, which its functions get as `this`. */
export function buildTool(written: WrittenTool, own: unknown, input: ValidInput): Tool {
  const { name, description, on_unknown, approval, timeout_ms, execute, reconcile, transactional = false } = written;
  // A transactional call that has settled is not run again; one that has not has no effect.
  const { effect = 'idempotent' } = written;
  return {
    descriptor: {
      name,
      description,
      input_schema: input.schema,
      effect,
      on_unknown: on_unknown ?? 'tell',
      answered_by: 'tool',
    },
    approval: approval ?? 'never',
    timeoutMs: timeout_ms ?? null,
    validate: input.validate,
    transactional,
    execute: (checked: unknown, context: ToolContext | TransactionalContext) => execute.call(own, checked, context),
    ...(reconcile !== undefined && { reconcile: (call) => reconcile.call(own, call) }),
  };
}
