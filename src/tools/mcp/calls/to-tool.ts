/**
 * Converts the tool of an MCP server. Missing annotations get the defaults of the protocol: the tool changes something,
 * may destroy something, and is not idempotent.
 */
import type { Tool as McpTool } from '@modelcontextprotocol/sdk/types.js';
import type { Effect } from '../../../core/tools/tool.ts';
import type { ToolReply } from '../../registry/tool-context.ts';
import { fromJsonSchema } from '../../registry/input.ts';
import { isMatch, type Approval } from '../../../core/run/policy.ts';
import type { Tool } from '../../registry/tool.ts';
import { truncate } from '../../run/truncate.ts';
import type { McpCall } from './call.ts';
import { toolName } from './names.ts';
import type { ServerSettings } from '../settings/server-settings.ts';

/** Maximum characters, because the description is part of every prompt. */
const LONGEST_DESCRIPTION = 10_000;

/** `own`: the server's own name of the tool. `left`: the tool is not offered; `why` is the reason. */
type Made = { kind: 'tool'; tool: Tool } | { kind: 'left'; own: string; why: string };

export function toTool(
  settings: ServerSettings,
  described: McpTool,
  call: (call: McpCall) => Promise<ToolReply>,
): Made {
  const { name: own } = described;
  const left = (why: string): Made => ({ kind: 'left', own, why });
  if (settings.allow !== null && !settings.allow.some((pattern) => isMatch(pattern, own))) {
    return left('it is not in the tools setting of the server');
  }
  if (described.execution?.taskSupport === 'required') return left('it can only be called as a task');
  const input = fromJsonSchema(described.inputSchema);
  if (!input.ok) return left(`its input schema is invalid: ${input.problem}`);
  const effect = effectOf(described);
  const name = toolName(settings.name, own);
  return {
    kind: 'tool',
    tool: {
      descriptor: {
        name,
        description: descriptionOf(described),
        input_schema: input.schema,
        effect,
        on_unknown: 'tell',
        answered_by: 'tool',
      },
      approval: settings.approval ?? approvalOf(described),
      timeoutMs: settings.maxTimeoutMs,
      validate: input.validate,
      execute: (checked, context) => call({ own, effect, input: checked, context }),
    },
  };
}

function effectOf({ annotations }: McpTool): Effect {
  if (annotations?.readOnlyHint === true) return 'none';
  return annotations?.idempotentHint === true ? 'idempotent' : 'once';
}

function approvalOf({ annotations }: McpTool): Approval {
  if (annotations?.readOnlyHint === true) return 'never';
  return annotations?.destructiveHint === false ? 'never' : 'always';
}

function descriptionOf({ name, title, description, annotations }: McpTool): string {
  const chosen = [description, annotations?.title, title].find((text) => text !== undefined && text.trim() !== '');
  return truncate(chosen ?? name, LONGEST_DESCRIPTION);
}
